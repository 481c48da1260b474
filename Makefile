# Two commands matter: `make demo` sets everything up and runs the main job, `make test` sets up and runs all tests.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
# Tests of the store and the service that run with SQLite, and with PostgreSQL in `make test-cluster`.
STORE_TESTS := tests/contract $(patsubst %,tests/unit/service/store/test_%.py,store_queue pages unowned_results) $(patsubst %,tests/service/test_%.py,\
	access batch_jobs changes chaos choose_best damaged_results dask executors files jobs left_scratch listing pipelines screening service_batches \
	service_limits spoilt_attempts trials untrusted_outputs workers)
# With PostgreSQL, a second service on the same data is a replica, and not an error.
NOT_OF_REPLICAS := tests/contract/test_interface_edges.py::test_a_service_ends_begins_again_and_says_why_it_cannot
BIN := $(VENV)/bin
FRONTEND := package.json package-lock.json $(shell find labextension/src labextension/style labextension/schema labextension/scripts labextension/licences src/foldnote/viewers/assets -type f 2>/dev/null)
FRONTEND_CHECKS := $(wildcard *.mjs *.ts .prettierrc.json labextension/*.json) $(shell find labextension/tests -type f 2>/dev/null)
# Suppress messages of make itself, not those of the programs.
MAKEFLAGS += --no-print-directory

.PHONY: help demo lab test test-engines test-cluster test-all setup test-setup test-programs test-install early-front-end-check front-end-check engines check screenshots docs bench clean
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: setup ## Predict and number an antibody on this machine, and write a page with the results
	@$(BIN)/foldnote engines install abodybuilder2 anarci
	@$(BIN)/python scripts/demo.py

lab: setup ## Open JupyterLab on the quickstart notebook
	@$(BIN)/foldnote lab notebooks/quickstart.ipynb

test: ## Install the requirements of the tests, and run them: 20 to 25 minutes on two cores
	@$(MAKE) test-setup
	@scripts/check

test-engines: ## Install every bundled engine, run their tests and record the results in docs/engines.md: gigabytes, and hours
	@$(MAKE) test-setup
	@scripts/check --engines

test-cluster: ## Install Slurm, and run the tests of jobs on other machines and of PostgreSQL, with every kill: 20 minutes
	@$(MAKE) test-setup
	@scripts/install-test-programs --cluster
	@failed=0; \
	$(BIN)/python -m pytest --durations=10 tests/service/test_executors.py tests/service/test_nodes.py tests/service/test_dask.py tests/service/test_namespaces.py tests/service/test_jobqueue.py tests/service/test_batch_jobs.py tests/service/test_slurm_nodes.py tests/service/test_postgres.py tests/service/test_moves.py tests/service/test_replicas.py tests/service/test_object_stores.py tests/service/test_bucket_service.py tests/service/test_bucket_replicas.py tests/service/test_jupyterhub.py tests/browser/test_hub.py tests/browser/test_hub_service.py tests/service/test_lab_cluster.py || failed=1; \
	FOLDNOTE_TEST_STORE=postgresql $(BIN)/python -m pytest -n 4 --dist loadfile -m "not exhaustive and not engine" $(STORE_TESTS) \
		--deselect $(NOT_OF_REPLICAS) || failed=1; \
	exit $$failed

test-all: ## Run all tests, with every kill, fault and engine: hours
	@$(MAKE) test-setup
	@FOLDNOTE_TEST_FAULTS=all FOLDNOTE_TEST_KILLS=200 FOLDNOTE_TEST_EXAMPLES=300 FOLDNOTE_TEST_REQUESTS=200 scripts/check --all

setup: $(VENV)/.installed
test-programs:
	@PYTHON=$(PYTHON) scripts/install-test-programs
engines: setup ## Install the bundled engines that this Python has packages for
	@$(BIN)/foldnote engines install --all

$(VENV)/bin/python:
	@scripts/check-machine $(PYTHON) $(MAKECMDGOALS)
	@echo "== Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'  # Python 3.11 comes with 23.2, which takes three times the processor time

node_modules/.installed: package.json package-lock.json | $(VENV)/bin/python
	@echo "== Installing the front end's packages (about half a minute)"
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(VENV)/.frontend: node_modules/.installed $(FRONTEND) | $(VENV)/bin/python
	@echo "== Building the JupyterLab extension"
	@rm -rf src/foldnote/labextension
	@PATH="$(CURDIR)/$(BIN):$$PATH"; $(BIN)/python -c 'import jupyter_builder' 2>/dev/null || $(BIN)/python -m pip install --quiet 'jupyter-builder>=1.3.0'
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm run --silent build:prod
	@touch $@

$(VENV)/.installed: pyproject.toml package.json $(VENV)/.frontend
	@echo "== Installing foldnote and its requirements (about a minute)"
	@HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(BIN)/python -m pip install --quiet -e '.[numbering]'
	@touch $@

# Debian packages and packages for the front end and for Python are installed in parallel. The checks of the front end then start
# in the background; `scripts/check` waits for them and prints their results with its own.
test-setup:
	@scripts/check-machine $(PYTHON) test
	@$(MAKE) -j3 test-programs early-front-end-check test-install
test-install: $(VENV)/.test-requirements node_modules/.installed
	@$(MAKE) $(VENV)/.test-installed
early-front-end-check: node_modules/.installed
	@(env -u MAKEFLAGS setsid $(MAKE) front-end-check >/dev/null 2>&1 </dev/null &)
front-end-check: node_modules/.installed
	@flock $(VENV)/.front-end-lock $(MAKE) $(VENV)/.front-end-checked
	@cat $(VENV)/.front-end-checked.txt

$(VENV)/.front-end-checked: node_modules/.installed $(FRONTEND) $(FRONTEND_CHECKS)
	@{ npm run --silent lint && npm run --silent test; } >$@.txt 2>&1 || { cat $@.txt; exit 1; }
	@touch $@

# Most modules are never imported, and compiling them takes half of pip's time.
$(VENV)/.test-requirements: pyproject.toml | $(VENV)/bin/python
	@echo "== Installing the requirements of foldnote and its tests"
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		extras = p["optional-dependencies"]; print(*p["dependencies"], *extras["dev"], *extras["docs"], "jupyter-builder>=1.3.0", sep="\n")' >$@.txt
	@$(BIN)/python -m pip install --quiet --no-compile -r $@.txt
	@touch $@

$(VENV)/.test-installed: $(VENV)/.test-requirements $(VENV)/.frontend
	@echo "== Installing foldnote"
	@HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $(VENV)/.installed $@

check: ## Run every check and test in an environment that is already set up
	@scripts/check

screenshots: $(VENV)/.test-installed ## Take the pictures of the docs from the running product
	@$(BIN)/python scripts/screenshots.py

docs: $(VENV)/.docs-installed ## Build the documentation site into build/site; warnings are errors
	@$(BIN)/python scripts/build_docs.py

$(VENV)/.docs-installed: pyproject.toml $(VENV)/.installed
	@echo "== Installing the requirements of the site"
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*p["optional-dependencies"]["docs"], sep="\n")' >$@.txt
	@$(BIN)/python -m pip install --quiet -r $@.txt
	@touch $@

bench: $(VENV)/.test-installed ## Run the benchmarks, each figure beside a limit or a peer
	@for file in benchmarks/[a-z]*.py; do echo "== $$file"; $(BIN)/python $$file; done

clean: ## Remove everything built here; engines, jobs and results stay
	@rm -rf build docs/reference docs/tutorials $(VENV) node_modules labextension/lib src/foldnote/labextension src/foldnote/static dist demo-output
