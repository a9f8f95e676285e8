"""Groups of tests: the programs that each needs, and the groups that a run leaves out."""

import gc
import os
from collections.abc import Generator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from .run_counts import COUNTS_VARIABLE, is_slice, load_hypothesis_profile
from .runtimes import need

# Before any test module makes settings of its own from the profile.
load_hypothesis_profile()

HERE = Path(__file__).resolve().parent

# The programs that tests with a mark need. docs/testing.md has the same table, with the minutes.
PROGRAMS_OF_GROUP = {
    "containers": (
        *("podman", "runc", "buildah", "debootstrap", "docker-compose"),
        *("java", "mvn", "go", "node", "npm", "openssl"),
    ),
    "go": ("go",),
    "image": ("buildah", "debootstrap", "unshare", "nsenter", "chroot", "ip"),
    "java": ("java", "mvn"),
    "kcat": ("kcat",),
    "node": ("node", "npm"),
    "browser": ("chromium",),
    "page": ("chromium",),
    "reference": ("bash", "java", "mvn"),
    "spark": ("java",),
    "spark_versions": ("java", "mvn"),
}
# A test with several marks counts as left out by the first.
GROUPS = (
    *(
        "reference",
        "spark",
        "spark_versions",
        "ecosystem",
        "python_versions",
        "image",
        "containers",
        "simulation",
        "crash",
        "fuzz",
        "packaging",
        "processes",
        "pauses",
        "deep",
    ),
    *("java", "go", "node", "page", "browser", "kcat", "clients"),
)

# A folder whose tests need a package of half a gigabyte, which only the slower groups install.
PACKAGE_OF_FOLDER = {"spark": "pyspark"}

# setup.py compiles modules of these.
PARTS_WITH_COMPILED_MODULES = ("broker", "faults", "protocol", "storage")

# Files that take more than 15 s. One that began last would run alone at the end.
LONGEST_FILES = (
    "containers/test_slice.py",
    *("other_clients/test_typescript.py", "other_clients/test_java.py", "spark/test_spark.py"),
    *("spark/test_audit_command.py", "test_packaging.py"),
    "hunt/test_faults_that_stay.py",
    *("broker/test_long_requests_with_acls.py", "broker/test_long_requests.py", "hunt/test_hunt_command.py"),
    *("pipeline/test_object_store.py", "testing/test_pytest_plugin.py", "admin/test_commands.py"),
    *(
        "golden/test_captures.py",
        "golden/test_secured_captures.py",
        "test_command_line.py",
        "hunt/test_hunt_function.py",
    ),
    *(
        "scenarios/test_real_clients.py",
        "protocol/test_messages_against_kafka_python.py",
        "broker/test_damaged_logs.py",
    ),
    *("broker/test_data_directory.py", "hunt/test_hunted_test.py", "testing/test_configurations.py"),
    *("storage/test_compiled_modules.py", "protocol/test_hostile_bytes.py", "admin/test_fuzz.py", "test_leftovers.py"),
    *("protocol/test_messages_against_kio.py", "protocol/test_messages_cut_and_continued.py"),
    *("golden/test_acls.py", "golden/test_failover.py", "golden/test_login_probes.py", "golden/test_acl_matrix.py"),
)

# Hypothesis shrinks for up to 300 s, which is also the timeout of all other tests.
PROPERTY_TEST_SECONDS_MAX = 900

# Plugins that come with packages. Each takes a second to load.
UNUSED_PLUGINS = "-p no:schemathesis -p no:anyio"

left_out: pytest.StashKey[dict[str, int]] = pytest.StashKey()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the test where a program of its group is missing; with CI=true, fail it."""
    for group, programs in PROGRAMS_OF_GROUP.items():
        if item.get_closest_marker(group) is not None:
            need(*programs, group=f"the group {group}")


def pytest_xdist_auto_num_workers() -> int:
    """Return three times as many processes as there are processors: they wait for timers and other processes."""
    return 3 * (os.cpu_count() or 1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, and leave property tests the time to shrink a failing example."""
    items.sort(key=lambda item: rank_of(item.path))
    for item in items:
        if item.get_closest_marker("hypothesis") is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(PROPERTY_TEST_SECONDS_MAX))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector off the modules and tests, which stay until the end: it would read them each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@cache
def rank_of(path: Path) -> int:
    """Return the place of a file among the longest ones."""
    name = path.relative_to(HERE).as_posix() if path.is_relative_to(HERE) else ""
    return LONGEST_FILES.index(name) if name in LONGEST_FILES else len(LONGEST_FILES)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[left_out] = {}
    # For the pytest processes that tests start in folders without these options of pyproject.toml.
    os.environ["PYTEST_ADDOPTS"] = f"{os.environ.get('PYTEST_ADDOPTS', '')} {UNUSED_PLUGINS}".strip()
    _check_compiled_files()


def _check_compiled_files() -> None:
    """Stop if a compiled module is older than its source: the tests would test the old one."""
    for part in PARTS_WITH_COMPILED_MODULES:
        for compiled in (HERE.parent / part).rglob("*.so"):
            source = compiled.with_name(f"{compiled.name.partition('.')[0]}.py")
            if compiled.stat().st_mtime < source.stat().st_mtime:
                pytest.exit(f"{compiled} is older than its source: `make test` compiles it, `make plain` deletes it", 2)


def pytest_report_header() -> str | None:
    """Report that property tests and simulations run with smaller counts."""
    return f"{COUNTS_VARIABLE}=slice: fewer examples, seeds and rounds than make test-all" if is_slice() else None


@pytest.hookimpl
def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count the deselected tests of each group."""
    for item in items:
        counts = item.config.stash[left_out]
        group = next((group for group in GROUPS if item.get_closest_marker(group) is not None), None)
        if group is not None:
            counts[group] = counts.get(group, 0) + 1


def is_package_missing(folder: Path) -> bool:
    return folder.name in PACKAGE_OF_FOLDER and find_spec(PACKAGE_OF_FOLDER[folder.name]) is None


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Ignore a folder whose package is not installed; the summary names it."""
    return True if collection_path.parent == HERE and is_package_missing(collection_path) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List the groups that this run left out."""
    for folder, package in PACKAGE_OF_FOLDER.items():
        if is_package_missing(HERE / folder):
            terminalreporter.write_line(
                f"left out: all of tests/{folder}, because {package} is not installed (make test-all)"
            )
    for group, count in sorted(config.stash[left_out].items()):
        terminalreporter.write_line(f"left out: {count} tests of the group {group} (make test-all runs them)")
