"""confluent-kafka, which is librdkafka with a Python face."""

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from typing import ClassVar, Protocol, TypeVar, cast

from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from .client import (
    HEARTBEAT_MS,
    PATIENCE_MS,
    REQUEST_BYTES_MAX,
    SESSION_MS,
    STEP_SECONDS_MAX,
    ClientError,
    GroupMember,
    send_all,
)
from .records import Record, StoredRecord

T = TypeVar("T")

# The package's admin module has no types that a checker accepts; what is used of it is said here.
admin = importlib.import_module("confluent_kafka.admin")


class ConfigValue(Protocol):
    """One key of a described resource."""

    value: str | None


class TopicMetadata(Protocol):
    """One topic of the metadata."""

    partitions: Mapping[int, object]


class Metadata(Protocol):
    """The metadata of a cluster."""

    topics: Mapping[str, TopicMetadata]


class Admin(Protocol):
    """confluent_kafka.admin.AdminClient: one future for each thing asked."""

    def create_topics(self, new_topics: list[object]) -> dict[str, Future[None]]:
        """Take NewTopic objects."""
        ...

    def delete_topics(self, topics: list[str]) -> dict[str, Future[None]]:
        """Take names."""
        ...

    def create_partitions(self, new_partitions: list[object]) -> dict[str, Future[None]]:
        """Take NewPartitions objects."""
        ...

    def describe_configs(self, resources: list[object]) -> dict[object, Future[dict[str, ConfigValue]]]:
        """Take ConfigResource objects."""
        ...

    def incremental_alter_configs(self, resources: list[object]) -> dict[object, Future[None]]:
        """Take ConfigResource objects with ConfigEntry objects in them."""
        ...

    def list_topics(self, *, timeout: float) -> Metadata:
        """Return the metadata of all topics."""
        ...


POLL_SECONDS = 0.1
POLL_RECORDS_MAX = 500


