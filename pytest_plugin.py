"""pytest fixtures: one broker per session, reset for each test, and fault rules that must fire.

def test_lost_ack(fauxka_bootstrap, faults):
    with faults.lost_ack(topic="orders"):
        send_order(fauxka_bootstrap)

The first use of a fixture imports the broker, so a test run without them does not load it. Under pytest-xdist each
worker process has its own broker.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .testing import Broker
    from .testing.faults import Faults

ALLOW_UNFIRED = "fauxka_allow_unfired"
MARKER = f"{ALLOW_UNFIRED}(*names): rules of the fixture `faults` with these names, or all, need not fire"
HINT = f"A test that may pass without hits of these rules must be marked with @pytest.mark.{ALLOW_UNFIRED}"

armed_key: pytest.StashKey[Broker] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the broker of the session."""
    parser.getgroup("fauxka").addoption(
        "--fauxka-as-version",
        metavar="VERSION",
        help="apply the producer rules of this Kafka version in the broker of the fixtures; overrides the ini option",
    )
    parser.addini(
        "fauxka_config", "Kafka's keys for the broker of the fixtures, one key=value per line", type="linelist"
    )
    parser.addini("fauxka_as_version", "same as --fauxka-as-version", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture(scope="session")
def fauxka_config(pytestconfig: pytest.Config) -> Mapping[str, str]:
    """Kafka's keys for the broker, from the ini option fauxka_config; override the fixture for other keys."""
    lines: list[str] = pytestconfig.getini("fauxka_config")
    entries: dict[str, str] = {}
    for line in lines:
        key, separator, value = line.partition("=")
        if not separator:
            raise pytest.UsageError(f"fauxka_config: expected key=value, got {line!r}")
        entries[key.strip()] = value.strip()
    return entries


@pytest.fixture(scope="session")
def fauxka_broker(pytestconfig: pytest.Config, fauxka_config: Mapping[str, str]) -> Iterator[Broker]:
    """The broker of the session, in a thread of this process; it keeps its state between tests."""
    from .testing import Broker

    as_version = pytestconfig.getoption("--fauxka-as-version") or pytestconfig.getini("fauxka_as_version")
    with Broker(fauxka_config, as_version=as_version or None) as broker:
        yield broker


@pytest.fixture
def fauxka(fauxka_broker: Broker) -> Iterator[Broker]:
    """The broker of the session after a reset: no topics, no rules, an empty journal, real time."""
    fauxka_broker.reset("all")
    yield fauxka_broker
    # Releases held requests, so that clients that are closed after this test do not hang.
    fauxka_broker.reset("faults")


@pytest.fixture
def fauxka_bootstrap(fauxka: Broker) -> str:
    """The address for a client's bootstrap.servers, "host:port"."""
    return fauxka.bootstrap_servers


@pytest.fixture
def faults(request: pytest.FixtureRequest, fauxka: Broker) -> Faults:
    """The fault rules of the broker. The test fails if one of them, or of fauxka.files, never fired.

    The marker fauxka_allow_unfired makes exceptions.
    """
    request.node.stash[armed_key] = fauxka
    fauxka.faults.watch()
    fauxka.files.watch()
    return fauxka.faults


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a passed test if one of its fault rules never fired."""
    result = yield
    broker = item.stash.get(armed_key, None)
    allowed = [mark.args for mark in item.iter_markers(ALLOW_UNFIRED)]
    if broker is not None and () not in allowed:
        names = {name for names in allowed for name in names}
        unfired = [*broker.faults.unfired(names), *broker.files.unfired(names)]
        if unfired:
            pytest.fail("\n".join([*unfired, HINT]), pytrace=False)
    return result
