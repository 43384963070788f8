# Soundings in a container: site, worker, or both. The guide (Settings, "In containers") says how to run it.
#   docker build --tag soundings .
FROM python:3.11-slim AS build
WORKDIR /source
RUN python -m venv /opt/soundings
# First what rarely changes; every file that is installed has its checksum there.
COPY deploy/requirements.txt deploy/requirements.txt
RUN /opt/soundings/bin/python -m pip install --no-cache-dir --require-hashes --requirement deploy/requirements.txt
COPY . .
RUN /opt/soundings/bin/python -m pip install --no-cache-dir --no-deps --no-build-isolation .
# What installs packages is not needed to run them.
RUN /opt/soundings/bin/python -m pip uninstall --yes setuptools pip

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home soundings && install --directory --owner soundings --mode 700 /data
COPY --from=build /opt/soundings /opt/soundings
ENV PATH=/opt/soundings/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    HOME=/data SOUNDINGS_DATA=/data SOUNDINGS_HOSTS=localhost PORT=8000
WORKDIR /data
USER soundings
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s CMD ["python", "-m", "soundings.serving.ask_health"]
CMD ["soundings", "serve", "--host", "0.0.0.0"]
