"""A producer that was made before a reset and sends again after it: its records are kept, and it is pointed out."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Message, Producer

from .producing import DELIVERED_SECONDS_MAX
from .transports import Broker

# The package has no type hints.
aiokafka = importlib.import_module("aiokafka")

pytestmark = pytest.mark.clients

TOPIC = "orders"


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def confluent_producer(broker: Broker) -> Producer:
    return Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, "log_level": 0})


def aiokafka_producer(broker: Broker) -> Any:
    return aiokafka.AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, enable_idempotence=True)


def send(producer: Producer, *values: str) -> list[int | None]:
    """Send each value as a batch of its own, and return the reported offsets."""
    offsets: list[int | None] = []

    def delivered(error: object, message: Message) -> None:
        assert error is None, error
        offsets.append(message.offset())

    for value in values:
        producer.produce(TOPIC, value=value, on_delivery=delivered)
        assert producer.flush(DELIVERED_SECONDS_MAX) == 0
    return offsets


def test_no_record_of_a_kept_confluent_producer_is_taken_for_that_of_a_new_one(broker: Broker) -> None:
    kept = confluent_producer(broker)
    send(kept, "0")
    broker.reset()

    of_new, of_kept = send(confluent_producer(broker), "a", "b"), send(kept, "1")

    # With the same producer id, sequence 1 would be a duplicate of "b".
    assert (of_new, of_kept) == ([0, 1], [2])
    verdict = broker.verdict(TOPIC)
    assert (verdict.batches.appended_once, verdict.batches.duplicates_recognised) == (3, 0)


def test_a_kept_confluent_producer_is_a_finding_and_has_a_flag_in_the_journal(broker: Broker) -> None:
    kept = confluent_producer(broker)
    send(kept, "0")
    broker.reset()

    send(kept, "1", "2")
    send(confluent_producer(broker), "a")

    batches = [batch for entry in broker.journal.entries(api="Produce") for batch in entry.batches]
    flagged = {(batch.producer_id, batch.producer_before_reset) for batch in batches}
    (finding,) = broker.verdict(TOPIC).findings
    assert flagged == {(0, True), (1, False)}
    assert (finding.kind, finding.partition, finding.producer_id) == ("producer_before_reset", 0, 0)
    assert (finding.offsets, finding.records) == ([0, 1], 2)


def test_a_kept_aiokafka_producer_goes_on_and_is_a_finding(broker: Broker) -> None:
    async def send_around_a_reset() -> list[int]:
        async with aiokafka_producer(broker) as producer:
            await producer.send_and_wait(TOPIC, b"0")
            broker.reset()
            return [int((await producer.send_and_wait(TOPIC, value)).offset) for value in (b"1", b"2")]

    offsets = asyncio.run(send_around_a_reset())

    assert offsets == [0, 1]
    assert [finding.kind for finding in broker.verdict(TOPIC).findings] == ["producer_before_reset"]


def test_a_kept_aiokafka_producer_and_a_new_one_lose_no_record(broker: Broker) -> None:
    async def send_from_both() -> None:
        async with aiokafka_producer(broker) as kept:
            for value in (b"0", b"1"):
                await kept.send_and_wait(TOPIC, value)
            broker.reset()
            async with aiokafka_producer(broker) as new:
                for value in (b"a", b"b", b"c"):
                    await new.send_and_wait(TOPIC, value)
            await kept.send_and_wait(TOPIC, b"2")

    asyncio.run(send_from_both())

    verdict = broker.verdict(TOPIC)
    assert (verdict.records.in_log, verdict.batches.duplicates_recognised) == (4, 0)
