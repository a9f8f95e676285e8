"""Fixtures for pytest: a broker for the whole session, empty again for each test, and faults that have to fire.

def test_lost_ack(fauxka_bootstrap, faults):
    with faults.lost_ack(topic="orders"):
        send_order(fauxka_bootstrap)

The broker is imported when the first of the fixtures is asked for, so that a run without them pays nothing. Under
pytest-xdist each worker is a process with a broker of its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .testing import Broker
    from .testing.faults import Faults

ALLOW_UNFIRED = "fauxka_allow_unfired"
MARKER = (
    f"{ALLOW_UNFIRED}(*names): rules of the fixture `faults` may be armed and never fire; all of them, or those named"
)

armed_key: pytest.StashKey[Broker] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the broker of the session is started with."""
    parser.getgroup("fauxka").addoption(
        "--fauxka-as-version",
        metavar="VERSION",
        help="have the broker of the fixtures judge producers as this version of Kafka does; before the ini file's",
    )
    parser.addini("fauxka_config", "Kafka's keys for the broker of the fixtures, a key=value a line", type="linelist")
    parser.addini("fauxka_as_version", "as --fauxka-as-version", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, so that strict runs know it."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture(scope="session")
def fauxka_config(pytestconfig: pytest.Config) -> Mapping[str, str]:
    """Kafka's keys for the broker, those of the ini option fauxka_config; override it for others."""
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
    """The broker of the session, in a thread of this process; what a test leaves behind is there for the next one."""
    from .testing import Broker

    as_version = pytestconfig.getoption("--fauxka-as-version") or pytestconfig.getini("fauxka_as_version")
    with Broker(fauxka_config, as_version=as_version or None) as broker:
        yield broker


@pytest.fixture
def fauxka(fauxka_broker: Broker) -> Iterator[Broker]:
    """The broker of the session as if it had just been started: no topic, no rule, an empty journal, real time."""
    fauxka_broker.reset("all")
    yield fauxka_broker
    # So that nothing hangs that is closed after this test.
    fauxka_broker.reset("faults")


@pytest.fixture
def fauxka_bootstrap(fauxka: Broker) -> str:
    """What a client's bootstrap.servers is set to, "host:port"."""
    return fauxka.bootstrap_servers


@pytest.fixture
def faults(request: pytest.FixtureRequest, fauxka: Broker) -> Faults:
    """The rules of what goes wrong; the test fails if one of them never fired, unless fauxka_allow_unfired says so.

    So it does for a rule for files, broker.files.
    """
    request.node.stash[armed_key] = fauxka
    fauxka.faults.watch()
    fauxka.files.watch()
    return fauxka.faults


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passed although what it armed never happened: it has shown nothing."""
    result = yield
    broker = item.stash.get(armed_key, None)
    allowed = [mark.args for mark in item.iter_markers(ALLOW_UNFIRED)]
    if broker is not None and () not in allowed:
        names = {name for names in allowed for name in names}
        unfired = [*broker.faults.unfired(names), *broker.files.unfired(names)]
        if unfired:
            pytest.fail("\n".join([*unfired, HINT]), pytrace=False)
    return result


HINT = f"A test that may pass without them says so: @pytest.mark.{ALLOW_UNFIRED}"
