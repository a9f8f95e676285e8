"""Lost records have names: their keys, or the event ids that the test names, while a replica or the broker has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.faults.verdict.verdict_findings import Finding
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.testing import Broker

from ..broker.blocking_client import BlockingClient

TOPIC = "orders"
EVENT_IDS = ("key", "value", "json:order.id", "header:id")


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"default.replication.factor": "3"}, nodes=3) as started:
        started.call(lambda: started.cluster.controller.create_topic(TOPIC, 1, assignments=[[1, 2, 3]]))
        yield started


def value_of(number: int) -> bytes:
    return json.dumps({"order": {"id": f"o-{number}"}}).encode()


def send(broker: Broker, first: int, last: int) -> None:
    """Send each record in a batch of its own, acknowledged by the leader alone."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "acks": 1, "batch.num.messages": 1})
    for number in range(first, last + 1):
        producer.produce(TOPIC, value_of(number), f"k-{number}", headers={"id": f"h-{number}"})
    producer.flush()


def lose(broker: Broker, first: int, last: int) -> None:
    """Have the followers of node 1 miss records, and node 1 die."""
    for node in (2, 3):
        broker.pause_replication(node)
    send(broker, first, last)
    broker.stop_node(1, controlled=False, noticed=True)
    for node in (2, 3):
        broker.resume_replication(node)


def lost(broker: Broker, event_id: str | None = None) -> Finding:
    (finding,) = [each for each in broker.verdict(TOPIC, event_id).findings if each.kind == "acknowledged_lost"]
    return finding


def names(broker: Broker) -> dict[str, list[str]]:
    return {event_id: lost(broker, event_id).events for event_id in EVENT_IDS}


def expected(first: int, last: int) -> dict[str, list[str]]:
    numbers = range(first, last + 1)
    return {
        "key": [f"k-{number}" for number in numbers],
        "value": [value_of(number).decode() for number in numbers],
        "json:order.id": [f"o-{number}" for number in numbers],
        "header:id": [f"h-{number}" for number in numbers],
    }


def test_what_an_election_loses_is_named_while_its_leader_is_down_and_after_its_return(broker: Broker) -> None:
    lose(broker, 0, 3)
    # Other records at the same offsets.
    send(broker, 100, 103)

    while_down = names(broker)
    broker.start_node(1)

    assert while_down == names(broker) == expected(0, 3)
    assert lost(broker).events == expected(0, 3)["key"]
    assert lost(broker).why.endswith(
        "and the log of node 2, which became leader in epoch 1, ended at 0; lost: 'k-0', 'k-1', 'k-2', 1 more"
    )


def test_what_a_leader_that_is_cut_off_loses_is_named(broker: Broker) -> None:
    broker.isolate(1, ["controller", "nodes"])
    with BlockingClient(broker.bootstrap_servers.split(",")[0]) as client:
        record = Record(value_of(7), b"k-7", headers=(("id", b"h-7"),))
        assert client.produce(TOPIC, build_batch([record]), acks=1).error_code == ErrorCode.NONE
    broker.clock.advance(9_000)

    before = names(broker)
    broker.rejoin(1)

    assert before == names(broker) == expected(7, 7)


def test_what_a_crash_loses_is_named(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path / "data") as broker:
        broker.topics.create(TOPIC, partitions=1)
        send(broker, 0, 1)
        broker.files.add(action="lose", operation="write", file_kind="log")
        send(broker, 2, 2)
        broker.crash()
        broker.restart()

        assert names(broker) == expected(2, 2)
        assert lost(broker).requests == [broker.journal.entries(api="Produce")[-1].id]


def test_what_a_false_success_loses_is_named() -> None:
    with Broker() as broker:
        broker.topics.create(TOPIC, partitions=1)
        broker.faults.add(match={"api": "Produce"}, point="received", action={"kind": "error", "error": "NONE"})
        send(broker, 4, 4)

        assert names(broker) == expected(4, 4)


def test_records_without_an_event_id_have_no_name(broker: Broker) -> None:
    lose(broker, 0, 1)

    finding = lost(broker, "header:other")

    assert (finding.events, finding.records) == ([], 2)
    assert "lost: " not in finding.why
