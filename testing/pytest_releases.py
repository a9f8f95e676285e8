"""The Kafka version of the brokers of the pytest fixtures, and a run of each test under each of several versions.

Several versions come from `@pytest.mark.fauxka_versions("2.8", "4.4")`, or from a list in the option or the ini file.
They are values of the fixture fauxka_as_version, so that a test without a broker runs once, and each version has its
broker. The mark has precedence over a fixture of the project, and this one over the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

VERSIONS = "fauxka_versions"
AS_VERSION = "fauxka_as_version"
_OPTION = "--fauxka-as-version"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the ini option for the version."""
    parser.getgroup("fauxka").addoption(
        _OPTION,
        metavar="VERSION[,VERSION...]",
        help="have the broker of the fixtures follow this Kafka version; run each test under each of several versions; "
        "overrides the ini option",
    )
    parser.addini(AS_VERSION, f"same as {_OPTION}", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, and check the versions."""
    config.addinivalue_line(
        "markers", f"{VERSIONS}(*versions): run the test with a broker of each of these Kafka versions"
    )
    _versions_of(config)


@pytest.fixture(scope="session")
def fauxka_as_version(pytestconfig: pytest.Config) -> str | None:
    """The Kafka version that the broker follows, from the option or the ini file; override the fixture for another."""
    versions = _versions_of(pytestconfig)
    return versions[0] if versions else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses a broker of the fixtures once for each version, with the version in its name."""
    if AS_VERSION not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker(VERSIONS)
    if marker is not None:
        versions: Sequence[str] = _marked_versions(marker)
    else:
        versions = _versions_of(metafunc.config)
        if len(versions) < 2 or _is_overridden(metafunc):
            return
    metafunc.parametrize(AS_VERSION, versions, ids=[f"kafka-{version}" for version in versions], scope="session")


def _versions_of(config: pytest.Config) -> list[str]:
    """Return the versions of the option or the ini file. Raises UsageError for an empty or a repeated one."""
    text: str = config.getoption(_OPTION) or config.getini(AS_VERSION)
    versions = [version.strip() for version in text.split(",")] if text else []
    if "" in versions or len(set(versions)) < len(versions):
        raise pytest.UsageError(f"{_OPTION}: expected different versions, joined by commas, got {text!r}")
    return versions


def _marked_versions(marker: pytest.Mark) -> Sequence[str]:
    versions = cast("Sequence[object]", marker.args)
    texts = [version for version in versions if isinstance(version, str) and version]
    if not texts or len(texts) < len(versions) or len(set(texts)) < len(texts) or marker.kwargs:
        pytest.fail(f"{VERSIONS}: expected different versions such as '2.8', got {marker.args!r}", pytrace=False)
    return texts


def _is_overridden(metafunc: pytest.Metafunc) -> bool:
    """Whether the project overrides the fixture for the test, or parametrizes it. pytest has no public function."""
    definitions: dict[str, Sequence[Any]] = metafunc._arg2fixturedefs  # pyright: ignore[reportPrivateUsage]
    marks = metafunc.definition.iter_markers("parametrize")
    is_parametrized = any(AS_VERSION in str(mark.args[0]) for mark in marks if mark.args)
    return is_parametrized or len(definitions.get(AS_VERSION, ())) > 1
