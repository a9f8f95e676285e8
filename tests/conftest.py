"""Groups of tests: what each needs that no Python package brings, and what a run leaves out, said by name."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from .runtimes import need

HERE = Path(__file__).resolve().parent

# A test with one of these marks needs these programs. docs/testing.md has the same table, with the minutes.
PROGRAMS_OF_GROUP = {
    "go": ("go",),
    "image": ("buildah", "debootstrap", "unshare", "nsenter", "chroot", "ip"),
    "java": ("java", "mvn"),
    "kcat": ("kcat",),
    "reference": ("bash", "java", "mvn"),
    "spark": ("java",),
    "spark_versions": ("java", "mvn"),
}
# Of several marks the first is what leaves a test out.
GROUPS = ("reference", "spark", "spark_versions", "image", "simulation", "crash", "clients", "java", "kcat", "go")

# A folder whose tests need a package that only the slower groups install: half a gigabyte.
PACKAGE_OF_FOLDER = {"spark": "pyspark"}

left_out: pytest.StashKey[dict[str, int]] = pytest.StashKey()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip by name, or fail in CI, where the runtime of a group is missing."""
    for group, programs in PROGRAMS_OF_GROUP.items():
        if item.get_closest_marker(group) is not None:
            need(*programs, group=f"the group {group}")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[left_out] = {}


@pytest.hookimpl
def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what was left out of each group."""
    for item in items:
        counts = item.config.stash[left_out]
        group = next((group for group in GROUPS if item.get_closest_marker(group) is not None), None)
        if group is not None:
            counts[group] = counts.get(group, 0) + 1


def is_package_missing(folder: Path) -> bool:
    return folder.name in PACKAGE_OF_FOLDER and find_spec(PACKAGE_OF_FOLDER[folder.name]) is None


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Pass over a folder whose package is not installed; the summary names it."""
    return True if collection_path.parent == HERE and is_package_missing(collection_path) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which groups this run left out, so that nobody takes them for passed."""
    for folder, package in PACKAGE_OF_FOLDER.items():
        if is_package_missing(HERE / folder):
            terminalreporter.write_line(
                f"left out: all of tests/{folder}, as {package} is not installed (make test-all)"
            )
    for group, count in sorted(config.stash[left_out].items()):
        terminalreporter.write_line(f"left out: {count} tests of the group {group} (make test-all runs them)")
