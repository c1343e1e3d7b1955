# make demo    index the clip that ships with the project and ask it four things, offline
# make test    the tests
# make test-gpu  those of the adapters that run on torch, in an environment with reeldb[gpu]
# make lint    style, import rules        make types   mypy --strict
# make bench   ratios against baselines measured in the same run
# make         lint, types, test

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
GPU_VENV ?= .venv-gpu
TORCH_TESTS := $(wildcard tests/models/test_torch_*.py tests/models/test_transformers*.py tests/models/test_open_clip*.py)

.PHONY: all demo test test-gpu lint types bench clean

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

$(GPU_VENV)/gpu: pyproject.toml
	$(PYTHON) -m venv $(GPU_VENV)
	$(GPU_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[gpu,dev]'
	touch $@

test-gpu: $(GPU_VENV)/gpu
	$(GPU_VENV)/bin/python -m pytest -rs $(TORCH_TESTS)

lint: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/dev
	$(BIN)/mypy

bench: $(VENV)/dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(GPU_VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
