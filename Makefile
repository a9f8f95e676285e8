# Everything that is installed goes into .venv. A fresh machine needs make and Python 3.11 or newer, and nothing else.
#   make serve       run a broker on 127.0.0.1:9092; other options: make serve ARGS="--port 0 -c num.partitions=3"
#   make test        the tests that take minutes at most and need Python packages only
#   make test-slices a few tests of each slower group
#   make test-all    all tests with whole counts; one group: make test-all GROUP=java
#   make test-portable the tests of bytes, files and rules, demo and doctor: what CI runs on each system
#   make check       format, lint, limits of functions, types, layers, import cycles, generated files, scripts of the page, links of
#                    the documents, workflows
#   make check-platforms types as Windows and macOS have them
#   make docs        the site of docs/, in site/
#   make wheels      the wheels of this machine for each Python, in dist/; on Linux in containers
#   make wheels-check install and test each wheel of dist/ that this machine runs, and print a table
#   make release-check build twice what a release is made of, test it, and print a table; with TAG=v0.1.0 refuse a commit
#                    whose versions, changelog or recorded surface are not those of the tag; docs/release.md
#   make release-evidence checksums and provenance of dist/, in evidence/
#   make image       build the image by docker buildx, start it, and push it with every tag: make image REPOSITORY=ghcr.io/OWNER/fauxka
#   make plain       delete the compiled modules, so that their sources run, until the next installation
#   make messages    generate protocol/messages anew
#   make surface     record the public surface; docs/stability.md has when it refuses
#   make bench       the benchmarks
#   make lock        write requirements/ from pyproject.toml; newer versions: make lock ARGS=--upgrade

VENV := .venv
BIN := $(VENV)/bin
# Of a program's file name.
EXE :=
ifeq ($(OS),Windows_NT)
SHELL := bash
BIN := $(VENV)/Scripts
EXE := .exe
endif
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
# Only these are read: a mark of a slice is in the file of its tests (tests/test_slices.py).
SLICE_FILES = $(shell grep -rl --include='test_*.py' 'mark\.slice' tests)
ARGS ?=
GROUP ?=
# How many processes the tests run in; auto is that of tests/conftest.py. 0 is one process that a debugger can stop.
PROCESSES ?= $(if $(filter $(filter-out or,$(ALONE)),$(GROUP)),0,auto)
PYTEST = $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist $(if $(filter $(APART),$(GROUP)),load,loadfile) --no-loadscope-reorder
# Their tests need no program beside Python. Windows has no data folders, and there a signal ends a process at once.
PORTABLE := tests/protocol tests/faults
ifneq ($(OS),Windows_NT)
PORTABLE += tests/storage tests/broker
endif
# What ships.
PARTS := $(wildcard *_*.py) admin broker client faults pipeline protocol scenarios security storage testing
# Where `make lock` writes. `make check` compiles into a copy and compares.
LOCKED ?= requirements
# One file for all platforms and for Python 3.11 and newer. A version in the file stays while pyproject.toml allows it.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --custom-compile-command "make lock"
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python
# It reads the releases of Kafka from the sources, and installs none of them here.
RELEASE = PYTHONPATH=src $(BIN)/python -m tools.release
REPOSITORY ?=
# Of the release. The shell reads it, because make would expand a name with $.
TAG ?=
# PySpark comes as sources: each installation would leave 2 GB in uv's cache, and one of an index without ETags never finds
# them again.
ONCE = --no-cache

.PHONY: serve test test-portable test-slices test-all check check-pyright check-platforms check-mypy check-sources check-lock check-docs \
	check-workflows docs wheels wheels-check check-tag release-check release-evidence image plain messages methods surface bench lock clean

serve: $(VENV)/.serve
	$(BIN)/fauxka serve $(ARGS)

test: $(VENV)/.test
	FAUXKA_TEST_COUNTS=slice $(PYTEST) -m "not ($(SLOWER))" $(ARGS)

# Another broker of the machine may have the default ports.
test-portable: $(VENV)/.test
	KAFKA_LISTENERS=PLAINTEXT://127.0.0.1:0 FAUXKA_ADMIN_PORT=0 $(BIN)/fauxka doctor
	$(BIN)/fauxka demo
	PYTHONUTF8=1 FAUXKA_TEST_COUNTS=slice $(PYTEST) -m "not ($(SLOWER))" $(PORTABLE)

test-slices: $(VENV)/.test-all
	FAUXKA_TEST_COUNTS=slice $(PYTEST) -m "slice and not reference" $(ARGS) $(if $(filter tests/%,$(ARGS)),,$(SLICE_FILES))

test-all: $(VENV)/.test-all
ifneq ($(GROUP),)
	$(PYTEST) -m "$(GROUP)" $(ARGS)
else
	$(PYTEST) -m "not ($(ALONE))" $(ARGS)
	$(PYTEST) --numprocesses 0 -m "$(ALONE)" $(ARGS)
endif

