# Every target sets up what it needs: a virtual environment in .venv, the locked packages, Java, and the jars of Spark's
# Kafka connector and of the embedded Kafka broker (fetched once into a cache).
PYTHON ?= python3
BIN := .venv/bin
LOCKED := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes

# Each test of a command starts a Python, and each process of a run collects all tests: what they compile is kept,
# whatever the environment says of that.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo check test nightly lint soak fuzz bench screenshots audit release docs lock clean
.DEFAULT_GOAL := help

help:  ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

$(BIN)/python:
	@[ "$$(uname)" = Linux ] || { echo "System: '$$(uname)' is not Linux, which asc-broker needs: run it on Linux, or in a container of it"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || \
	  { echo "Python: '$(PYTHON)' is missing or older than 3.10: install Python >= 3.10, or name one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python: '$(PYTHON)' has no venv module: install it (on Debian and Ubuntu: the package python3-venv)"; exit 1; }
	@echo "Making the virtual environment .venv ..."
	@$(PYTHON) -m venv .venv

.venv/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked packages (about 600 MB with Spark; a minute or two) ..."
	@$(LOCKED) -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.runtime
	@echo "Installing the packages for tests and benchmarks ..."
	@$(LOCKED) -r requirements-dev.lock
	@touch $@

.venv/.ready: .venv/.runtime broker/runtime/jars.lock
	@$(BIN)/python -m broker.runtime
	@touch $@

setup: .venv/.ready  ## set up .venv, Java and the jars

demo: setup  ## the whole path on a sample of flights: register, publish, receive, compare
	@$(BIN)/asc demo

lint: .venv/.dev  ## ruff, mypy --strict, import-linter, prose
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tools.prose

check: lint  ## the checks of lint, then, on all cores, every test of the gate that starts neither a JVM nor Kafka
	@$(BIN)/python -m pytest -m "not spark and not kafka and not nightly" --numprocesses auto --dist worksteal

# Three processes, each with a Spark session and a Kafka node of its own (3 GB), whatever the machine has: most tests
# wait for others' processes. Whole files go to one of them, so that what a file shares is set up once; in the order of
# tests/conftest.py, slow ones first, so that none is left for the end.
WHOLE_FILES := --numprocesses 3 --dist loadfile --no-loadscope-reorder

test: setup .venv/.dev lint  ## the gate: the checks of lint, then the tests of everything that a change can break
	@$(BIN)/python -m pytest -m "not nightly" $(WHOLE_FILES)

nightly: setup .venv/.dev lint  ## every test, at full size and with random examples: before a release
	@$(BIN)/python -m pytest --nightly --timeout 900 $(WHOLE_FILES)

soak: MINUTES ?= 30
soak: setup .venv/.dev  ## random faults in a broker under load for MINUTES, and the books of what it delivered
	@$(BIN)/python -m tools.faults.soak --minutes $(MINUTES)

fuzz: MINUTES ?= 10
fuzz: setup .venv/.dev  ## random inputs for parser, plain reader, API, decoder, schemas and feed, each for MINUTES
	@$(BIN)/python -m tools.fuzz --minutes $(MINUTES)

bench: setup .venv/.dev  ## every benchmark at full size; results in bench/results, tables in docs
	@$(BIN)/asc bench all
	@$(BIN)/python -m tools.figures

screenshots: setup .venv/.dev  ## the pictures of the console in docs/images, with the system's Chromium
	@$(BIN)/python -m tools.release.screenshots

# Arguments, as of records that were downloaded where there is no network: make audit AUDIT="--osv FOLDER".
AUDIT ?=
audit: setup .venv/.dev  ## licences and known vulnerabilities of packages and jars; the SBOM is dist/sbom.cdx.json
	@$(BIN)/python -m tools.audit $(AUDIT)

# RELEASE=--unreleased builds and tries what is no release yet.
RELEASE ?=
release: .venv/.dev  ## wheel and sdist in dist, the wheel tried in an empty environment
	@$(BIN)/python -m tools.release $(RELEASE)

docs: .venv/.dev  ## the documentation as a site, in site: open site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lock:  ## resolve the locked versions anew (needs uv)
	uv pip compile --universal --python-version 3.10 --generate-hashes --quiet --no-header --no-annotate -c constraints.txt --extra protobuf --extra sketches --extra tracing pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.10 --generate-hashes --quiet --no-header --no-annotate -c constraints.txt -c requirements.lock --extra dev pyproject.toml -o requirements-dev.lock

clean:  ## remove what was set up and made here (the cache of jars stays)
	rm -rf .venv build dist site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache spark-warehouse artifacts