class ConfluentClient:
    """Drives confluent_kafka.Producer, Consumer and AdminClient."""

    unknown_topic_code: ClassVar[int] = KafkaError.UNKNOWN_TOPIC_OR_PART

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port"."""
        self._common: dict[str, str | int | float | bool] = {"bootstrap.servers": bootstrap}
        self._admin: Admin = admin.AdminClient({**self._common})

    def close(self) -> None:
        """Close nothing: librdkafka ends with the object."""

    def produce(
        self, topic: str, records: Sequence[Record], compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> list[int]:
        """Send all, and wait for the report of each."""
        return send_all(self.start_producer(topic, compression, patience_ms), records)

    def start_producer(
        self, topic: str, compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> "ConfluentProducer":
        """Start a producer."""
        config = {
            **self._common,
            "enable.idempotence": True,
            "compression.type": compression,
            "message.max.bytes": REQUEST_BYTES_MAX,
            "topic.metadata.propagation.max.ms": patience_ms,
        }
        return ConfluentProducer(config, topic)

    def consume(self, topic: str) -> list[StoredRecord]:
        """Read each partition up to the high watermark that it has now."""
        partitions = [TopicPartition(topic, index, 0) for index in range(self.partition_counts()[topic])]
        with closing(Consumer({**self._common, "group.id": "unused", "enable.auto.commit": False})) as consumer:
            count = sum(consumer.get_watermark_offsets(partition, STEP_SECONDS_MAX)[1] for partition in partitions)
            consumer.assign(partitions)
            return _poll_until(consumer, count)

    def offset_for_timestamp(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """Ask with a consumer; librdkafka answers with the end, -1, where there is none."""
        asked = TopicPartition(topic, partition, timestamp_ms)
        with closing(Consumer({**self._common, "group.id": "unused"})) as consumer:
            [found] = consumer.offsets_for_times([asked], timeout=STEP_SECONDS_MAX)
        return None if found.offset < 0 else found.offset

    def join(self, group: str, topic: str) -> GroupMember:
        """Subscribe with a new consumer."""
        times = {"heartbeat.interval.ms": HEARTBEAT_MS, "session.timeout.ms": SESSION_MS}
        return ConfluentMember({**self._common, **times, "group.id": group}, topic)

    def create_topic(self, topic: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Create a topic with one replica."""
        new = admin.NewTopic(topic, num_partitions=partition_count, replication_factor=1, config=dict(configs))
        _result_of(self._admin.create_topics([new])[topic])

    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""
        _result_of(self._admin.delete_topics([topic])[topic])

    def add_partitions(self, topic: str, total: int) -> None:
        """Raise the number of partitions."""
        _result_of(self._admin.create_partitions([admin.NewPartitions(topic, total)])[topic])

    def partition_counts(self) -> dict[str, int]:
        """Ask for the metadata of all topics."""
        topics = self._admin.list_topics(timeout=STEP_SECONDS_MAX).topics
        return {name: len(metadata.partitions) for name, metadata in topics.items()}

    def topic_config(self, topic: str, key: str) -> str:
        """Describe the topic, which brings all keys."""
        resource = admin.ConfigResource(admin.ResourceType.TOPIC, topic)
        value = _result_of(self._admin.describe_configs([resource])[resource])[key].value
        assert isinstance(value, str), f"{key} has no value"
        return value

    def alter_topic_config(self, topic: str, key: str, value: str) -> None:
        """Set one key, and leave the others."""
        entry = admin.ConfigEntry(key, value, incremental_operation=admin.AlterConfigOpType.SET)
        resource = admin.ConfigResource(admin.ResourceType.TOPIC, topic, incremental_configs=[entry])
        _result_of(self._admin.incremental_alter_configs([resource])[resource])


class ConfluentProducer:
    """A producer of one topic."""

    def __init__(self, config: Mapping[str, str | int | float | bool], topic: str) -> None:
        """Start it."""
        self._producer = Producer({**config})
        self._topic = topic
        self._reports: list[Future[int]] = []

    def send(self, records: Sequence[Record]) -> None:
        """Queue records."""
        for record in records:
            report: Future[int] = Future()
            self._reports.append(report)
            self._producer.produce(
                self._topic,
                value=record.value,
                key=record.key,
                partition=record.partition,
                on_delivery=_reporting_to(report),
                timestamp=record.timestamp_ms,
                headers=list(record.headers),
            )

    def wait(self) -> list[int]:
        """Wait for the report of each."""
        assert self._producer.flush(STEP_SECONDS_MAX) == 0, "records without an answer"
        return [report.result(timeout=0) for report in self._reports]

    def close(self) -> None:
        """Close nothing: librdkafka ends with the object."""


class ConfluentMember:
    """A consumer of a group; librdkafka's own threads keep it in the group between two polls."""

    def __init__(self, common: Mapping[str, str | int | float | bool], topic: str) -> None:
        """Subscribe."""
        self._consumer = Consumer({**common, "auto.offset.reset": "earliest", "enable.auto.commit": False})
        self._consumer.subscribe([topic])

    def poll(self) -> list[StoredRecord]:
        """Return what came."""
        return _poll(self._consumer)

    def assigned_partitions(self) -> set[int]:
        """Return the partitions of the last rebalance."""
        return {partition.partition for partition in self._consumer.assignment()}

    def commit(self) -> None:
        """Commit positions."""
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as exception:
            raise _client_error(exception) from exception

    def close(self) -> list[StoredRecord]:
        """Leave the group."""
        self._consumer.close()
        return []


def _reporting_to(report: Future[int]) -> Callable[[KafkaError | None, Message], None]:
    def on_delivery(error: KafkaError | None, message: Message) -> None:
        offset = message.offset()
        if error is not None:
            report.set_exception(ClientError(error.code(), error.str()))
        elif offset is None:
            report.set_exception(AssertionError("a delivered record has an offset"))
        else:
            report.set_result(offset)

    return on_delivery


def _poll_until(consumer: Consumer, count: int) -> list[StoredRecord]:
    stored: list[StoredRecord] = []
    deadline = time.monotonic() + STEP_SECONDS_MAX
    while len(stored) < count:
        assert time.monotonic() < deadline, f"{len(stored)} of {count} records"
        stored.extend(_poll(consumer))
    return stored


def _poll(consumer: Consumer) -> list[StoredRecord]:
    return [_stored(message) for message in consumer.consume(POLL_RECORDS_MAX, POLL_SECONDS)]


def _stored(message: Message) -> StoredRecord:
    error = message.error()
    if error is not None:
        raise ClientError(error.code(), error.str())
    kind, timestamp_ms = message.timestamp()
    partition, offset = message.partition(), message.offset()
    assert kind == TIMESTAMP_CREATE_TIME
    assert partition is not None and offset is not None
    headers = cast("list[tuple[str, bytes | None]] | None", message.headers())
    return StoredRecord(offset, Record(partition, message.key(), message.value(), tuple(headers or ()), timestamp_ms))


def _result_of(future: Future[T]) -> T:
    try:
        return future.result(STEP_SECONDS_MAX)
    except KafkaException as exception:
        raise _client_error(exception) from exception


def _client_error(exception: KafkaException) -> ClientError:
    error = exception.args[0]
    assert isinstance(error, KafkaError)
    return ClientError(error.code(), error.str())
