"""kafka-python 3."""

import importlib
import queue
import threading
import time
import warnings
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from typing import Any, ClassVar, NamedTuple, Protocol

from .client import (
    HEARTBEAT_MS,
    PATIENCE_MS,
    REQUEST_BYTES_MAX,
    REQUEST_TIMED_OUT,
    SESSION_MS,
    STEP_SECONDS_MAX,
    ClientError,
    GroupMember,
    send_all,
)
from .record_queue import RecordQueue
from .records import Headers, Record, StoredRecord

# The package has no types; what is used of it is said below. It reads files by a function that Python is giving up.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="(read|open)_text is deprecated", category=DeprecationWarning)
    kafka = importlib.import_module("kafka")
    kafka_admin = importlib.import_module("kafka.admin")
    kafka_errors = importlib.import_module("kafka.errors")

# What the client reports without a code of Kafka's: a commit that a rebalance has overtaken.
NO_CODE = -1

POLL_MS = 100

# Longer than a rebalance takes.
MEMBER_POLL_MS = 1_000


class TopicPartition(NamedTuple):
    """kafka.TopicPartition, which is a named tuple as well and equal to this one."""

    topic: str
    partition: int


class FoundOffset(Protocol):
    """A record found by its timestamp."""

    offset: int


class ConsumerRecord(Protocol):
    """A record as the consumer returns it."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


class RecordMetadata(Protocol):
    """Where a record went."""

    offset: int


class SendFuture(Protocol):
    """The answer for one record."""

    def get(self, timeout: float) -> RecordMetadata:
        """Wait for it."""
        ...


class Producer(Protocol):
    """kafka.KafkaProducer."""

    def send(
        self,
        topic: str,
        *,
        value: bytes | None,
        key: bytes | None,
        headers: list[tuple[str, bytes | None]],
        partition: int,
        timestamp_ms: int,
    ) -> SendFuture:
        """Queue one record."""
        ...

    def close(self, timeout: float | None = None) -> None:
        """Send what is queued, and close."""
        ...


class Consumer(Protocol):
    """kafka.KafkaConsumer."""

    def assign(self, partitions: list[TopicPartition]) -> None:
        """Read these partitions, without a group."""
        ...

    def subscribe(self, topics: list[str]) -> None:
        """Join the group for these topics."""
        ...

    def assignment(self) -> set[TopicPartition]:
        """Return the partitions assigned by the user or by the group."""
        ...

    def end_offsets(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the high watermarks."""
        ...

    def offsets_for_times(self, timestamps: dict[TopicPartition, int]) -> dict[TopicPartition, FoundOffset | None]:
        """Return the first record at each timestamp or after it."""
        ...

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Return what came."""
        ...

    def commit(self) -> None:
        """Commit the positions."""
        ...

    def close(self) -> None:
        """Leave the group, and close."""
        ...


class Admin(Protocol):
    """kafka.KafkaAdminClient: raises for what was refused."""

    def create_topics(self, new_topics: Mapping[str, Mapping[str, object]]) -> object:
        """Take the options of each topic."""
        ...

    def delete_topics(self, topics: list[str]) -> object:
        """Take names."""
        ...

    def create_partitions(self, topic_partitions: Mapping[str, object]) -> object:
        """Take NewPartitions objects."""
        ...

    def describe_topics(self) -> list[dict[str, Any]]:
        """Return the metadata of all topics."""
        ...

    def describe_configs(
        self, config_resources: list[object], *, config_filter: str
    ) -> dict[str, dict[str, dict[str, dict[str, object]]]]:
        """Return type, name, key and what is known of the key."""
        ...

    def alter_configs(self, config_resources: list[object]) -> object:
        """Set the keys of ConfigResource objects."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class KafkaPythonClient:
    """Drives kafka.KafkaProducer, KafkaConsumer and KafkaAdminClient."""

    # It asks for the metadata again and again, and gives up after max_block_ms without the broker's reason.
    unknown_topic_code: ClassVar[int] = REQUEST_TIMED_OUT

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port"."""
        self._bootstrap = bootstrap
        self._admin: Admin = kafka.KafkaAdminClient(bootstrap_servers=bootstrap)

    def close(self) -> None:
        """Close the administrator."""
        self._admin.close()

    def produce(
        self, topic: str, records: Sequence[Record], compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> list[int]:
        """Send all, and wait for the answer of each."""
        return send_all(self.start_producer(topic, compression, patience_ms), records)

    def start_producer(
        self, topic: str, compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> "KafkaPythonProducer":
        """Start a producer."""
        producer: Producer = kafka.KafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if compression == "none" else compression,
            max_request_size=REQUEST_BYTES_MAX,
            max_block_ms=patience_ms,
            enable_idempotence=True,
        )
        return KafkaPythonProducer(producer, topic)

    def consume(self, topic: str) -> list[StoredRecord]:
        """Read each partition up to the high watermark that it has now."""
        partitions = [TopicPartition(topic, index) for index in range(self.partition_counts()[topic])]
        with closing(self._consumer(None)) as consumer:
            consumer.assign(partitions)
            return _poll_until(consumer, sum(consumer.end_offsets(partitions).values()))

    def offset_for_timestamp(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """Ask with a consumer."""
        asked = TopicPartition(topic, partition)
        with closing(self._consumer(None)) as consumer:
            found = consumer.offsets_for_times({asked: timestamp_ms})[asked]
        return None if found is None else found.offset

    def join(self, group: str, topic: str) -> GroupMember:
        """Subscribe with a new consumer."""
        return KafkaPythonMember(self._consumer(group), topic)

    def create_topic(self, topic: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Create a topic with one replica."""
        with _reporting_errors():
            options = {"num_partitions": partition_count, "replication_factor": 1, "configs": dict(configs)}
            self._admin.create_topics({topic: options})

    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""
        with _reporting_errors():
            self._admin.delete_topics([topic])

    def add_partitions(self, topic: str, total: int) -> None:
        """Raise the number of partitions."""
        with _reporting_errors():
            self._admin.create_partitions({topic: kafka_admin.NewPartitions(total)})

    def partition_counts(self) -> dict[str, int]:
        """Ask for the metadata of all topics."""
        return {described["name"]: len(described["partitions"]) for described in self._admin.describe_topics()}

    def topic_config(self, topic: str, key: str) -> str:
        """Describe one key."""
        resource = kafka_admin.ConfigResource("TOPIC", topic, [key])
        described = self._admin.describe_configs([resource], config_filter="all")
        value = described["topic"][topic][key]["value"]
        assert isinstance(value, str), f"{key} has no value"
        return value

    def alter_topic_config(self, topic: str, key: str, value: str) -> None:
        """Set one key, and leave the others."""
        with _reporting_errors():
            self._admin.alter_configs([kafka_admin.ConfigResource("TOPIC", topic, {key: value})])

    def _consumer(self, group: str | None) -> Consumer:
        consumer: Consumer = kafka.KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
        )
        return consumer


class KafkaPythonProducer:
    """A producer of one topic."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self._futures: list[SendFuture] = []

    def send(self, records: Sequence[Record]) -> None:
        """Queue records."""
        with _reporting_errors():
            self._futures += [_send(self._producer, self._topic, record) for record in records]

    def wait(self) -> list[int]:
        """Return the offset of each record."""
        with _reporting_errors():
            return [future.get(STEP_SECONDS_MAX).offset for future in self._futures]

    def close(self) -> None:
        """Close it."""
        self._producer.close(STEP_SECONDS_MAX)


class KafkaPythonMember:
    """A consumer of a group in a thread of its own, as its users run it.

    kafka-python 3.0.12 loses a leader's assignment for good when a poll times out before SyncGroup is answered in a
    rebalance that new metadata brought about (ConsumerCoordinator.need_rejoin). So polls are long, and members answer
    one another's rebalances at the same time.
    """

    def __init__(self, consumer: Consumer, topic: str) -> None:
        """Subscribe, and begin to poll."""
        self._consumer = consumer
        self._consumer.subscribe([topic])
        self._records = RecordQueue()
        self._commits: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._poll_until_closed, name="kafka-python-member")
        self._thread.start()

    def poll(self) -> list[StoredRecord]:
        """Return what came."""
        return self._records.poll()

    def assigned_partitions(self) -> set[int]:
        """Return the partitions of the last rebalance."""
        return {assigned.partition for assigned in self._consumer.assignment()}

    def commit(self) -> None:
        """Commit positions."""
        committed: Future[None] = Future()
        self._commits.put(committed)
        committed.result(STEP_SECONDS_MAX)

    def close(self) -> list[StoredRecord]:
        """Leave the group, and return what the thread has polled since."""
        self._is_closing.set()
        self._thread.join(STEP_SECONDS_MAX)
        self._consumer.close()
        return self.poll()

    def _poll_until_closed(self) -> None:
        while not self._is_closing.is_set():
            for stored in _poll(self._consumer, MEMBER_POLL_MS):
                self._records.put(stored)
            while not self._commits.empty():
                self._commit(self._commits.get())

    def _commit(self, committed: Future[None]) -> None:
        try:
            self._consumer.commit()
        except kafka_errors.KafkaError as error:
            committed.set_exception(ClientError(NO_CODE, repr(error)))
        else:
            committed.set_result(None)


def _send(producer: Producer, topic: str, record: Record) -> SendFuture:
    return producer.send(
        topic,
        value=record.value,
        key=record.key,
        headers=list(record.headers),
        partition=record.partition,
        timestamp_ms=record.timestamp_ms,
    )


def _poll_until(consumer: Consumer, count: int) -> list[StoredRecord]:
    stored: list[StoredRecord] = []
    deadline = time.monotonic() + STEP_SECONDS_MAX
    while len(stored) < count:
        assert time.monotonic() < deadline, f"{len(stored)} of {count} records"
        stored.extend(_poll(consumer, POLL_MS))
    return stored


def _poll(consumer: Consumer, timeout_ms: int) -> list[StoredRecord]:
    return [_stored(record) for records in consumer.poll(timeout_ms).values() for record in records]


def _stored(record: ConsumerRecord) -> StoredRecord:
    headers: Headers = tuple((name, value) for name, value in record.headers)
    return StoredRecord(record.offset, Record(record.partition, record.key, record.value, headers, record.timestamp))


@contextmanager
def _reporting_errors() -> Generator[None, None, None]:
    try:
        yield
    except kafka_errors.BrokerResponseError as error:
        raise ClientError(error.errno, str(error)) from error
    except kafka_errors.KafkaTimeoutError as error:
        raise ClientError(REQUEST_TIMED_OUT, str(error)) from error
