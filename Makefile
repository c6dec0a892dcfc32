# The words people expect. Each sets up what it needs in .venv first; Python 3.11 or newer and make are enough.

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench clean

# The first Python here that is new enough; `make test PYTHON=…` takes another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# The real logs, where they lie beside the checkout. Without them the tests that need them are skipped.
LOGS := $(abspath $(wildcard ../shared/data))
ifneq ($(LOGS),)
export HARNESS_DATA ?= $(LOGS)
endif

PIP := .venv/bin/python -m pip --disable-pip-version-check --quiet
RUN := .venv/bin/harness run 'lublin(jobs=5000, procs=256, seed=1)'
SHOWN := --format markdown | grep -E 'measure|---|_wait|mean_bounded|utilisation'

help:
	@echo 'make demo    replay a generated workload under four schedulers'
	@echo 'make test    run the tests'
	@echo 'make lint    check style, formatting and types'
	@echo 'make bench   measure how fast this machine simulates'
	@echo 'make clean   remove what the others made'

# The same jobs four times. What to look at is how much less the jobs wait as the scheduler may do more.
demo: .venv/installed
	@echo '— First come, first served; whoever does not fit holds up everybody behind:'
	@$(RUN) --order fcfs --start none $(SHOWN)
	@echo '— The same with EASY backfilling, where short jobs slip into the gaps:'
	@$(RUN) --order fcfs --start easy $(SHOWN)
	@echo '— Conservative backfilling, where nobody is ever delayed by a later job:'
	@$(RUN) --order fcfs --start conservative $(SHOWN)
	@echo '— EASY with the shortest job first, better on average and worse for some:'
	@$(RUN) --order spf --start easy $(SHOWN)
	@echo
	@echo 'Now try your own: .venv/bin/harness run --help, .venv/bin/harness list, and README.md'

test: .venv/installed-dev
	.venv/bin/python -m pytest $(ARGS)

lint: .venv/installed-dev
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy --strict harness

bench: .venv/installed-dev
	.venv/bin/harness bench $(ARGS)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

.venv/installed: pyproject.toml | .venv/bin/python
	@echo 'installing into .venv …'
	@$(PIP) install --editable .
	@touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	@echo 'installing into .venv, with the tools of the developers …'
	@$(PIP) install --editable '.[dev]'
	@touch $@ .venv/installed

.venv/bin/python:
	@test -n '$(PYTHON)' || { echo 'make: needs Python 3.11 or newer; give it with PYTHON=…' >&2; exit 1; }
	@rm -rf .venv  # one that was left half made
	@$(PYTHON) -m venv .venv
