"""Consumers of a group of several clients, which read and commit what a test says."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import confluent_kafka
from confluent_kafka import TopicPartition as ConfluentPartition

from .aiokafka_client import EventLoopBridge, aiokafka, aiokafka_errors
from .kafka_python_client import kafka, kafka_errors

TOPIC = "orders"
PATIENCE_S = 10
READ_MS = 1_000
POLL_MS = 50
# kafka-python 3.0.12 stays without an assignment if a shorter poll ends in a rebalance.
KAFKA_PYTHON_POLL_MS = 500
# Configs of all readers, by Kafka's names with underscores: short waits, so that a test need not wait either, and
# heartbeats that notice a rebalance at once.
CONFIGS: dict[str, Any] = {
    "auto_offset_reset": "earliest",
    "enable_auto_commit": False,
    "retry_backoff_ms": 50,
    "fetch_max_wait_ms": 100,
    "heartbeat_interval_ms": 100,
    "metadata_max_age_ms": 60_000,
}


class Reader(ABC):
    """A consumer of the topic, in a group. Offsets are those of partition 0 where no partition is named.

    error: what the client raises.
    """

    error: ClassVar[type[Exception]]
    _is_closed = False

    def read(self, count: int) -> list[int]:
        """Read so many records, and return their offsets."""
        offsets: list[int] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(offsets) < count:
            assert time.monotonic() < deadline, f"{len(offsets)} of {count} records in {PATIENCE_S} s"
            offsets += [offset for _, offset in self.receive(READ_MS, count - len(offsets))]
        return offsets

    def poll(self) -> list[tuple[int, int]]:
        """Return the partitions and offsets of the records that come at once, perhaps none, and ignore errors."""
        with suppress(self.error):
            return self.receive(POLL_MS, 100)
        return []

    @abstractmethod
    def receive(self, wait_ms: int, most: int) -> list[tuple[int, int]]:
        """Return the partitions and offsets of the next records: those that come in this time, and at most so many."""

    @abstractmethod
    def commit(self, offset: int, partition: int = 0) -> None:
        """Commit an offset."""

    @abstractmethod
    def seek(self, offset: int) -> None:
        """Go on at an offset."""

    @abstractmethod
    def resubscribe(self) -> None:
        """Leave the group by unsubscribing, and subscribe again."""

    def close(self) -> None:
        """Leave the group, without a commit unless the client commits by itself. A second call has no effect."""
        is_closed, self._is_closed = self._is_closed, True
        if not is_closed:
            self._close()

    @abstractmethod
    def _close(self) -> None:
        """Close the client."""


# Makes a reader: the address and the group; options: client_id, and Kafka's configs with underscores.
MakeReader = Callable[..., Reader]


class ConfluentReader(Reader):
    """confluent_kafka.Consumer. consumer: the client itself."""

    protocol = "classic"
    error = confluent_kafka.KafkaException

    def __init__(
        self,
        bootstrap: str,
        group: str,
        *,
        client_id: str = "worker",
        **configs: Any,
    ) -> None:
        config: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "client.id": client_id,
            "group.protocol": self.protocol,
            "fetch.error.backoff.ms": 50,
            **{name.replace("_", "."): value for name, value in {**CONFIGS, **configs}.items()},
        }
        config["fetch.wait.max.ms"] = config.pop("fetch.max.wait.ms")
        config["topic.metadata.refresh.interval.ms"] = config.pop("metadata.max.age.ms")
        if self.protocol == "consumer":
            # The broker says how often its members send heartbeats.
            del config["heartbeat.interval.ms"]
        self.consumer = confluent_kafka.Consumer(config, logger=_Silent())
        self.consumer.subscribe([TOPIC])

    def receive(self, wait_ms: int, most: int) -> list[tuple[int, int]]:
        records: list[tuple[int, int]] = []
        for message in self.consumer.consume(most, wait_ms / 1000):
            partition, offset = message.partition(), message.offset()
            if message.error() is None and partition is not None and offset is not None:
                records.append((partition, offset))
        return records

    def commit(self, offset: int, partition: int = 0) -> None:
        self.consumer.commit(offsets=[ConfluentPartition(TOPIC, partition, offset)], asynchronous=False)

    def seek(self, offset: int) -> None:
        self.consumer.seek(ConfluentPartition(TOPIC, 0, offset))

    def resubscribe(self) -> None:
        self.consumer.unsubscribe()
        self.consumer.subscribe([TOPIC])

    def _close(self) -> None:
        self.consumer.close()


class _Silent:
    """A logger of librdkafka, which tells of each connection that a test resets."""

    def log(self, *_: object) -> None:
        """Log nothing."""


class ConsumerProtocolReader(ConfluentReader):
    """confluent_kafka.Consumer with the consumer protocol (KIP-848)."""

    protocol = "consumer"


class AiokafkaReader(Reader):
    """aiokafka.AIOKafkaConsumer."""

    error = aiokafka_errors.KafkaError

    def __init__(
        self,
        bootstrap: str,
        group: str,
        *,
        client_id: str = "worker",
        **configs: Any,
    ) -> None:
        self._loop = EventLoopBridge()

        async def start() -> Any:
            consumer = aiokafka.AIOKafkaConsumer(
                TOPIC,
                bootstrap_servers=bootstrap,
                group_id=group,
                client_id=client_id,
                **CONFIGS | configs,
            )
            await consumer.start()
            return consumer

        self._consumer: Any = self._loop.run(start())

    def receive(self, wait_ms: int, most: int) -> list[tuple[int, int]]:
        found = self._loop.run(self._consumer.getmany(timeout_ms=wait_ms, max_records=most))
        return [(each.partition, each.offset) for records in found.values() for each in records]

    def commit(self, offset: int, partition: int = 0) -> None:
        self._loop.run(self._consumer.commit({aiokafka.TopicPartition(TOPIC, partition): offset}))

    def seek(self, offset: int) -> None:
        self._consumer.seek(aiokafka.TopicPartition(TOPIC, 0), offset)

    def resubscribe(self) -> None:
        async def resubscribe() -> None:
            self._consumer.unsubscribe()
            self._consumer.subscribe([TOPIC])

        self._loop.run(resubscribe())

    def _close(self) -> None:
        self._loop.run(self._consumer.stop())
        self._loop.close()


class KafkaPythonReader(Reader):
    """kafka.KafkaConsumer."""

    error = kafka_errors.KafkaError

    def __init__(
        self,
        bootstrap: str,
        group: str,
        *,
        client_id: str = "worker",
        **configs: Any,
    ) -> None:
        chosen = CONFIGS | configs
        self._consumer: Any = kafka.KafkaConsumer(
            TOPIC,
            bootstrap_servers=bootstrap,
            group_id=group,
            client_id=client_id,
            **chosen,
        )
        self._commits: bool = chosen["enable_auto_commit"]

    def receive(self, wait_ms: int, most: int) -> list[tuple[int, int]]:
        found = self._consumer.poll(max(wait_ms, KAFKA_PYTHON_POLL_MS), max_records=most)
        return [(each.partition, each.offset) for records in found.values() for each in records]

    def commit(self, offset: int, partition: int = 0) -> None:
        committed = kafka.OffsetAndMetadata(offset, "", -1)
        self._consumer.commit({kafka.TopicPartition(TOPIC, partition): committed})

    def seek(self, offset: int) -> None:
        self._consumer.seek(kafka.TopicPartition(TOPIC, 0), offset)

    def resubscribe(self) -> None:
        self._consumer.unsubscribe()
        self._consumer.subscribe([TOPIC])

    def _close(self) -> None:
        self._consumer.close(autocommit=self._commits)


READERS: dict[str, MakeReader] = {
    "confluent-kafka": ConfluentReader,
    "confluent-kafka, KIP-848": ConsumerProtocolReader,
    "aiokafka": AiokafkaReader,
    "kafka-python": KafkaPythonReader,
}
