"""pytest fixtures: a broker per configuration, reset for each test; fault rules that must fire; a report on failures.

def test_lost_ack(fauxka_bootstrap, faults):
    with faults.lost_ack(topic="orders"):
        send_order(fauxka_bootstrap)

The first use of a fixture imports the broker, so a test run without them does not load it. Under pytest-xdist each
worker process has its own brokers.

A session fixture is executed once, even if a module overrides what it depends on. So `fauxka`, which is executed for
each test, selects the broker by `fauxka_config`; a test with another configuration than its `fauxka_broker` fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from . import scenarios, testing

if TYPE_CHECKING:
    from .testing import Broker, Faults
    from .testing.broker_pool import BrokerPool, Configuration
    from .testing.config_entries import ConfigEntry
    from .testing.hunting.arguments import How
    from .testing.marked_flow import MarkedFlow

# The option, the mark and the fixture for the Kafka version.
pytest_plugins = (f"{__package__}.testing.pytest_releases",)

ALLOW_UNFIRED = "fauxka_allow_unfired"
FLOW = "fauxka_flow"
HUNT = "fauxka_hunt"
MARKERS = (
    f"{ALLOW_UNFIRED}(*names): fault rules with these names, or all, need not fire",
    f"{FLOW}(from_topic, to_topic, event_id, group=None): the report of a failure has the verdict from input to output",
    f"{HUNT}(budget='60s', topics=[], ...): call the test with each fault that its requests can meet (docs/hunt.md)",
)
HINT = f"A test that may pass without hits of these rules must be marked with @pytest.mark.{ALLOW_UNFIRED}"
# The fixtures that choose a broker, in the order of the parameters of Configuration.of.
CONFIGURATION = ("fauxka_config", "fauxka_as_version", "fauxka_nodes", "fauxka_racks")
REPORT_HEADING = "fauxka: what happened"
WRITTEN_HEADING = "fauxka: report"


class Observed(NamedTuple):
    """A broker of a test, and the last id of its journal before the test."""

    broker: Broker
    since: int


# The brokers of a test: one of `fauxka`, and one of `fauxka_secured`.
observed_key: pytest.StashKey[list[Observed]] = pytest.StashKey()
flows_key: pytest.StashKey[Sequence[MarkedFlow]] = pytest.StashKey()
# Whether the test failed because of rules that never fired.
unfired_key: pytest.StashKey[bool] = pytest.StashKey()
# Whether a report of the test has the section; a test can fail in its call and in its teardown.
reported_key: pytest.StashKey[bool] = pytest.StashKey()
# Whether reports of the test are written.
written_key: pytest.StashKey[bool] = pytest.StashKey()
# Where reports of failed tests are written; missing without --fauxka-report.
folder_key: pytest.StashKey[Path] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the brokers of the fixtures."""
    parser.getgroup("fauxka").addoption(
        "--fauxka-report",
        metavar="DIR",
        help="write the run of the broker of each failed test to DIR, as an HTML file with the name of the test",
    )
    parser.addini(
        "fauxka_config", "Kafka's keys for the broker of the fixtures, one key=value per line", type="linelist"
    )
    parser.addini("fauxka_nodes", "the number of nodes of the broker of the fixtures, 1 to 16", default="1")
    parser.addini("fauxka_racks", "the rack of each node, in order, joined by commas", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and check the folder for reports."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    folder: str | None = config.getoption("--fauxka-report")
    if folder is None:
        return
    # A test may change the working directory.
    chosen = config.invocation_params.dir / folder
    if not chosen.is_dir() and chosen.exists():
        raise pytest.UsageError(f"--fauxka-report: {chosen} is a file, not a folder")
    config.stash[folder_key] = chosen


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
def fauxka_nodes(pytestconfig: pytest.Config) -> int:
    """The number of nodes of the broker, from the ini option fauxka_nodes; override the fixture for another number."""
    nodes: str = pytestconfig.getini("fauxka_nodes")
    try:
        return int(nodes)
    except ValueError:
        raise pytest.UsageError(f"fauxka_nodes: expected an integer, got {nodes!r}") from None


@pytest.fixture(scope="session")
def fauxka_racks(pytestconfig: pytest.Config) -> Sequence[str] | None:
    """The rack of each node, from the ini option fauxka_racks; None for broker.rack. Override it for other racks."""
    racks: str = pytestconfig.getini("fauxka_racks")
    return [rack.strip() for rack in racks.split(",")] if racks else None


@pytest.fixture(scope="session")
def _fauxka_brokers() -> Iterator[BrokerPool]:
    """The running brokers of the session, by their configuration."""
    brokers = testing.broker_pool.BrokerPool()
    yield brokers
    brokers.stop()


@pytest.fixture(scope="session")
def fauxka_broker(
    fauxka_config: Mapping[str, ConfigEntry],
    fauxka_as_version: str | None,
    fauxka_nodes: int,
    fauxka_racks: Sequence[str] | None,
    _fauxka_brokers: BrokerPool,
) -> Broker:
    """The broker of the session, in a thread of this process; it keeps its state and its address between tests."""
    wanted = testing.broker_pool.Configuration.of(fauxka_config, fauxka_as_version, fauxka_nodes, fauxka_racks)
    return _fauxka_brokers.session_broker_of(wanted)


@pytest.fixture
def _fauxka_configuration(
    fauxka_config: Mapping[str, ConfigEntry],
    fauxka_as_version: str | None,
    fauxka_nodes: int,
    fauxka_racks: Sequence[str] | None,
) -> Configuration:
    """The configuration of the test."""
    return testing.broker_pool.Configuration.of(fauxka_config, fauxka_as_version, fauxka_nodes, fauxka_racks)


@pytest.fixture
def fauxka(
    request: pytest.FixtureRequest, _fauxka_configuration: Configuration, _fauxka_brokers: BrokerPool
) -> Iterator[Broker]:
    """The broker of the test's configuration, reset: no connections, topics or rules, an empty journal, real time.

    Its address is the test's own, unless fauxka_broker was used before.
    """
    broker: Broker
    if _overrides_broker(request):
        broker = request.getfixturevalue("fauxka_broker")
        _check_configuration(_fauxka_brokers, broker, _fauxka_configuration)
    else:
        broker = _fauxka_brokers.broker_of(_fauxka_configuration)
    yield from _lent(broker, _fauxka_brokers, request.node)


@pytest.fixture(scope="session")
def fauxka_users() -> Mapping[str, str]:
    """The users of fauxka_secured with their passwords; override the fixture for others."""
    return {"alice": "alice-secret", "admin": "admin-secret"}


@pytest.fixture
def fauxka_secured(
    request: pytest.FixtureRequest,
    _fauxka_configuration: Configuration,
    fauxka_users: Mapping[str, str],
    _fauxka_brokers: BrokerPool,
) -> Iterator[Broker]:
    """A broker with SASL_SSL and fauxka_users, reset as `fauxka` is; client_config() is what a client needs."""
    wanted = replace(_fauxka_configuration, users=tuple(fauxka_users.items()))
    yield from _lent(_fauxka_brokers.broker_of(wanted), _fauxka_brokers, request.node)


@pytest.fixture
def fauxka_bootstrap(fauxka: Broker) -> str:
    """The address for a client's bootstrap.servers, "host:port"; of several nodes all, joined by commas."""
    return fauxka.bootstrap_servers


@pytest.fixture
def faults(fauxka: Broker) -> Faults:
    """The fault rules of the broker, fauxka.faults. A test fails if a rule never fired (fauxka_allow_unfired)."""
    return fauxka.faults


def _lent(broker: Broker, brokers: BrokerPool, item: pytest.Item) -> Iterator[Broker]:
    """Yield the broker, reset, for one test."""
    brokers.begin_test(broker, item.nodeid)
    _observe(item, broker, since=0)
    yield broker
    # Releases held requests, so that clients that are closed after this test do not hang.
    broker.reset("faults")


def _overrides_broker(request: pytest.FixtureRequest) -> bool:
    """Whether the project overrides fauxka_broker for the test.

    pytest has no public function for that. To request fauxka_broker instead would start a broker that the test may not
    need, and would fail for a fauxka_config of a narrower scope.
    """
    manager: Any = request.session._fixturemanager  # pyright: ignore[reportPrivateUsage]
    # Before pytest 8.1 it takes the id of the node.
    node = request.node if pytest.version_tuple >= (8, 1) else request.node.nodeid
    return len(manager.getfixturedefs("fauxka_broker", node) or ()) > 1


def _check_configuration(brokers: BrokerPool, broker: Broker, wanted: Configuration) -> None:
    """Fail the test if the broker is one of the plugin with another configuration."""
    difference = brokers.find_difference(broker, wanted)
    if difference is not None:
        pytest.fail(
            f"fauxka_broker is a session fixture, which pytest executes once; {difference}. Request the fixture "
            "`fauxka`, which has a broker for each configuration, or override `fauxka_broker` beside `fauxka_config`.",
            pytrace=False,
        )


def _observe(item: pytest.Item, broker: Broker, since: int) -> None:
    """Record the rules of the test from now on, and keep its broker for the report."""
    broker.faults.watch()
    broker.files.watch()
    # A plugin that runs the test again keeps its stash.
    others = [each for each in _observed(item) if each.broker is not broker]
    item.stash[observed_key] = [*others, Observed(broker, since)]


def _observed(item: pytest.Item) -> list[Observed]:
    return item.stash.get(observed_key, list[Observed]())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Observe the broker of a test that uses fauxka_broker without fauxka, and check its configuration and marks."""
    item.stash[flows_key] = [testing.marked_flow.flow_of(mark) for mark in item.iter_markers(FLOW)]
    result = yield
    fixtures: Mapping[str, object] = getattr(item, "funcargs", {})
    if "fauxka_broker" in fixtures:
        _observe_session_broker(item, fixtures)
    return result


def _observe_session_broker(item: pytest.Item, fixtures: Mapping[str, Any]) -> None:
    """fixtures: the values of all fixtures of the test. A project may override fauxka_broker by anything."""
    broker = fixtures["fauxka_broker"]
    given = [fixtures[name] for name in CONFIGURATION if name in fixtures]
    if "_fauxka_brokers" in fixtures and len(given) == len(CONFIGURATION):
        _check_configuration(fixtures["_fauxka_brokers"], broker, testing.broker_pool.Configuration.of(*given))
    if isinstance(broker, testing.Broker) and all(each.broker is not broker for each in _observed(item)):
        _observe(item, broker, since=broker.journal.last_id)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a passed test if one of its fault rules never fired."""
    result = yield
    allowed = [mark.args for mark in item.iter_markers(ALLOW_UNFIRED)]
    if () not in allowed:
        names = {name for names in allowed for name in names}
        rules = [rules for each in _observed(item) for rules in (each.broker.faults, each.broker.files)]
        unfired = [line for of_kind in rules for line in of_kind.unfired(names)]
        if unfired:
            item.stash[unfired_key] = True
            pytest.fail("\n".join([*unfired, HINT]), pytrace=False)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Make a hunt of a test with the mark, before a plugin for coroutines can call it."""
    marker = pyfuncitem.get_closest_marker(HUNT)
    if marker is None:
        return (yield)
    test: Callable[..., object] = pyfuncitem.obj
    pyfuncitem.obj = partial(_hunt, pyfuncitem, marker, test)
    try:
        return (yield)
    finally:
        pyfuncitem.obj = test


def _hunt(item: pytest.Function, marker: pytest.Mark, test: Callable[..., object], /, **fixtures: object) -> None:
    configuration = item._request.getfixturevalue("_fauxka_configuration")  # pyright: ignore[reportPrivateUsage]
    if marker.args:
        pytest.fail(f"{HUNT}: {marker.args[0]!r} has no name; allowed: budget='60s' and others", pytrace=False)
    hunted = testing.hunting.hunted_test
    failures, no_failures = (AssertionError, pytest.fail.Exception), (pytest.skip.Exception, pytest.xfail.Exception)
    framework = hunted.Framework(failures, no_failures, partial(_folder_of_findings, item))
    report = hunted.hunt_test(test, fixtures, configuration, framework, cast("How", marker.kwargs))
    if report is not None:
        # The fixtures' broker has received nothing: each call of the test had its own.
        item.stash[reported_key] = item.stash[written_key] = True
        pytest.fail(report, pytrace=False)


def _folder_of_findings(item: pytest.Function) -> Path:
    """Return the folder for what a hunt finds: in that of the reports of failed tests, or a temporary one."""
    name = testing.failed_test_reports.file_name_of(item.nodeid)
    if folder_key in item.config.stash:
        return item.config.stash[folder_key] / f"{name}-hunt"
    factory: pytest.TempPathFactory = item._request.getfixturevalue("tmp_path_factory")  # pyright: ignore[reportPrivateUsage]
    return factory.mktemp("fauxka-hunt") / name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hide the frames of this package in an error, and add what happened on the broker to the report of a failure."""
    error = call.excinfo if "fauxka.testing" in sys.modules and not item.config.getoption("fulltrace") else None
    has_frames = error is None or _hide_internal_frames(error)
    report = yield
    if error is not None and not has_frames and report.failed:
        report.longrepr = error.getrepr(style="value")
    if report.failed and observed_key in item.stash and reported_key not in item.stash:
        item.stash[reported_key] = True
        report.sections.append((REPORT_HEADING, _failure_report(item)))
    if report.failed and folder_key in item.config.stash and "fauxka.testing" in sys.modules:
        report.sections += _written_reports(item)
    return report


def _hide_internal_frames(excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
    """Return whether frames are left; if not, as in a failure to start the broker, the traceback stays as it is."""
    if isinstance(excinfo.value, pytest.fail.Exception):
        # pytest shows no traceback of the failures that this plugin reports.
        return True
    visible = testing.tracebacks.without_internal_frames(excinfo.tb)
    testing.tracebacks.hide_in_causes(excinfo.value)
    if visible is not None:
        excinfo.traceback = type(excinfo.traceback)(visible)
    return visible is not None


def _failure_report(item: pytest.Item) -> str:
    """Return what happened on the brokers of a test; the name of each is above its report if there are several."""
    observed = _observed(item)
    reports = [_report_of(item, each) for each in observed]
    if len(reports) == 1:
        return reports[0]
    return "\n\n".join(f"{each.broker!r}\n{report}" for each, report in zip(observed, reports, strict=True))


def _report_of(item: pytest.Item, observed: Observed) -> str:
    """Return what happened, or one line with the error: a report must not hide the failure of the test."""
    try:
        reports = scenarios.report.failure_report
        test = reports.FailedTest(*observed, has_listed_unfired=unfired_key in item.stash, flows=item.stash[flows_key])
        return reports.failure_report(test)
    except Exception as error:
        return f"not available, {type(error).__name__}: {' '.join(str(error).split())}"


def _written_reports(item: pytest.Item) -> list[tuple[str, str]]:
    """Write the report of each broker of a test that has none yet, and return the section that names the files."""
    if written_key in item.stash:
        return []
    try:
        fixtures: Mapping[str, object] = getattr(item, "funcargs", {})
        since = {id(each.broker): each.since for each in _observed(item)}
        brokers = [*(each.broker for each in _observed(item)), *fixtures.values()]
        lines = testing.failed_test_reports.write_reports(brokers, item.config.stash[folder_key], item.nodeid, since)
    except Exception as error:
        lines = [f"not written, {type(error).__name__}: {' '.join(str(error).split())}"]
    if not lines:
        return []
    item.stash[written_key] = True
    return [(WRITTEN_HEADING, "\n".join(lines))]
