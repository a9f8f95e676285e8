"""The option --fauxka-report of the pytest plugin: an HTML file for each failed test that has a broker."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from fauxka.testing import AsyncBroker, Broker
from fauxka.testing.failed_test_reports import NAME_CHARACTERS_MAX, file_name_of
from fauxka.testing.remote_broker import RemoteBroker

from ..broker.topic_client import TopicClient
from ..serving_process import serving
from ..wire.message_client import MessageClient
from .child_pytest import SEND, prepare, run_tests

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]

DATA = re.compile(r'<script type="application/json" id="report">(.*?)</script>', re.DOTALL)
HEADING = "*- fauxka: report -*"


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return prepare(pytester, monkeypatch)


def data_of(page: Path) -> Any:
    """Return the data in a report."""
    (data,) = DATA.findall(page.read_text())
    return json.loads(data)


def written(run: pytest.Pytester) -> list[str]:
    return sorted(path.name for path in (run.path / "reports").glob("*"))


def test_failed_test_has_a_report_with_its_requests_and_the_rules_that_it_removed(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_orders=SEND
        + """
def test_earlier(fauxka):
    send(fauxka.bootstrap_servers, "earlier")

def test_wrong(fauxka, faults):
    with faults.lost_ack(topic="orders"):
        send(fauxka.bootstrap_servers)
    assert fauxka.verdict("orders").records.in_log == 2
"""
    )

    result = run_tests(run, "--fauxka-report=reports")

    result.assert_outcomes(passed=1, failed=1)
    page = run.path / "reports" / "test_orders.py.test_wrong.html"
    result.stdout.fnmatch_lines([HEADING, str(page)])
    assert written(run) == [page.name]
    data = data_of(page)
    assert data["title"] == "test_orders.py::test_wrong"
    assert [verdict["topic"] for verdict in data["state"]["verdicts"]] == ["orders"]
    assert [(rule["name"], rule["hits"]) for rule in data["state"]["rules"]] == [("lost ack", 1)]
    assert any(entry["faults"] for entry in data["journal"]["items"])


def test_no_file_is_written_without_the_option_or_without_a_broker(run: pytest.Pytester) -> None:
    run.makepyfile("""
def test_wrong(fauxka):
    assert 1 == 2

def test_plain():
    assert 1 == 2
""")

    without = run_tests(run)
    run_tests(run, "--fauxka-report=reports", "-k", "plain")

    without.stdout.no_fnmatch_line(HEADING)
    assert not (run.path / "reports").exists()


def test_run_without_the_option_does_not_load_the_report(run: pytest.Pytester) -> None:
    run.makeconftest("""
import sys

def pytest_unconfigure():
    print("LOADED", [name for name in sys.modules if "failed_test_reports" in name or "admin.report" in name])
""")
    run.makepyfile("def test_wrong(fauxka): assert 1 == 2")

    run_tests(run, "-s").stdout.fnmatch_lines(["LOADED *[[]]"])


def test_brokers_of_wider_and_of_own_fixtures_have_reports(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_own=SEND
        + """
from fauxka.testing import AsyncBroker, Broker

@pytest.fixture(scope="module")
def own():
    with Broker() as broker:
        yield broker

@pytest.fixture
def address(own):
    return own.bootstrap_servers

def test_own(address):
    send(address, "mine")
    assert 1 == 2

def test_session(fauxka_broker):
    assert 1 == 2

def test_two(fauxka, fauxka_secured):
    assert 1 == 2
"""
    )

    run_tests(run, "--fauxka-report=reports").assert_outcomes(failed=3)

    assert written(run) == [
        "test_own.py.test_own.html",
        "test_own.py.test_session.html",
        "test_own.py.test_two-2.html",
        "test_own.py.test_two.html",
    ]
    data = data_of(run.path / "reports" / "test_own.py.test_own.html")
    assert [topic["name"] for topic in data["state"]["topics"]] == ["mine"]


def test_test_on_an_event_loop_has_a_report(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_loop="""
import pytest
import pytest_asyncio
from fauxka.testing import AsyncBroker

@pytest_asyncio.fixture
async def broker():
    async with AsyncBroker() as broker:
        yield broker

@pytest.mark.asyncio
async def test_wrong(broker):
    await broker.topics.create("orders")
    await broker.topics.seed("orders", [{"value": "coffee", "partition": 0}] * 3)
    await broker.processed("orders", 0, [0, 2], group="billing")
    await broker.groups.set_offsets("billing", {("orders", 0): 3})
    assert 1 == 2
"""
    )

    run_tests(run, "--fauxka-report=reports").assert_outcomes(failed=1)

    data = data_of(run.path / "reports" / "test_loop.py.test_wrong.html")
    assert "orders" in [topic["name"] for topic in data["state"]["topics"]]
    # A finding that reads the log, in what would be long work while the event loop runs.
    (group,) = data["state"]["groups"]
    assert [each["kind"] for each in group["findings"]] == ["committed_unprocessed"]


def test_workers_of_xdist_write_their_reports_and_the_failures_name_them(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_many="""
import pytest

