# make demo    index the clip that ships with the project and ask it four things, offline
# make test    the tests
# make lint    style, import rules        make types   mypy --strict
# make bench   ratios against baselines measured in the same run
# make         lint, types, test

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: all demo test lint types bench clean

all: lint types test

$(VENV)/base: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("reeldb needs Python 3.11 or newer; run make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/dev: $(VENV)/base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/base
	$(BIN)/reel demo

test: $(VENV)/dev
	$(BIN)/python -m pytest

lint: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/dev
	$(BIN)/mypy

bench: $(VENV)/dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
