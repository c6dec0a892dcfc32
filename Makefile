# The words people expect. Each sets up what it needs in .venv first; Python 3.11 or newer and make are enough.

.DEFAULT_GOAL := help
.PHONY: help demo test test-all fuzz lint bench docs dist clean

# The first Python here that is new enough; `make test PYTHON=…` takes another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# The real logs, where they lie next to the checkout. Without them the tests that need them are skipped.
LOGS := $(abspath $(wildcard ../shared/data))
ifneq ($(LOGS),)
export HARNESS_DATA ?= $(LOGS)
endif

# Python compiles the modules that are imported, and keeps them. pip would compile all, which takes half of the
# installation's time.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := .venv/bin/python -m pip --disable-pip-version-check --quiet install --no-compile --editable

help:
	@echo 'make demo       let six schedulers compete on generated workloads'
	@echo 'make test       run the quick tests, five minutes at most'
	@echo 'make test-all   run all tests with all examples'
	@echo 'make fuzz       give spoilt inputs to every reader for a minute'
	@echo 'make lint       check style, formatting, types and which room calls which'
	@echo 'make bench      measure how fast this machine simulates'
	@echo 'make docs       build the documentation site, .site/index.html'
	@echo 'make dist       build the sdist and the wheel of a tagged version, in dist/'
	@echo 'make clean      remove what the others made'

# Generated jobs only. Again, it finds its results in tournaments/demo, and only ranks them.
demo: .venv/installed
	@.venv/bin/harness tournament demo
	@echo
	@echo 'Next:  . .venv/bin/activate   puts harness on the path of this shell; README.md shows how to go on'

# Every module and command, with a tenth of the examples of property tests.
test: .venv/installed-test
	.venv/bin/python -m pytest --quick --numprocesses auto --dist worksteal $(ARGS)

# Everything, before a release and in CI.
test-all: .venv/installed-dev
	.venv/bin/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

# Spoilt inputs of every reader, drawn by a fixed seed; longer by hand: make fuzz SECONDS=3600 SEED=7
SECONDS ?= 60
SEED ?= 13
fuzz: .venv/installed-dev
	.venv/bin/python tests/inputs/fuzzing.py --seconds $(SECONDS) --seed $(SEED)

lint: .venv/installed-dev
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports

bench: .venv/installed-dev
	.venv/bin/harness bench $(ARGS)
	.venv/bin/harness bench ratios

# Every warning is an error; .docs/links.py follows the links of what was built.
docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict
	@echo 'open .site/index.html'

# Refused unless the tag of this commit, the package, CITATION.cff and CHANGELOG.md name one version.
dist: .venv/installed-dev
	.venv/bin/python .ci/release.py

clean:
	rm -rf tournaments/demo .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .site dist

.venv/installed: pyproject.toml | .venv/bin/python
	@echo 'installing into .venv …'
	@$(INSTALL) .
	@touch $@

.venv/installed-test: pyproject.toml | .venv/bin/python
	@echo 'installing into .venv, with the libraries that make test needs …'
	@$(INSTALL) '.[test]'
	@touch $@ .venv/installed

.venv/installed-dev: pyproject.toml | .venv/bin/python
	@echo 'installing into .venv, with the tools of the developers …'
	@$(INSTALL) '.[dev]'
	@touch $@ .venv/installed .venv/installed-test

.venv/installed-docs: pyproject.toml | .venv/bin/python
	@echo 'installing into .venv, with what builds the documentation …'
	@$(INSTALL) '.[docs]'
	@touch $@ .venv/installed

.venv/bin/python:
	@test -n '$(PYTHON)' || { echo 'make: needs Python 3.11 or newer; give it with PYTHON=…' >&2; exit 1; }
	@rm -rf .venv  # one that was left half made
	@$(PYTHON) -m venv .venv
