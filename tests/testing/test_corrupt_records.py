"""One damaged record in a valid response to a Fetch, as consumers see it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from fauxka.faults.rule_error import RuleError

from ..clients.aiokafka_client import aiokafka
from ..clients.kafka_python_client import kafka
from .transports import Broker

pytestmark = pytest.mark.clients

SECONDS_MAX = 30
TOPIC = "orders"
# The lowest bit of the middle byte is another one.
VALUES = [f"value-{number}" for number in range(6)]
DAMAGED = VALUES[4].replace("u", "t")
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        running.topics.create(TOPIC, partitions=1)
        yield running


def produce(broker: Broker, codec: str = "none") -> None:
    """Produce two batches of three records."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "compression.type": codec, "linger.ms": 1000}
    producer = Producer(settings)
    for values in (VALUES[:3], VALUES[3:]):
        for value in values:
            producer.produce(TOPIC, value)
        assert producer.flush(SECONDS_MAX) == 0


def consume(broker: Broker, count: int, *, checks: bool = True) -> list[str | int]:
    """Return the first values that a consumer of librdkafka gets, and the codes of errors between them."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "check.crcs": checks}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    got: list[str | int] = []
    while len(got) < count:
        message = consumer.poll(SECONDS_MAX)
        assert message is not None, got
        error, value = message.error(), message.value()
        got.append(error.code() if error is not None else (value or b"").decode())
    consumer.close()
    return got


@pytest.mark.parametrize("codec", CODECS)
def test_recomputed_crc_hides_the_damage_of_one_record(broker: Broker, codec: str) -> None:
    produce(broker, codec)

    with broker.faults.corrupt_record(offset=4, crc="recomputed", topic=TOPIC) as rule:
        values = consume(broker, 6)
        assert rule.hits == 1

    assert values == [*VALUES[:4], DAMAGED, VALUES[5]]
    assert consume(broker, 6) == VALUES


@pytest.mark.parametrize("codec", CODECS)
def test_kept_crc_is_an_error_for_the_client(broker: Broker, codec: str) -> None:
    produce(broker, codec)
    broker.faults.corrupt_record(offset=4, topic=TOPIC)

    got = consume(broker, 7)

    # The consumer fetches the batch again.
    assert got == [*VALUES[:3], KafkaError._BAD_MSG, *VALUES[3:]]


def test_nth_record_of_the_response_is_damaged(broker: Broker) -> None:
    produce(broker)
    broker.faults.corrupt_record(nth=2, crc="recomputed")

    assert consume(broker, 2) == [VALUES[0], VALUES[1].replace("u", "t")]


def test_responses_without_the_record_are_no_hits(broker: Broker) -> None:
    produce(broker)
    rule = broker.faults.corrupt_record(offset=6, crc="recomputed")
    consume(broker, 6)
    before = rule.hits

    produce(broker)
    after = consume(broker, 7)[-1]

    assert (before, rule.hits, after) == (0, 1, VALUES[0].replace("u", "t"))


def test_journal_shows_the_damaged_response(broker: Broker) -> None:
    produce(broker)
    rule = broker.faults.corrupt_record(offset=0, crc="recomputed")
    consume(broker, 1)

    faults = [fault for each in broker.journal.entries() if each.api == "Fetch" for fault in each.faults]

    assert [(fault.rule, fault.point, fault.kind) for fault in faults] == [(rule.id, "applied", "corrupt_record")]


def test_aiokafka_and_kafka_python_find_the_wrong_crc(broker: Broker) -> None:
    produce(broker)
    with broker.faults.corrupt_record(offset=0, times=None):
        consumer = kafka.KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
        consumer.assign([kafka.TopicPartition(TOPIC, 0)])
        consumer.seek_to_beginning()
        with pytest.raises(Exception, match=r"(?i)crc|corrupt"):
            consumer.poll(SECONDS_MAX * 1000)
        consumer.close()

        async def read() -> None:
            reader = aiokafka.AIOKafkaConsumer(
                TOPIC, bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
            )
            await reader.start()
            try:
                await asyncio.wait_for(reader.getone(), SECONDS_MAX)
            finally:
                await reader.stop()

        with pytest.raises(Exception, match=r"(?i)crc|corrupt"):
            asyncio.run(read())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"offset": 1, "nth": 2}, "offset chooses the record"),
        ({"api": "ShareFetch"}, "corrupt_record is for Fetch"),
        ({"crc": "none"}, "crc"),
        ({"nth": 0}, "nth"),
    ],
)
def test_invalid_rule_is_refused(broker: Broker, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RuleError, match=message):
        broker.faults.corrupt_record(**fields)
