# One word per chore. A fresh machine needs Python 3.11 or later and make; everything else is installed here.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo run test spark lint format map docs bench migrations-check messages pictures requirements bill audit

# The example collection, all the way to Recall@K; then the site. DEMO_ARGS=--no-serve ends after the table.
demo: $(VENV)/.installed
	$(BIN)/python manage.py demo $(DEMO_ARGS)

# The site with its background worker. RUN_ARGS="--port 8080" and the like.
run: $(VENV)/.installed
	$(BIN)/python manage.py serve $(RUN_ARGS)

# DATABASE_URL=postgres://… runs the same tests on PostgreSQL; TEST_ARGS reach pytest.
test: $(VENV)/.installed-dev
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m pytest $(TEST_ARGS)

# PySpark and a Java, so that the tests of --engine spark run too: a download of 600 MB.
spark: $(VENV)/.installed-spark
	$(BIN)/python -m tests.spark

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
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

$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Soundings into $(VENV) …"
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Soundings and what its tests need into $(VENV) …"
	$(PIP) install --constraint constraints.txt --editable ".[dev,examples]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/.installed
	@echo "Installing MkDocs into $(VENV) …"
	$(PIP) install --constraint constraints.txt --editable ".[docs]"
	touch $@

$(VENV)/.installed-spark: $(VENV)/.installed-dev
	@echo "Installing PySpark into $(VENV) …"
	$(PIP) install --constraint constraints.txt --editable ".[dev,examples,spark]"
	touch $@
