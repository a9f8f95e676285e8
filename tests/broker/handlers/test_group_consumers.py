"""Two real consumers in one group: they share the partitions; after one leaves, the other continues at its offsets."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Protocol

import pytest

from fauxka.testing import Broker

TOPIC = "shared"
PARTITION_COUNT = 4
RECORDS_PER_PARTITION = 20
WAIT_SECONDS_MAX = 15.0
POLL_MS = 50


class ConsumerRecord(Protocol):
    """A record as aiokafka returns it."""

    partition: int
    offset: int


class Consumer(Protocol):
    """The used methods of aiokafka.AIOKafkaConsumer, which has no types."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def commit(self) -> None: ...

    async def getmany(self, *, timeout_ms: int) -> Mapping[object, Sequence[ConsumerRecord]]: ...

    def assignment(self) -> set[object]: ...


class Producer(Protocol):
    """The used methods of aiokafka.AIOKafkaProducer."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def send_and_wait(self, topic: str, value: bytes, *, partition: int) -> object: ...


aiokafka = importlib.import_module("aiokafka")


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"group.initial.rebalance.delay.ms": "0"}) as running:
        running.call(lambda: running.cluster.controller.create_topic(TOPIC, PARTITION_COUNT))
        yield running


class Reader:
    """A consumer of the group, and the records that it has read."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.positions: list[tuple[int, int]] = []
        self.consumer: Consumer = aiokafka.AIOKafkaConsumer(
            TOPIC,
            bootstrap_servers=bootstrap_servers,
            group_id="team",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
        )

    async def read(self) -> None:
        """Read what is there, and take part in rebalances."""
        for records in (await self.consumer.getmany(timeout_ms=POLL_MS)).values():
            self.positions += [(record.partition, record.offset) for record in records]


async def _until(is_so: Callable[[], bool], step: Callable[[], Awaitable[None]], what: str) -> None:
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS_MAX
    while not is_so():
        assert asyncio.get_running_loop().time() < deadline, f"waited {WAIT_SECONDS_MAX} s for {what}"
        await step()


async def _produce(bootstrap_servers: str) -> None:
    producer: Producer = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap_servers)
    await producer.start()
    for number in range(PARTITION_COUNT * RECORDS_PER_PARTITION):
        await producer.send_and_wait(TOPIC, str(number).encode(), partition=number % PARTITION_COUNT)
    await producer.stop()


def _positions(first_offset: int) -> list[tuple[int, int]]:
    offsets = range(first_offset, first_offset + RECORDS_PER_PARTITION)
    return [(partition, offset) for partition in range(PARTITION_COUNT) for offset in offsets]


@pytest.mark.asyncio
async def test_two_consumers_share_a_topic_and_one_takes_over_from_the_other(broker: Broker) -> None:
    a, b = Reader(broker.bootstrap_servers), Reader(broker.bootstrap_servers)

    async def both() -> None:
        await asyncio.gather(a.read(), b.read())

    await _produce(broker.bootstrap_servers)
    await asyncio.gather(a.consumer.start(), b.consumer.start())
    await _until(
        lambda: len(a.consumer.assignment()) == len(b.consumer.assignment()) == PARTITION_COUNT // 2,
        both,
        "two partitions each",
    )
    await _until(lambda: {*a.positions, *b.positions} == {*_positions(0)}, both, "all records")
    await asyncio.gather(a.consumer.commit(), b.consumer.commit())

    await b.consumer.stop()
    await _until(lambda: len(a.consumer.assignment()) == PARTITION_COUNT, a.read, "all partitions")
    a.positions.clear()
    await _produce(broker.bootstrap_servers)
    await _until(lambda: len(a.positions) >= len(_positions(0)), a.read, "the new records")
    await a.consumer.stop()

    assert sorted(a.positions) == _positions(RECORDS_PER_PARTITION)
