"""docs/python.md: every operation of the admin API has a counterpart in process, and the shown failures are real."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest

from fauxka.admin.operation import Operation
from fauxka.admin.operations.all_operations import OPERATIONS
from fauxka.testing import AsyncBroker, AsyncRule, Broker, Rule

from ..broker.topic_client import TopicClient
from ..each_case import each_case

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "python.md").read_text()
ROW = re.compile(r"^\| `(?P<call>[A-Z]+ /\S*)` \| (?P<counterparts>.+) \|$", re.MULTILINE)
COUNTERPARTS = {row["call"]: re.findall(r"`([\w.]+)`", row["counterparts"]) for row in ROW.finditer(PAGE)}
# What describes the HTTP API itself, what Kafka's clients call, and what the page in the browser reads.
OF_HTTP_ONLY = {
    "GET /v1/events",
    "GET /v1/topics/{topic}/batches",
    "GET /v1/topics/{topic}/records/decoded",
    "GET /openapi.json",
    "GET /.well-known/openid-configuration",
    "GET /oauth/jwks",
    "POST /oauth/token",
}


def call_of(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def test_every_operation_has_a_counterpart_in_process() -> None:
    assert set(COUNTERPARTS) == {call_of(operation) for operation in OPERATIONS} - OF_HTTP_ONLY


@pytest.mark.parametrize(("broker", "rule"), [(Broker, Rule), (AsyncBroker, AsyncRule)])
@each_case(sorted({name for names in COUNTERPARTS.values() for name in names}))
def test_counterpart_exists(name: str, broker: type[Broker | AsyncBroker], rule: type[Rule | AsyncRule]) -> None:
    holder, _, attribute = name.rpartition(".")

    assert hasattr(holder_of(holder, broker, rule), attribute)


def holder_of(name: str, broker: type[Broker | AsyncBroker], rule: type[Rule | AsyncRule]) -> object:
    """Return the class or module that has the counterparts "NAME.attribute"."""
    match name.split("."):
        case ["broker"]:
            return broker
        case ["rule"]:
            return rule
        case ["broker", part]:
            return cast("object", getattr(broker(), part)).__class__
        case _:
            return import_module(name)


def shown_failures() -> list[str]:
    """Return the failures in the page, without indentation."""
    blocks = re.findall(r"^    AssertionError: (.*(?:\n    .*)*)", PAGE, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks]


def test_shown_failures_are_those_of_the_assertions() -> None:
    with Broker() as broker:
        with TopicClient(broker.bootstrap_servers) as client:
            client.create_topic("events")
            with broker.faults.lost_ack(), pytest.raises(ConnectionError):
                client.produce(0)
        broker.producers.forget(1)
        with TopicClient(broker.bootstrap_servers) as client:
            client.produce(0)
            with broker.faults.false_success():
                client.produce(1)

        with pytest.raises(AssertionError) as not_once:
            broker.verdict("events").assert_exactly_once()
        with pytest.raises(AssertionError) as not_requested:
            broker.journal.assert_requests(api="Produce", base_sequence=0, count=1)

    assert shown_failures() == [str(not_once.value), str(not_requested.value)]
