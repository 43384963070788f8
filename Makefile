# One word per chore. A fresh machine needs Python 3.11 or later and make; everything else is installed here.

# The distribution's own Python comes first, where it makes environments: it is compiled with profiles, others often are not,
# and the tests take a seventh more processor time.
PYTHON ?= $(firstword $(foreach python,/usr/bin/python3.11 python3.11 python3,\
    $(shell $(python) -c 'import ensurepip, sys; print(sys.executable)' 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
SPARK := $(VENV)/spark
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Of Soundings with the extras of a target. INSTALLER=uv takes a third of the time, but knows nothing of pip's settings (mirrors,
# certificates), which make it fail where somebody needs them; then pip installs.
EDITABLE = --constraint constraints.txt --editable ".[$(EXTRAS)]"
WITH_UV = $(PIP) install --constraint constraints.txt uv && $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python
INSTALL = $(if $(filter uv,$(INSTALLER)),$(WITH_UV) $(EDITABLE) ||) $(PIP) install $(EDITABLE)

.PHONY: demo run test quick slow company postgres fuzz spark lint style types format map docs bench migrations-check messages pictures requirements bill audit

# The example collection, all the way to Recall@K; then the site. DEMO_ARGS=--no-serve ends after the table.
demo: $(VENV)/.installed
	$(BIN)/python manage.py demo $(DEMO_ARGS)

# The site with its background worker. RUN_ARGS="--port 8080" and the like.
run: $(VENV)/.installed
	$(BIN)/python manage.py serve $(RUN_ARGS)

# All tests but the slow ones, each within its limit of processor time; TEST_ARGS reach pytest, here and below.
test: $(VENV)/.installed-dev
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m pytest -m "not slow" --limit-processor-time $(TEST_ARGS)

# The tests that the change at hand touches, and the checks of style: within a minute.
quick: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.quick $(TEST_ARGS)

# The tests that take more than two seconds of processor time.
slow: $(VENV)/.installed-dev
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m pytest -m "slow and not spark" $(TEST_ARGS)

# The tests of a company's sign-in, whose settings and tables are others than those of all other tests; on PostgreSQL by
# `.ci/with-postgres make company`.
COMPANY := -n 0 --ds=tests.soundings.sign_in.company_settings tests/soundings/sign_in
company: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(COMPANY)

# What another database can break, on the PostgreSQL of DATABASE_URL, of this machine, or one that it starts.
postgres: $(VENV)/.installed-dev
	.ci/with-postgres $(BIN)/python -m pytest -m "database and not browser" $(TEST_ARGS)

# The property tests on examples that no run before had.
fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m hypothesis --hypothesis-profile fresh $(TEST_ARGS)

# The tests of --engine spark, with PySpark and a Java: a download of 600 MB.
spark: export PYTHONPATH = $(abspath $(SPARK))
spark: $(SPARK)/.installed
	$(BIN)/python -m tests.spark
	$(BIN)/python -m pytest -m spark -n 0 $(TEST_ARGS)

lint: style types

style: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The picture of rooms and arrows, and the tables of rooms, in the guide's architecture page.
map: $(VENV)/.installed-dev
	$(BIN)/python -m docs.draw_map

# The pictures of README and guide, from a fresh demo.
pictures: $(VENV)/.installed-dev
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m docs.take_pictures

# The guide as a static site in site/, with a reference of the Python functions; stops at a link that leads nowhere.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m mkdocs build --strict --clean --quiet --config-file docs/mkdocs.yml

# The catalogues in locale/: collects what pages and scripts say, and compiles them. Installs GNU gettext if need be.
messages: $(VENV)/.installed-dev
	$(BIN)/python -m docs.messages

# What a container installs, with checksums, after a change of pyproject.toml or constraints.txt. Asks the package index.
requirements: $(VENV)/.installed-dev
	$(BIN)/python -m docs.requirements

# The bill of materials of a container in build/bill.json (CycloneDX), and the list of its licences.
bill: $(VENV)/.installed-dev
	$(BIN)/python -m docs.materials

# Known vulnerabilities of what a container installs; asks a service on the network, so it is no part of .ci/run.
audit:
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip --disable-pip-version-check --quiet install pip-audit
	build/audit/bin/pip-audit --disable-pip --require-hashes --requirement deploy/requirements.txt

migrations-check: $(VENV)/.installed-dev
	$(BIN)/python manage.py makemigrations --check --dry-run

# Each benchmark prints its figures beside a peer's or a limit; BENCH=evaluate runs one.
bench: $(VENV)/.installed-dev
	for file in benchmarks/bench_$(or $(BENCH),*).py; do echo "== $$file"; $(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; done

$(VENV)/.installed: EXTRAS = site
$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Soundings into $(VENV) …"
	$(INSTALL)
	touch $@

$(VENV)/.installed-dev: EXTRAS = dev,examples
$(VENV)/.installed-dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Soundings and what its tests need into $(VENV) …"
	$(INSTALL)
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: EXTRAS = site,docs
$(VENV)/.installed-docs: $(VENV)/.installed
	@echo "Installing MkDocs into $(VENV) …"
	$(INSTALL)
	touch $@

# A folder for PySpark and pyarrow: with the second in .venv, pandas would use it in all tests, and other steps run meanwhile.
$(SPARK)/.installed: $(VENV)/.installed-dev
	@echo "Installing PySpark into $(SPARK) …"
	$(PIP) install --upgrade --constraint constraints.txt --target $(SPARK) pyspark pyarrow
	touch $@
