"""Nodes that die, stop, are cut off and return while clients work, through the testing API."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from fauxka.testing import CallError

from ..broker.blocking_client import BlockingClient, batch
from .transports import Broker

TOPIC = "orders"
NODES = [1, 2, 3]
SECONDS_MAX = 30


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"default.replication.factor": "3"}, nodes=3) as started:
        started.topics.create(TOPIC, partitions=3)
        yield started


def address_of(broker: Broker, node: int) -> str:
    return broker.bootstrap_servers.split(",")[node - 1]


def leaders(broker: Broker) -> list[int]:
    return [each.leader for each in broker.partitions(TOPIC)]


def new_producer(broker: Broker, **options: object) -> Producer:
    return Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, **options})


def send(producer: Producer, values: range) -> None:
    for value in values:
        producer.produce(TOPIC, b"%d" % value, partition=value % 3)
    assert producer.flush(SECONDS_MAX) == 0


def consumed(broker: Broker, count: int) -> list[int]:
    """Return the values of the topic that a consumer of a group gets, sorted."""
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([TOPIC])
    values: list[int] = []
    while len(values) < count:
        message = consumer.poll(SECONDS_MAX)
        assert message is not None, f"{len(values)} of {count} records"
        assert message.error() is None, message.error()
        values.append(int(message.value() or b""))
    consumer.close()
    return sorted(values)


def test_an_idempotent_producer_loses_and_doubles_nothing_while_each_node_is_killed_in_turn(broker: Broker) -> None:
    producer = new_producer(broker)
    for node in NODES:
        send(producer, range(100 * node - 100, 100 * node - 50))
        broker.stop_node(node, controlled=False, noticed=True)
        send(producer, range(100 * node - 50, 100 * node))
        broker.start_node(node)

    assert consumed(broker, 300) == list(range(300))
    assert [each.isr for each in broker.partitions(TOPIC)] == [NODES] * 3


def test_clients_work_on_while_the_nodes_restart_one_after_the_other(broker: Broker) -> None:
    producer = new_producer(broker)
    for node in NODES:
        send(producer, range(20 * node - 20, 20 * node))
        assert broker.stop_node(node).state == "stopped"
        assert node not in leaders(broker)
        assert broker.start_node(node).state == "running"
    send(producer, range(60, 80))

    assert consumed(broker, 80) == list(range(80))


def test_a_node_that_is_killed_leads_until_its_session_is_over(broker: Broker) -> None:
    broker.stop_node(1, controlled=False)

    assert 1 in leaders(broker)
    broker.clock.advance(9_000)
    assert 1 not in leaders(broker)
    assert [each.state for each in broker.nodes()] == ["crashed", "running", "running"]


def test_leader_moves_on_demand(broker: Broker) -> None:
    before = broker.partitions(TOPIC, 0)[0]
    other = next(node for node in NODES if node != before.leader)

    moved = broker.move_leader(TOPIC, 0, other)

    assert (moved.leader, moved.leader_epoch, moved.isr) == (other, before.leader_epoch + 1, before.isr)


def test_an_unclean_leader_must_be_asked_for(broker: Broker) -> None:
    before = broker.partitions(TOPIC, 0)[0]
    behind = next(node for node in NODES if node != before.leader)
    broker.pause_replication(behind)
    with BlockingClient(address_of(broker, before.leader)) as client:
        assert client.produce(TOPIC, batch(b"a"), acks=1).error_code == 0
    broker.clock.advance(46_000)
    assert behind not in broker.partitions(TOPIC, 0)[0].isr

    with pytest.raises(CallError, match="is not in the ISR"):
        broker.move_leader(TOPIC, 0, behind)
    moved = broker.move_leader(TOPIC, 0, behind, unclean=True)
    # The others have lost the record too, and are in sync again.
    assert (moved.leader, sorted(moved.isr), moved.high_watermark) == (behind, NODES, 0)
    assert [each.log_end_offset for each in moved.replica_states] == [0, 0, 0]


def test_while_all_nodes_are_down_the_error_names_the_call_that_starts_one(broker: Broker) -> None:
    for node in NODES:
        broker.stop_node(node, controlled=False, noticed=True)

    with pytest.raises(CallError, match="node 1 is down; POST /v1/nodes/1/start starts it"):
        broker.partitions(TOPIC)

    assert [sorted(each.offline) for each in broker.partitions()] == [NODES] * len(broker.partitions())
    assert broker.start_node(1).state == "running"


def test_a_node_that_is_cut_off_from_its_clients_answers_after_it_has_rejoined(broker: Broker) -> None:
    with BlockingClient(address_of(broker, 2)) as client, ThreadPoolExecutor() as pool:
        client.metadata()
        assert broker.isolate(2, ["clients"]).isolated_from == ["clients"]
        asked = pool.submit(client.metadata)
        with pytest.raises(TimeoutError):
            asked.result(0.3)
        assert broker.rejoin(2).isolated_from == []
        assert len(asked.result(SECONDS_MAX).brokers) == 3


def test_three_nodes_on_disk_start_again_with_everything(tmp_path: Path) -> None:
    with Broker({"default.replication.factor": "3"}, nodes=3, data_dir=tmp_path) as broker:
        broker.topics.create(TOPIC, partitions=3)
        send(new_producer(broker), range(30))
        broker.stop_node(2, controlled=False, noticed=True)

    with Broker(nodes=3, data_dir=tmp_path) as broker:
        assert consumed(broker, 30) == list(range(30))
        assert [sorted(each.isr) for each in broker.partitions(TOPIC)] == [NODES] * 3
