"""Groups of tests: the programs that each needs, and the groups that a run leaves out."""

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
        "deep",
    ),
    *("java", "go", "node", "page", "kcat", "clients"),
)

# A folder whose tests need a package of half a gigabyte, which only the slower groups install.
PACKAGE_OF_FOLDER = {"spark": "pyspark"}

# setup.py compiles modules of these.
PARTS_WITH_COMPILED_MODULES = ("protocol", "storage")

# Hypothesis shrinks for up to 300 s, which is also the timeout of all other tests.
PROPERTY_TEST_SECONDS_MAX = 900

left_out: pytest.StashKey[dict[str, int]] = pytest.StashKey()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the test where a program of its group is missing; with CI=true, fail it."""
    for group, programs in PROGRAMS_OF_GROUP.items():
        if item.get_closest_marker(group) is not None:
            need(*programs, group=f"the group {group}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave property tests the time to shrink a failing example, and to report it."""
    for item in items:
        if item.get_closest_marker("hypothesis") is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(PROPERTY_TEST_SECONDS_MAX))


def pytest_configure(config: pytest.Config) -> None:
    config.stash[left_out] = {}
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
