# Two commands matter: `make demo` and `make test`. Each makes its own environment in .venv, once.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV ?= .venv
SCENARIO ?= kimi-k3-gb200
PYTEST_ARGS ?=
# GitHub runners and laptops have more cores; two is what the time limits of this project are measured on.
WORKERS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --no-input
# Local wheel folders of one machine must not decide which hashes everybody gets.
CLEAN_PIP := env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND="make lock"
COMPILE := $(CLEAN_PIP) .venv-lock/bin/pip-compile --quiet --generate-hashes --strip-extras --no-emit-options \
  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links $(if $(UPGRADE),--upgrade)

# Beside bumpbot: what loads a server and asks it questions. The load generator holds rich below the version that bumpbot has, so
# that this environment is one of its own; all else that both need has one version.
BENCH ?= .venv-bench
DEMO := build/demo-real

# A scenario that tells what happened is played as it happened; one that does not, with the bot's own policy.
PAST := ^ +[\"']?as-it-happened[\"']?:
VARIANT = $(if $(shell grep -lsE "$(PAST)" /dev/null $(firstword $(wildcard $(SCENARIO)/scenario.yaml bot/rehearse/scenarios/$(SCENARIO)/scenario.yaml))),--as-it-happened)

SHARED := .venv-lock/shared.txt

.PHONY: help install demo demo-real demo-real-short test lint lock clean

help:
	@echo "make demo     rehearse a real bump on this machine and print its last report, English and Chinese"
	@echo "              (SCENARIO=green plays another one; bumpbot rehearse lists those there are)"
	@echo "make demo-real        a bump whose smoke and sweep are really measured, on this machine without a GPU: a small server, AIPerf,"
	@echo "                      lm-eval; results in $(DEMO)/     (make demo-real-short: one point and one eval)"
	@echo "make test     run the tests; says which outside programs were absent and what that skipped"
	@echo "make install  make $(VENV) with $(BIN)/bumpbot     (PYTHON=python3.12 chooses another Python)"
	@echo "make lint     ruff over bot/ and tests/"
	@echo "make lock     write the three lock files again     (UPGRADE=1 takes newer versions)"
	@echo "make clean    remove everything these commands made"

install: $(VENV)/.installed
	@echo "$(BIN)/bumpbot is ready"

demo: $(VENV)/.installed
	@$(BIN)/bumpbot rehearse $(SCENARIO) $(VARIANT)

# A second try begins anew: bench never writes where results lie already.
demo-real: $(BENCH)/.installed
	@rm -rf $(DEMO)
	@PATH="$(abspath $(BENCH))/bin:$$PATH" $(BENCH)/bin/bumpbot rehearse really --measure stand-in --keep $(DEMO)

demo-real-short: $(BENCH)/.installed
	@rm -rf $(DEMO)
	@PATH="$(abspath $(BENCH))/bin:$$PATH" $(BENCH)/bin/bumpbot rehearse really-short --measure stand-in --keep $(DEMO)

test: $(VENV)/.installed-test
	@$(BIN)/python -m pytest -n $(WORKERS) --dist=loadfile $(PYTEST_ARGS)

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check bot tests benchmarks

# The same file is never half installed: the stamp is written last, and anything older than lock or pyproject is redone.
$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) .ci/environment.py $(VENV)
	@echo "Installing what bumpbot needs into $(VENV) (about a minute, once) ..."
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-test: requirements-dev.lock $(VENV)/.installed
	@echo "Installing what the tests need into $(VENV) (once) ..."
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@

$(BENCH)/.installed: requirements-bench.lock pyproject.toml
	@$(PYTHON) .ci/environment.py $(BENCH)
	@echo "Installing AIPerf and lm-eval into $(BENCH) (a few minutes, once; about 2 GB) ..."
	@bash .ci/bench $(abspath $(BENCH))/bin/python
	@$(BENCH)/bin/python -m pip --disable-pip-version-check --quiet --no-input install --no-deps --no-build-isolation --editable .
	@touch $@

lock:
	@$(PYTHON) .ci/environment.py .venv-lock
	@.venv-lock/bin/python -m pip --disable-pip-version-check --quiet install 'pip-tools>=7.4'
	@$(COMPILE) --extra build --output-file requirements.lock pyproject.toml
	@$(COMPILE) --extra build --extra test --output-file requirements-dev.lock pyproject.toml
	@grep -E '^[A-Za-z0-9._-]+==' requirements.lock | sed 's/ .*//' | grep -v '^rich==' > $(SHARED)
	@$(COMPILE) --allow-unsafe --extra build --extra bench --constraint $(SHARED) --output-file requirements-bench.lock pyproject.toml
	@sed -i -E -e '/^    #   -c .*shared\.txt$$/d' -e '/^$$/d' -e '/considered to be unsafe/d' -e '/^    # via -c .*shared\.txt$$/d' requirements-bench.lock
	@echo "requirements.lock, requirements-dev.lock and requirements-bench.lock hold what pyproject.toml asks for"

clean:
	@rm -rf $(VENV) $(BENCH) .venv-lock .cache .pytest_cache .ruff_cache .hypothesis dist build
	@find bot tests -name __pycache__ -type d -prune -exec rm -rf {} +
