# Everything that is installed goes into .venv. A fresh machine needs make and Python 3.11 or newer, and nothing else.
#   make serve       run a broker on 127.0.0.1:9092; other options: make serve ARGS="--port 0 -c num.partitions=3"
#   make test        the tests that take minutes at most and need Python packages only
#   make test-slices a few tests of each slower group
#   make test-all    all tests with whole counts; one group: make test-all GROUP=java
#   make check       format, lint, limits of functions, types, layers, import cycles, generated files, scripts of the page
#   make plain       delete the compiled modules, so that their sources run, until the next installation
#   make messages    generate protocol/messages anew
#   make bench       the benchmarks
#   make lock        write requirements/ from pyproject.toml; newer versions: make lock ARGS=--upgrade

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough, under any of its usual names.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
# Some machines forbid bytecode files. Then each of the processes that the tests start compiles every module again, which
# doubles the time of a run.
export PYTHONDONTWRITEBYTECODE :=
# The groups that `make test` leaves out. docs/testing.md has the table.
SLOWER := page or hunt or spark or spark_versions or python_versions or reference or image or containers or simulation or crash or fuzz or packaging or processes or pauses or deep or java or go or node or ecosystem
# Groups that run in one process: a JVM that uses every processor, or one image for all tests.
ALONE := ecosystem or spark or spark_versions or python_versions or image or containers
# Groups whose tests share nothing: those of one file run in several processes.
APART := simulation crash fuzz hunt
ARGS ?=
GROUP ?=
# How many processes the tests run in; auto is that of tests/conftest.py. 0 is one process that a debugger can stop.
PROCESSES ?= $(if $(filter $(filter-out or,$(ALONE)),$(GROUP)),0,auto)
PYTEST = $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist $(if $(filter $(APART),$(GROUP)),load,loadfile) --no-loadscope-reorder
# A browser's event loop runs as long as its process, and tests of coroutines cannot run beside it.
BROWSER_TESTS := tests/page/test_first_look.py
# Where `make lock` writes. `make check` compiles into a copy and compares.
LOCKED ?= requirements
# One file for all platforms and for Python 3.11 and newer. A version in the file stays while pyproject.toml allows it.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --custom-compile-command "make lock"
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python
# PySpark comes as sources: each installation would leave 2 GB in uv's cache, and one of an index without ETags never finds
# them again.
ONCE = --no-cache

.PHONY: serve test test-slices test-all check check-pyright check-mypy check-sources check-lock plain messages methods bench lock clean

serve: $(VENV)/.serve
	$(BIN)/fauxka serve $(ARGS)

test: $(VENV)/.test
	FAUXKA_TEST_COUNTS=slice $(PYTEST) -m "not ($(SLOWER) or browser)" $(ARGS)
ifeq ($(ARGS),)
	FAUXKA_TEST_COUNTS=slice $(BIN)/python -m pytest --numprocesses 0 -m browser $(BROWSER_TESTS)
endif

test-slices: $(VENV)/.test-all
	FAUXKA_TEST_COUNTS=slice $(PYTEST) -m "slice and not reference" $(ARGS)

test-all: $(VENV)/.test-all
ifneq ($(GROUP),)
	$(PYTEST) -m "$(GROUP)" $(ARGS)
else
	$(PYTEST) -m "not ($(ALONE))" $(ARGS)
	$(PYTEST) --numprocesses 0 -m "$(ALONE)" $(ARGS)
endif

# The type checkers take longest. Two steps run at a time.
check: $(VENV)/.test-all
	$(MAKE) --no-print-directory --jobs 2 check-pyright check-mypy check-sources check-lock

check-pyright:
	$(BIN)/pyright

check-mypy:
	$(BIN)/mypy

check-sources:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python tools/import_cycles.py
	$(BIN)/python tools/lint_ratchet.py
	$(BIN)/python tools/identity_text.py
	$(BIN)/python tools/generate_messages.py --check
	$(BIN)/python tools/generate_config_page.py --check
	$(BIN)/python tools/generate_fault_tables.py --check
	$(BIN)/python tools/check_page.py

check-lock:
	rm -rf $(VENV)/locked && cp -r requirements $(VENV)/locked
	$(MAKE) --no-print-directory lock LOCKED=$(VENV)/locked ARGS=
	diff -r requirements $(VENV)/locked

messages: $(VENV)/.test
	$(BIN)/python tools/generate_messages.py

methods: $(VENV)/.test
	$(BIN)/python tools/async_methods.py

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks $(ARGS)

lock: $(BIN)/uv
	$(COMPILE) pyproject.toml --extra clients --group dev --output-file $(LOCKED)/dev.txt $(ARGS)
	$(COMPILE) $(ONCE) --group spark --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/spark.txt $(ARGS)
	$(COMPILE) --group build --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/build.txt $(ARGS)
	$(COMPILE) pyproject.toml --extra security --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/image.txt $(ARGS)

plain:
	find protocol storage -name '*.so' -delete
	rm -f src/*.so

clean:
	rm -rf $(VENV)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "fauxka needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv: | $(BIN)/python
	$(BIN)/python -m pip install --quiet uv

# What an installation is made of. The modules that setup.py lists are compiled again after a change, also of a module
# beside them: they read the fields of its records by their positions.
BUILD := pyproject.toml setup.py $(wildcard protocol/*.py protocol/batches/*.py storage/*.py storage/producers/*.py)

# Each of these files marks a set of packages as installed from pyproject.toml and requirements/.
$(VENV)/.serve: $(BUILD) | $(BIN)/uv
	$(INSTALL) --editable .
	touch $@

$(VENV)/.test: $(BUILD) requirements/dev.txt | $(BIN)/uv
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) --no-deps --editable .
	touch $@ $(VENV)/.serve

$(VENV)/.test-all: $(BUILD) requirements/dev.txt requirements/spark.txt | $(BIN)/uv
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) $(ONCE) --require-hashes -r requirements/spark.txt
	$(INSTALL) --no-deps --editable .
	touch $@ $(VENV)/.test $(VENV)/.serve
