"""Connected consumers over an advance of the clock by thirty days: they read nothing twice, unless they are expired."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException

from fauxka.testing import Broker

from .aiokafka_client import aiokafka as aiokafka_package
from .kafka_python_client import kafka

pytestmark = pytest.mark.clients

TOPIC, GROUP = "orders", "billing"
DAYS_30_MS = 30 * 24 * 3600 * 1000
BEFORE, AFTER = [b"1", b"2", b"3"], [b"4", b"5"]
READ_SECONDS_MAX = 30
# Long enough for a consumer that begins again at the first record.
IDLE_SECONDS = 1.5
POLL_SECONDS = 0.1

# Reads the next values, at least so many; with 0 those that come within IDLE_SECONDS. It commits them.
Read = Callable[[int], list[bytes]]


def _read(poll: Callable[[], Iterable[bytes]], count: int) -> list[bytes]:
    values: list[bytes] = []
    until = time.monotonic() + (READ_SECONDS_MAX if count else IDLE_SECONDS)
    while time.monotonic() < until and (not count or len(values) < count):
        values += poll()
    return values


@contextmanager
def confluent(address: str, **configs: str | int) -> Generator[Read]:
    """A consumer of librdkafka."""
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": GROUP, "auto.offset.reset": "earliest"}
        | {name.replace("_", "."): value for name, value in configs.items()}
    )
    consumer.subscribe([TOPIC])

    def poll() -> Iterator[bytes]:
        for message in consumer.consume(10, POLL_SECONDS):
            value = message.value()
            assert isinstance(value, bytes), message.error()
            yield value

    def read(count: int) -> list[bytes]:
        values = _read(poll, count)
        if values:
            try:
                consumer.commit(asynchronous=False)
            except KafkaException as error:
                # A rebalance has taken the partition meanwhile, and its next owner reads the values again.
                if error.args[0].code() != KafkaError._NO_OFFSET:
                    raise
        return values

    try:
        yield read
    finally:
        consumer.close()


@contextmanager
def static_confluent(address: str) -> Generator[Read]:
    """A static member of the classic protocol."""
    with confluent(address, group_instance_id="till-1") as read:
        yield read


@contextmanager
def consumer_protocol(address: str) -> Generator[Read]:
    """A member of the consumer protocol (KIP-848)."""
    with confluent(address, group_protocol="consumer") as read:
        yield read


@contextmanager
def kafka_python(address: str) -> Generator[Read]:
    """A consumer of kafka-python."""
    consumer = kafka.KafkaConsumer(
        TOPIC,
        bootstrap_servers=address,
        group_id=GROUP,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        heartbeat_interval_ms=200,
    )
    # Until it has the metadata of a topic, it assigns no partition of it.
    consumer.partitions_for_topic(TOPIC)

    def poll() -> Iterator[bytes]:
        for records in consumer.poll(int(POLL_SECONDS * 1000)).values():
            yield from (record.value for record in records)

    def read(count: int) -> list[bytes]:
        values = _read(poll, count)
        if values:
            consumer.commit()
        return values

    try:
        yield read
    finally:
        consumer.close()


@contextmanager
def aiokafka(address: str) -> Generator[Read]:
    """A consumer of aiokafka."""
    with asyncio.Runner() as runner:

        async def start() -> Any:
            consumer: Any = aiokafka_package.AIOKafkaConsumer(
                TOPIC,
                bootstrap_servers=address,
                group_id=GROUP,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                heartbeat_interval_ms=200,
            )
            await consumer.start()
            return consumer

        consumer = runner.run(start())

        def poll() -> Iterator[bytes]:
            found = runner.run(consumer.getmany(timeout_ms=int(POLL_SECONDS * 1000)))
            for records in found.values():
                yield from (record.value for record in records if record.value is not None)

        def read(count: int) -> list[bytes]:
            values = _read(poll, count)
            if values:
                runner.run(consumer.commit())
            return values

        try:
            yield read
        finally:
            runner.run(consumer.stop())


Consume = Callable[[str], AbstractContextManager[Read]]
CONSUMERS: list[Consume] = [confluent, static_confluent, consumer_protocol, kafka_python, aiokafka]


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        broker.topics.create(TOPIC, configs={"retention.ms": -1})
        broker.topics.seed(TOPIC, BEFORE)
        yield broker


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_connected_consumer_reads_nothing_twice_after_thirty_days(broker: Broker, consumer: Consume) -> None:
    with consumer(broker.bootstrap_servers) as read:
        first = read(len(BEFORE))
        [member] = broker.groups.get(GROUP).members

        ended = broker.clock.advance(DAYS_30_MS).ended
        idle = read(0)
        broker.topics.seed(TOPIC, AFTER)
        second = read(len(AFTER)) + read(0)
        group = broker.groups.get(GROUP)

    assert (first, idle, second) == (BEFORE, [], AFTER)
    assert [each.member_id for each in group.members] == [member.member_id]
    assert [offset.offset for offset in group.offsets] == [len(BEFORE + AFTER)]
    assert (ended.members.count, ended.offsets.count, ended.groups.count) == (0, 0, 0)


# librdkafka ends a consumer of the consumer protocol whose group has been deleted.
@pytest.mark.parametrize("consumer", [confluent, kafka_python, aiokafka])
def test_an_expired_consumer_reads_everything_again(broker: Broker, consumer: Consume) -> None:
    with consumer(broker.bootstrap_servers) as read:
        first = read(len(BEFORE))
        [member] = broker.groups.get(GROUP).members

        ended = broker.clock.advance(DAYS_30_MS, members="expire").ended
        again = read(len(BEFORE))

    assert (first, again) == (BEFORE, BEFORE)
    assert (ended.members.count, ended.members.names) == (1, [f"{member.member_id} of {GROUP}"])
    assert (ended.offsets.count, ended.offsets.names) == (1, [GROUP])
    assert ended.groups.names == [GROUP]


def test_a_member_whose_client_is_gone_ends_and_the_other_one_stays(broker: Broker) -> None:
    address = broker.bootstrap_servers
    with confluent(address) as read, confluent(address, client_id="gone") as other:
        while not _is_stable(broker):
            other(0)
            read(0)
        [gone] = [each for each in broker.groups.get(GROUP).members if each.client_id == "gone"]
        with broker.faults.reset_connection(api="Heartbeat", client_id="gone", times=None) as rule:
            rule.await_hits(1)
            ended = broker.clock.advance(DAYS_30_MS).ended

        assert ended.members.names == [f"{gone.member_id} of {GROUP}"]
        assert ended.offsets.count == 0


def _is_stable(broker: Broker) -> bool:
    found = [group for group in broker.groups.list() if group.group_id == GROUP]
    return [(group.state, len(group.members)) for group in found] == [("Stable", 2)]
