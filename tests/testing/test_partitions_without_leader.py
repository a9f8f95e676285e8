"""Partitions that a test leaves without a leader, as clients see them, and the elections that end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer, ElectionType, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from .transports import Broker

TOPIC, OFFSETS = "orders", "__consumer_offsets"
SECONDS_MAX = 30
LEADERLESS = (-1, KafkaError.LEADER_NOT_AVAILABLE)


@pytest.fixture(params=[1, 3], ids=["one node", "three nodes"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker({"default.replication.factor": str(request.param)}, nodes=request.param) as started:
        started.topics.create(TOPIC, partitions=2)
        yield started


def metadata_of(broker: Broker, partition: int) -> tuple[int, int]:
    """Return the leader and the error of a partition, as librdkafka reads them."""
    client = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    found = client.list_topics(TOPIC, timeout=SECONDS_MAX).topics[TOPIC].partitions[partition]
    return found.leader, 0 if found.error is None else found.error.code()


def sent(broker: Broker, partition: int) -> int:
    """Return the error code of a record for a partition, for which the producer waits a second."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "message.timeout.ms": 1000}
    producer, errors = Producer(settings), list[int]()
    producer.produce(
        TOPIC,
        b"a",
        partition=partition,
        on_delivery=lambda error, _: errors.append(0 if error is None else error.code()),
    )
    producer.flush(SECONDS_MAX)
    return errors[0]


def test_clients_find_no_leader_of_this_partition_only(broker: Broker) -> None:
    before = broker.partitions(TOPIC)

    after = broker.move_leader(TOPIC, 0, None)

    assert (after.leader, after.leader_epoch, after.isr) == (-1, before[0].leader_epoch + 1, before[0].isr)
    assert metadata_of(broker, 0) == LEADERLESS
    assert metadata_of(broker, 1) == (before[1].leader, 0)
    assert sent(broker, 0) == KafkaError._MSG_TIMED_OUT
    assert sent(broker, 1) == 0


def test_the_leader_before_refuses_what_is_sent_to_it(broker: Broker) -> None:
    holding = broker.faults.held(topic=TOPIC)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "message.timeout.ms": 2000}
    producer, errors = Producer(settings), list[KafkaError | None]()
    producer.produce(TOPIC, b"a", partition=0, on_delivery=lambda error, _: errors.append(error))
    holding.await_hits(1)

    broker.move_leader(TOPIC, 0, None)
    broker.held.release()

    assert producer.flush(SECONDS_MAX) == 0
    assert errors == [KafkaError(KafkaError._MSG_TIMED_OUT)]
    assert broker.journal.count(api="Produce", error="NOT_LEADER_OR_FOLLOWER") >= 1
    assert broker.records(TOPIC) == []


def elect(broker: Broker, _: int) -> None:
    # Its stub does not say what the future returns.
    client: Any = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    client.elect_leaders(ElectionType.PREFERRED, [TopicPartition(TOPIC, 0)]).result(SECONDS_MAX)


def move(broker: Broker, leader: int) -> None:
    broker.move_leader(TOPIC, 0, leader)


def reset_faults(broker: Broker, _: int) -> None:
    broker.reset("faults")


@pytest.mark.parametrize("end", [elect, move, reset_faults])
def test_an_election_ends_it(broker: Broker, end: Callable[[Broker, int], None]) -> None:
    (before,) = broker.partitions(TOPIC, 0)
    sent(broker, 0)
    broker.move_leader(TOPIC, 0, None)

    end(broker, before.leader)

    (after,) = broker.partitions(TOPIC, 0)
    assert (after.leader, after.leader_epoch) == (before.leader, before.leader_epoch + 2)
    assert sent(broker, 0) == 0
    assert [record.leader_epoch for record in broker.records(TOPIC)] == [before.leader_epoch, after.leader_epoch]


def test_a_group_has_its_offsets_again_when_its_coordinator_has_a_leader(broker: Broker) -> None:
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"}
    with closing(Consumer(settings)) as consumer:
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, 7)], asynchronous=False)
    for each in broker.partitions(OFFSETS):
        broker.move_leader(OFFSETS, each.partition, None)

    with closing(Consumer(settings)) as consumer, pytest.raises(KafkaException):
        consumer.committed([TopicPartition(TOPIC, 0)], timeout=1)
    broker.reset("faults")

    with closing(Consumer(settings)) as consumer:
        assert [each.offset for each in consumer.committed([TopicPartition(TOPIC, 0)], timeout=SECONDS_MAX)] == [7]
