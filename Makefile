# Everything that is installed goes into .venv. A fresh machine needs make and Python 3.11 or newer, and nothing else.
#   make serve       run a broker on 127.0.0.1:9092; other options: make serve ARGS="--port 0 -c num.partitions=3"
#   make test        the tests that need no more than Python packages, and what they need of this machine's programs
#   make test-all    the slower groups too; one group: make test-all GROUP=java
#   make check       format, lint, size limits, types, layers, import cycles, generated files up to date
#   make messages    generate protocol/messages anew
#   make bench       the benchmarks
#   make lock        write uv.lock anew from pyproject.toml

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough, under any of its usual names.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
# What `make test` leaves out: groups that take minutes. docs/testing.md has the table.
SLOWER := spark or spark_versions or reference or image or simulation or crash
# How many processes the tests of `make test` run in: one a processor. With 0 they run in one that a debugger can stop.
PROCESSES ?= auto
ARGS ?=
GROUP ?=

.PHONY: serve test test-all check messages bench lock clean

serve: $(VENV)/.serve
	$(BIN)/fauxka serve $(ARGS)

test: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile -m "not ($(SLOWER))" $(ARGS)

test-all: $(VENV)/.test-all
	$(BIN)/python -m pytest $(if $(GROUP),-m "$(GROUP)") $(ARGS)

check: $(VENV)/.test-all
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python tools/import_cycles.py
	$(BIN)/python tools/lint_ratchet.py
	$(BIN)/python tools/generate_messages.py --check
	$(BIN)/python tools/generate_config_page.py --check
	$(BIN)/uv lock --check

messages: $(VENV)/.test
	$(BIN)/python tools/generate_messages.py

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks $(ARGS)

lock: $(BIN)/uv
	$(BIN)/uv lock

clean:
	rm -rf $(VENV)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "fauxka needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv: | $(BIN)/python
	$(BIN)/python -m pip install --quiet uv

# Each file says that its set of packages is installed as pyproject.toml and uv.lock have it.
$(VENV)/.serve: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test: pyproject.toml uv.lock | $(BIN)/uv
	UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv sync --quiet --frozen --inexact --group dev
	touch $@ $(VENV)/.serve

$(VENV)/.test-all: pyproject.toml uv.lock | $(BIN)/uv
	UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv sync --quiet --frozen --inexact --all-groups
	touch $@ $(VENV)/.test $(VENV)/.serve
