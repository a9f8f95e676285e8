"""Marks: what happened to the cluster between two requests, in the journal, the stream and Python."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from fauxka.testing import Broker

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, serving
from .admin_client import AdminClient
from .test_events import Stream, streaming

RULE = {"match": {"api": "Produce"}, "point": "applied", "action": {"kind": "close"}, "name": "lost"}


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Serving]:
    """A broker without marks."""
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", TOPIC) as started:
        yield started


def texts(marks: list[dict[str, Any]]) -> list[str]:
    return [mark["text"] for mark in marks]


def test_rules_and_clock_moves_are_marks_at_their_place_among_the_requests(fresh: Serving) -> None:
    assert fresh.admin is not None
    admin = AdminClient(fresh.admin)
    with TopicClient(fresh.bootstrap) as client:
        client.produce(0)
        rule_id = admin.post("/v1/rules", RULE)["id"]
        admin.delete(f"/v1/rules/{rule_id}")
        client.produce(1)
    admin.post("/v1/clock", {"mode": "manual", "advance_ms": 5000})

    marks = admin.get("/v1/marks")["items"]

    assert texts(marks) == ["rule 1 (lost) added", "rule 1 (lost) removed", "clock: manual, advance by 5000 ms"]
    assert [mark["kind"] for mark in marks] == ["rule", "rule", "clock"]
    assert [mark["after_id"] for mark in marks] == [1, 1, 2]
    assert texts(admin.get("/v1/marks?since=1&limit=1")["items"]) == ["rule 1 (lost) removed"]
    admin.delete("/v1/journal")
    assert texts(admin.get("/v1/marks")["items"]) == ["clock: manual, advance by 5000 ms"]


def test_stream_has_marks_once(fresh: Serving) -> None:
    assert fresh.admin is not None
    admin = AdminClient(fresh.admin)
    admin.post("/v1/rules", RULE)
    with streaming(admin) as stream:
        assert texts(stream.next_of_all().data["items"]) == ["rule 1 (lost) added"]

        admin.delete("/v1/rules")

        event = next_named(stream, "marks")
        assert texts(event["items"]) == ["rule 1 (lost) removed"]


def next_named(stream: Stream, name: str) -> dict[str, Any]:
    while (event := stream.next_of_all()).name != name:
        pass
    data: dict[str, Any] = event.data
    return data


def marked(broker: Broker, is_found: Callable[[str], bool]) -> bool:
    return any(is_found(mark.text) for mark in broker.journal.marks())


def test_deaths_elections_and_returns_of_nodes_are_marks() -> None:
    with Broker({"default.replication.factor": "3"}, nodes=3) as broker:
        broker.topics.create("orders", partitions=6)
        before = [partition.leader for partition in broker.partitions("orders")]

        broker.stop_node(1, controlled=False, noticed=True)
        broker.start_node(1)
        broker.isolate(2, ["clients"])
        broker.rejoin(2)

        found = [mark.text for mark in broker.journal.marks() if mark.kind == "node"]
        assert found == ["node 1 is killed", "node 1 starts", "node 2 is isolated from clients", "node 2 rejoins"]
        elections = [mark.text for mark in broker.journal.marks() if mark.kind == "leader"]
        assert 1 in before
        assert elections
        assert all("before it node 1: " in text for text in elections)


def test_rebalances_are_marks() -> None:
    with Broker() as broker:
        broker.topics.create("orders")
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"})
        consumer.subscribe(["orders"])
        while not consumer.assignment():
            consumer.poll(0.1)
        consumer.close()

        assert [mark.text for mark in broker.journal.marks()] == [
            "group billing: generation 1",
            "group billing: generation 2",
        ]