# The type checkers take longest. Two steps run at a time.
check: $(VENV)/.test-all $(VENV)/.docs
	$(MAKE) --no-print-directory --jobs 2 check-pyright check-mypy check-sources check-lock check-docs check-workflows

# The programs in Python of the documents are checked with the rest: their lines have the numbers of the pages.
check-pyright:
	$(BIN)/python -m tools.documents build/documents
	$(BIN)/pyright

# Names that another system lacks are errors here. The tests and tools need Linux. It takes as long as the rest of `make check`,
# so CI runs it beside that.
check-platforms: $(VENV)/.test-all
	$(BIN)/pyright --pythonplatform Windows $(PARTS)
	$(BIN)/pyright --pythonplatform Darwin $(PARTS)

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
	$(BIN)/python tools/demo_cast.py --check

check-lock:
	rm -rf $(VENV)/locked && cp -r requirements $(VENV)/locked
	$(MAKE) --no-print-directory lock LOCKED=$(VENV)/locked ARGS=
	diff -r requirements $(VENV)/locked

# --quiet would leave out which link is broken.
check-docs docs: $(VENV)/.test $(VENV)/.docs
	$(BIN)/python -m tools.site $(VENV)/site-sources
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Go 1.21 or newer downloads the version that go.mod names.
check-workflows:
	cd tools/actionlint && go run github.com/rhysd/actionlint/cmd/actionlint ../../.github/workflows/*.yml

# The surface is that of the modules, which import what the tests have installed.
check-tag: $(VENV)/.test $(VENV)/.release
	$(RELEASE) tag "$$TAG"
	$(BIN)/python -m tools.public_surface

# A release is a commit: what is not committed is not built.
release-check: $(VENV)/.release $(if $(value TAG),check-tag)
	$(RELEASE) check $(ARGS)

release-evidence: $(VENV)/.release
	$(RELEASE) evidence dist

image: $(VENV)/.release
	@test -n "$(REPOSITORY)" || { echo "make image: REPOSITORY is empty; allowed: a name such as ghcr.io/OWNER/fauxka" >&2; exit 2; }
	$(RELEASE) image "$(REPOSITORY)"

wheels: $(VENV)/.release
	$(BIN)/python -m cibuildwheel --output-dir dist

wheels-check: $(VENV)/.release
	$(RELEASE) wheels dist

messages: $(VENV)/.test
	$(BIN)/python tools/generate_messages.py

methods: $(VENV)/.test
	$(BIN)/python tools/async_methods.py

surface: $(VENV)/.test
	$(BIN)/python -m tools.public_surface --write

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks $(ARGS)

lock: $(BIN)/uv$(EXE)
	$(COMPILE) --group installer --output-file $(LOCKED)/installer.txt $(ARGS)
	$(COMPILE) pyproject.toml --extra clients --group dev --output-file $(LOCKED)/dev.txt $(ARGS)
	$(COMPILE) $(ONCE) --group spark --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/spark.txt $(ARGS)
	$(COMPILE) --group docs --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/docs.txt $(ARGS)
	$(COMPILE) --group release --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/release.txt $(ARGS)
	$(COMPILE) --group build --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/build.txt $(ARGS)
	$(COMPILE) pyproject.toml --extra security --constraints $(LOCKED)/dev.txt --output-file $(LOCKED)/image.txt $(ARGS)

plain:
	find broker faults protocol storage -name '*.so' -delete
	rm -f src/*.so

clean:
	rm -rf $(VENV)

$(BIN)/python$(EXE):
	@test -n "$(PYTHON)" || { echo "fauxka needs Python 3.11 or newer; set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv$(EXE): requirements/installer.txt | $(BIN)/python$(EXE)
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: --requirement requirements/installer.txt
	touch $@

# What an installation is made of: the modules that setup.py lists are compiled again after a change of one of them.
BUILD := pyproject.toml setup.py $(shell sed -n 's|^    "src/fauxka/\(.*\)",$$|\1|p' setup.py)

# Each of these files marks a set of packages as installed from pyproject.toml and requirements/.
$(VENV)/.serve: $(BUILD) | $(BIN)/uv$(EXE)
	$(INSTALL) --editable .
	touch $@

$(VENV)/.test: $(BUILD) requirements/dev.txt | $(BIN)/uv$(EXE)
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) --no-deps --editable .
	touch $@ $(VENV)/.serve

$(VENV)/.test-all: $(BUILD) requirements/dev.txt requirements/spark.txt | $(BIN)/uv$(EXE)
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) $(ONCE) --require-hashes -r requirements/spark.txt
	$(INSTALL) --no-deps --editable .
	touch $@ $(VENV)/.test $(VENV)/.serve

$(VENV)/.docs: requirements/docs.txt | $(BIN)/uv$(EXE)
	$(INSTALL) --require-hashes -r requirements/docs.txt
	touch $@

$(VENV)/.release: requirements/release.txt | $(BIN)/uv$(EXE)
	$(INSTALL) --require-hashes -r requirements/release.txt
	touch $@
