"""pytest's report of a wrong call ends in the line of the test, each in its own pytest run."""

import re

import pytest

from .child_pytest import prepare, run_tests

pytest_plugins = ["pytester"]

# Each line is the body of a test, and its error.
WRONG_CALLS = {
    'Broker({"num.partions": 3})': "UnknownConfigKey",
    'Broker({"num.partitions": None})': "ConfigError",
    "Broker(as_version=2.4)": "ConfigError",
    "Broker().bootstrap_servers": "BrokerStateError",
    "Broker().faults.lost_ack()": "BrokerStateError",
    "broker.start()": "BrokerStateError",
    "broker.restart()": "CallError",
    'broker.reset("al")': "RuleError",
    'broker.verdict("ordres")': "CallError",
    'broker.verdict("orders", event_id="kye")': "RuleError",
    'broker.faults.lost_ack(topik="orders")': "RuleError",
    'broker.faults.lost_ack(partition="x")': "RuleError",
    'broker.faults.add(point="applied", action={"kind": "clos"})': "RuleError",
    'broker.files.add(action="disk_ful")': "RuleError",
    'broker.journal.entries(topik="orders")': "RuleError",
    "broker.clock.advance(-1)": "InvalidValueError",
    "broker.held.release(7)": "CallError",
    "broker.producers.forget(7)": "CallError",
    "broker.restore(7)": "CallError",
    "broker.snapshots.delete(7)": "CallError",
    'broker.topics.get("ordres")': "CallError",
    "broker.topics.create(5)": "InvalidValueError",
    'broker.topics.seed("ordres", [{"value": "a"}])': "CallError",
    'broker.records("ordres")': "CallError",
    'broker.records("orders", limit=-1)': "InvalidValueError",
    'broker.transactions.list("ongoing")': "InvalidValueError",
    'broker.faults["lost ack"]': "UnknownRuleError",
    "broker.faults.lost_ack().await_hits(timeout_ms=1)": "WaitTimeoutError",
}
ASYNC_CALLS = {
    "await broker.start()": "BrokerStateError",
    'await broker.reset("al")': "RuleError",
    "await (await broker.faults.lost_ack()).await_hits(timeout_ms=1)": "WaitTimeoutError",
}
TESTS = """
import pytest
from fauxka.testing import AsyncBroker, Broker

@pytest.fixture(scope="module")
def broker():
    with Broker() as running:
        yield running
"""
ASYNC_TEST = """
@pytest.mark.asyncio
async def test_{number}():
    async with AsyncBroker() as broker:
        {call}
"""


def test_report_of_a_wrong_call_ends_in_the_line_of_the_test(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = [f"\ndef test_{number}(broker):\n    {call}\n" for number, call in enumerate(WRONG_CALLS)]
    tests += [ASYNC_TEST.format(number=number, call=call) for number, call in enumerate(ASYNC_CALLS, len(WRONG_CALLS))]
    path = prepare(pytester, monkeypatch).makepyfile(TESTS + "".join(tests))

    result = run_tests(pytester)

    calls = {**WRONG_CALLS, **ASYNC_CALLS}
    result.assert_outcomes(failed=len(calls))
    lines = path.read_text().splitlines()
    # The last line of each traceback: the file, the line number and the error.
    ends = re.findall(r"^(\S+\.py):(\d+): (\w+)$", result.stdout.str(), re.MULTILINE)
    assert [(lines[int(number) - 1].strip(), error) for _, number, error in ends] == list(calls.items())
    assert {file for file, _, _ in ends} == {path.name}
    assert "fauxka/testing" not in result.stdout.str()