@pytest.mark.parametrize("number", range(4))
def test_wrong(fauxka, number):
    assert number % 2
"""
    )

    result = run_tests(run, "-n", "2", "--fauxka-report=reports")

    result.assert_outcomes(passed=2, failed=2)
    assert written(run) == ["test_many.py.test_wrong-0.html", "test_many.py.test_wrong-2.html"]
    for name in written(run):
        result.stdout.fnmatch_lines([HEADING, str(run.path / "reports" / name)])


def test_error_of_a_report_is_one_line_below_the_failure_of_the_test(run: pytest.Pytester) -> None:
    run.makepyfile(
        test_error="""
def test_wrong(fauxka, request):
    (request.config.rootpath / "reports").write_text("a file in the way")
    assert 1 == 2
"""
    )

    result = run_tests(run, "--fauxka-report=reports/nightly")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * assert 1 == 2", HEADING, "*test_wrong.html is not written, *Error: *"])


def test_stopped_broker_does_not_hide_the_failure(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest
from fauxka.testing import Broker

@pytest.fixture
def stopped():
    with Broker() as broker:
        pass
    return broker

def test_wrong(stopped):
    assert 1 == 2
""")

    result = run_tests(run, "--fauxka-report=reports")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * assert 1 == 2", "*is not written, BrokerStateError: the broker is stopped *"])


def test_folder_that_is_a_file_is_refused_before_the_first_test(run: pytest.Pytester) -> None:
    run.makepyfile("def test_right(): pass")
    (run.path / "reports").write_text("")

    result = run_tests(run, "--fauxka-report=reports")

    result.stderr.fnmatch_lines([f"ERROR: --fauxka-report: {run.path / 'reports'} is a file, not a folder"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_files_are_named_after_their_tests() -> None:
    assert file_name_of("tests/orders/test_a.py::TestB::test_c[x-1.5]") == "tests.orders.test_a.py.TestB.test_c-x-1.5"


def test_names_with_other_characters_stay_apart_and_safe() -> None:
    parameters = ["a/b", "a b", "../../b", "</script>", "ä", "\ud800", "", "x" * 1000, "x" * 1001]

    names = [file_name_of(f"test_a.py::test_c[{parameter}]") for parameter in parameters]

    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[\w][\w.-]*", name, re.ASCII)] == []
    assert max(map(len, names)) <= NAME_CHARACTERS_MAX + 10


def test_broker_writes_its_report_from_a_request_on(tmp_path: Path) -> None:
    with Broker() as broker:
        for _ in range(2):
            with TopicClient(broker.bootstrap_servers) as client:
                client.produce(0)
        last = broker.journal.last_id

        path = broker.write_report(tmp_path / "run.html", "two orders", since=last - 1)

    data = data_of(path)
    assert (path, data["title"]) == (tmp_path / "run.html", "two orders")
    assert [entry["id"] for entry in data["journal"]["items"]] == [last]
    assert data["journal"]["dropped"] == 0


def test_report_has_the_verdict_on_a_deleted_group_and_on_none_that_never_was(tmp_path: Path) -> None:
    with Broker() as broker, MessageClient(broker.bootstrap_servers) as client:
        broker.topics.create("orders")
        for offset in (3, 1):
            partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
            topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
            client.call(OffsetCommitRequest(group_id="billing", topics=[topic]), 8, OffsetCommitResponse)
        deleted = client.call(DeleteGroupsRequest(groups_names=["billing"]), 2, DeleteGroupsResponse)
        client.call(FindCoordinatorRequest(coordinator_keys=["unused"]), 4, FindCoordinatorResponse)

        state = data_of(broker.write_report(tmp_path / "run.html"))["state"]

    assert [each.error_code for each in deleted.results] == [0]
    assert [(each["group"], [found["kind"] for found in each["findings"]]) for each in state["groups"]] == [
        ("billing", ["commit_moved_back"])
    ]
    assert state["unjudged_groups"] == {}


@pytest.mark.asyncio
async def test_broker_on_the_event_loop_writes_its_report(tmp_path: Path) -> None:
    async with AsyncBroker() as broker:
        await broker.topics.create("orders")

        data = data_of(await broker.write_report(tmp_path / "run.html"))

        assert data["title"] == broker.bootstrap_servers
    assert [topic["name"] for topic in data["state"]["topics"]] == ["orders"]


def test_remote_broker_writes_its_report(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", "orders") as broker:
        assert broker.admin is not None
        remote = RemoteBroker(broker.admin)
        remote.faults.lost_ack(topic="orders")

        data = data_of(remote.write_report(tmp_path / "run.html"))

    assert data["title"] == broker.admin
    assert [rule["name"] for rule in data["state"]["rules"]] == ["lost ack"]
