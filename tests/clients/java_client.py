"""The Java client, through ClientDriver.java in one virtual machine."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

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
from .java_program import JavaProgram
from .records import Record, StoredRecord


class JavaClient:
    """Drives KafkaProducer, KafkaConsumer and Admin."""

    # It asks for the metadata again and again, and gives up after max.block.ms with a TimeoutException.
    unknown_topic_code: ClassVar[int] = REQUEST_TIMED_OUT

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port"."""
        limits = [REQUEST_BYTES_MAX, int(STEP_SECONDS_MAX * 1000), HEARTBEAT_MS, SESSION_MS]
        self._program = JavaProgram("ClientDriver", bootstrap, *map(str, limits))

    def close(self) -> None:
        """End the program."""
        self._program.close()

    def call(self, name: str, **arguments: object) -> Any:
        """Return the result of one call. Raises ClientError with the code that the program answers."""
        answer = self._program.ask({"call": name, **arguments})
        if "error" in answer:
            raise ClientError(answer["error"], answer["message"])
        return answer["result"]

    def produce(
        self, topic: str, records: Sequence[Record], compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> list[int]:
        """Send all, and wait for the answer of each."""
        return send_all(self.start_producer(topic, compression, patience_ms), records)

    def start_producer(self, topic: str, compression: str = "none", patience_ms: int = PATIENCE_MS) -> "JavaProducer":
        """Start a producer."""
        started = self.call("start_producer", topic=topic, compression=compression, patience_ms=patience_ms)
        return JavaProducer(self, started)

    def consume(self, topic: str) -> list[StoredRecord]:
        """Read each partition up to the high watermark that it has now."""
        return [_stored(record) for record in self.call("consume", topic=topic)]

    def offset_for_timestamp(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """Ask with a consumer."""
        found: int | None = self.call(
            "offset_for_timestamp", topic=topic, partition=partition, timestamp_ms=timestamp_ms
        )
        return found

    def producer_states(self, topic: str, partition: int) -> list[dict[str, int]]:
        """Return what the broker remembers of each idempotent producer of a partition."""
        states: list[dict[str, int]] = self.call("producer_states", topic=topic, partition=partition)
        return states

    def join(self, group: str, topic: str) -> GroupMember:
        """Subscribe with a new consumer."""
        return JavaMember(self, self.call("join", group=group, topic=topic))

    def create_topic(self, topic: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Create a topic with one replica."""
        self.call("create_topic", topic=topic, partition_count=partition_count, configs=dict(configs))

    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""
        self.call("delete_topic", topic=topic)

    def add_partitions(self, topic: str, total: int) -> None:
        """Raise the number of partitions."""
        self.call("add_partitions", topic=topic, total=total)

    def partition_counts(self) -> dict[str, int]:
        """List all topics and describe each."""
        counts: dict[str, int] = self.call("partition_counts")
        return counts

    def topic_config(self, topic: str, key: str) -> str:
        """Describe the topic, which brings all keys."""
        value: str = self.call("topic_config", topic=topic, key=key)
        return value

    def alter_topic_config(self, topic: str, key: str, value: str) -> None:
        """Set one key, and leave the others."""
        self.call("alter_topic_config", topic=topic, key=key, value=value)


class JavaProducer:
    """A producer of one topic."""

    def __init__(self, client: JavaClient, producer: int) -> None:
        """producer: its number in the program."""
        self._client = client
        self._producer = producer

    def send(self, records: Sequence[Record]) -> None:
        """Queue records."""
        self._client.call("send", producer=self._producer, records=[_encoded(record) for record in records])

    def wait(self) -> list[int]:
        """Return the offset of each record."""
        offsets: list[int] = self._client.call("wait", producer=self._producer)
        return offsets

    def close(self) -> None:
        """Close it."""
        self._client.call("close_producer", producer=self._producer)


class JavaMember:
    """A consumer of a group."""

    def __init__(self, client: JavaClient, member: int) -> None:
        """member: its number in the program."""
        self._client = client
        self._member = member

    def poll(self) -> list[StoredRecord]:
        """Return what came."""
        return [_stored(record) for record in self._client.call("poll", member=self._member)]

    def assigned_partitions(self) -> set[int]:
        """Return the partitions of the last rebalance."""
        return set(self._client.call("assigned_partitions", member=self._member))

    def commit(self) -> None:
        """Commit positions."""
        self._client.call("commit", member=self._member)

    def close(self) -> list[StoredRecord]:
        """Leave the group."""
        self._client.call("leave", member=self._member)
        return []


def _encoded(record: Record) -> dict[str, object]:
    return {
        "partition": record.partition,
        "timestamp_ms": record.timestamp_ms,
        "key": _text_of(record.key),
        "value": _text_of(record.value),
        "headers": [[name, _text_of(value)] for name, value in record.headers],
    }


def _stored(record: dict[str, Any]) -> StoredRecord:
    return StoredRecord(
        record["offset"],
        Record(
            partition=record["partition"],
            key=_bytes_of(record["key"]),
            value=_bytes_of(record["value"]),
            headers=tuple((name, _bytes_of(value)) for name, value in record["headers"]),
            timestamp_ms=record["timestamp_ms"],
        ),
    )


def _text_of(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes_of(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
