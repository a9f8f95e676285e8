"""Topics with fauxka.records=generated: a made record at each offset, as consumers of several libraries read them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from fauxka.storage.generated_log import FIRST_TIMESTAMP_MS

from ..broker.transactional_client import TransactionalClient
from ..clients.aiokafka_client import aiokafka
from ..clients.kafka_python_client import kafka
from .transports import Broker

pytestmark = pytest.mark.clients

SECONDS_MAX = 60
TOPIC = "generated"
COUNT = 100_000
CONFIGS: dict[str, str | int | float | bool] = {
    "fauxka.records": "generated",
    "fauxka.generated.keys": 7,
    "fauxka.generated.value.bytes": 32,
}

Row = tuple[int, bytes | None, bytes | None]


@pytest.fixture(params=[1, 3], ids=["one node", "three nodes"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker({"default.replication.factor": request.param}, nodes=request.param) as running:
        running.topics.create(TOPIC, partitions=1, configs=CONFIGS)
        yield running


def expected(offset: int) -> Row:
    number = offset % 1000
    return offset, str(number % 7).encode(), f"{number:032}".encode()


def expect_all(rows: list[Row], first: int = 0) -> None:
    assert rows == [expected(offset) for offset in range(first, first + len(rows))]


def librdkafka_rows(broker: Broker, first: int, count: int, **settings: object) -> list[Row]:
    base = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "check.crcs": True}
    consumer: Any = Consumer({**base, **settings})
    consumer.assign([TopicPartition(TOPIC, 0, first)])
    rows: list[Row] = []
    while len(rows) < count:
        messages = consumer.consume(min(1000, count - len(rows)), SECONDS_MAX)
        assert messages, len(rows)
        rows += [(message.offset(), message.key(), message.value()) for message in messages]
    consumer.close()
    return rows


def test_librdkafka_reads_every_record(broker: Broker) -> None:
    expect_all(librdkafka_rows(broker, 0, COUNT))


def test_any_offset_has_its_record(broker: Broker) -> None:
    expect_all(librdkafka_rows(broker, 987_654_321_123, 2000), 987_654_321_123)


def test_read_committed_reads_the_same(broker: Broker) -> None:
    expect_all(librdkafka_rows(broker, 500, 2000, **{"isolation.level": "read_committed"}), 500)


def test_kafka_python_reads_every_record() -> None:
    with Broker() as broker:
        broker.topics.create(TOPIC, partitions=1, configs=CONFIGS)
        consumer = kafka.KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
        partition = kafka.TopicPartition(TOPIC, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning()
        rows: list[Row] = []
        while len(rows) < COUNT:
            polled = consumer.poll(SECONDS_MAX * 1000, max_records=10_000)
            rows += [(each.offset, each.key, each.value) for each in polled[partition]]
        consumer.close()

        expect_all(rows[:COUNT])


def test_aiokafka_reads_every_record() -> None:
    async def read(address: str) -> list[Row]:
        consumer = aiokafka.AIOKafkaConsumer(TOPIC, bootstrap_servers=address, auto_offset_reset="earliest")
        await consumer.start()
        rows: list[Row] = []
        try:
            while len(rows) < COUNT:
                polled = await consumer.getmany(timeout_ms=SECONDS_MAX * 1000)
                rows += [(each.offset, each.key, each.value) for records in polled.values() for each in records]
        finally:
            await consumer.stop()
        return rows

    with Broker() as broker:
        broker.topics.create(TOPIC, partitions=1, configs=CONFIGS)

        expect_all(asyncio.run(read(broker.bootstrap_servers))[:COUNT])


def test_offsets_and_timestamps_are_in_line(broker: Broker) -> None:
    consumer: Any = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "g"})
    watermarks = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), SECONDS_MAX)
    times = [FIRST_TIMESTAMP_MS - 5, FIRST_TIMESTAMP_MS + 12_345]
    found = [consumer.offsets_for_times([TopicPartition(TOPIC, 0, each)], SECONDS_MAX)[0].offset for each in times]
    consumer.assign([TopicPartition(TOPIC, 0, 12_345)])
    timestamp = consumer.poll(SECONDS_MAX).timestamp()[1]
    consumer.close()

    assert (watermarks, found, timestamp) == ((0, 10**12), [0, 12_345], times[1])


def test_end_is_rounded_up_to_whole_batches_and_waits() -> None:
    with Broker() as broker:
        broker.topics.create(TOPIC, partitions=1, configs={**CONFIGS, "fauxka.generated.records": 1500})
        rows = librdkafka_rows(broker, 0, 2000)
        consumer: Any = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "g"})
        consumer.assign([TopicPartition(TOPIC, 0, 2000)])
        after = consumer.poll(0.3)
        consumer.close()

        expect_all(rows)
        assert after is None


def test_produce_is_refused(broker: Broker) -> None:
    errors: list[object] = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(TOPIC, b"v", on_delivery=lambda error, _: errors.append(error and error.code()))
    producer.flush(SECONDS_MAX)

    assert errors == [KafkaError.POLICY_VIOLATION]


def test_verdict_does_not_read_generated_records(broker: Broker) -> None:
    librdkafka_rows(broker, 0, 1)

    assert broker.verdict(TOPIC).records.in_log == 0


def test_records_are_read_by_the_admin_api(broker: Broker) -> None:
    (record,) = broker.records(TOPIC, from_offset=5, to_offset=5)

    assert (record.offset, record.value) == (5, b"5".zfill(32))


def test_topic_survives_a_crash(broker: Broker) -> None:
    leader = broker.partitions(TOPIC)[0].leader
    librdkafka_rows(broker, 0, 1)

    broker.crash(node=leader, noticed=True)
    broker.restart(node=leader)

    expect_all(librdkafka_rows(broker, 0, 3000))


def test_topic_in_a_data_folder_is_loaded(tmp_path: Path) -> None:
    for _ in range(2):
        with Broker(data_dir=tmp_path) as broker:
            if not broker.topics.list():
                broker.topics.create(TOPIC, partitions=1, configs=CONFIGS)

            expect_all(librdkafka_rows(broker, 0, 3000))


def test_transaction_with_the_topic_ends_without_a_marker() -> None:
    with Broker() as broker, TransactionalClient(broker.bootstrap_servers) as client:
        broker.topics.create("events", partitions=1, configs=CONFIGS)
        producer = client.begin()

        assert client.end(producer, is_commit=True).error_code == 0
        assert client.state().transaction_state == "CompleteCommit"
