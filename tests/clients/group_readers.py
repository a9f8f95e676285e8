"""Consumers of a group of several clients, which read and commit what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import confluent_kafka
from confluent_kafka import TopicPartition as ConfluentPartition

from .aiokafka_client import EventLoopBridge, aiokafka
from .kafka_python_client import kafka

TOPIC = "orders"
PATIENCE_S = 10
# A static member leaves no gap in the group, and this long a client that is gone has its partitions.
SESSION_MS = 6_000


class Reader(Protocol):
    """A consumer of the first partition of the topic, in a group."""

    def read(self, count: int) -> list[int]:
        """Read so many records, and return their offsets."""
        ...

    def commit(self, offset: int) -> None:
        """Commit an offset."""
        ...

    def seek(self, offset: int) -> None:
        """Go on at an offset."""
        ...

    def close(self) -> None:
        """Leave the group, without a commit."""
        ...


# Makes a reader: the address, the group, and options: client_id, instance, reset.
MakeReader = Callable[..., Reader]


class ConfluentReader:
    """confluent_kafka.Consumer."""

    protocol = "classic"

    def __init__(
        self,
        bootstrap: str,
        group: str,
        *,
        client_id: str = "worker",
        instance: str | None = None,
        reset: str = "earliest",
    ) -> None:
        config: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "client.id": client_id,
            "group.protocol": self.protocol,
            "auto.offset.reset": reset,
            "enable.auto.commit": False,
        }
        if instance is not None:
            config["group.instance.id"] = instance
        self._consumer = confluent_kafka.Consumer(config)
        self._consumer.subscribe([TOPIC])

    def read(self, count: int) -> list[int]:
        offsets: list[int] = []
        while len(offsets) < count:
            message = self._consumer.poll(PATIENCE_S)
            assert message is not None, f"{len(offsets)} of {count} records in {PATIENCE_S} s"
            if message.error() is None:
                offset = message.offset()
                assert offset is not None
                offsets.append(offset)
        return offsets

    def commit(self, offset: int) -> None:
        self._consumer.commit(offsets=[ConfluentPartition(TOPIC, 0, offset)], asynchronous=False)

    def seek(self, offset: int) -> None:
        self._consumer.seek(ConfluentPartition(TOPIC, 0, offset))

    def close(self) -> None:
        self._consumer.close()


class ConsumerProtocolReader(ConfluentReader):
    """confluent_kafka.Consumer with the consumer protocol (KIP-848)."""

    protocol = "consumer"


class AiokafkaReader:
    """aiokafka.AIOKafkaConsumer."""

    def __init__(
        self,
        bootstrap: str,
        group: str,
        *,
        client_id: str = "worker",
        instance: str | None = None,
        reset: str = "earliest",
    ) -> None:
        self._loop = EventLoopBridge()
        self._consumer: Any = None
        self._loop.run(self._start(bootstrap, group, client_id, instance, reset))

    async def _start(self, bootstrap: str, group: str, client_id: str, instance: str | None, reset: str) -> None:
        self._consumer = aiokafka.AIOKafkaConsumer(
            TOPIC,
            bootstrap_servers=bootstrap,
            group_id=group,
            client_id=client_id,
            group_instance_id=instance,
            auto_offset_reset=reset,
            enable_auto_commit=False,
        )
        await self._consumer.start()

    def read(self, count: int) -> list[int]:
        return self._loop.run(self._read(count))

    async def _read(self, count: int) -> list[int]:
        return [(await asyncio.wait_for(self._consumer.getone(), PATIENCE_S)).offset for _ in range(count)]

    def commit(self, offset: int) -> None:
        self._loop.run(self._consumer.commit({aiokafka.TopicPartition(TOPIC, 0): offset}))

    def seek(self, offset: int) -> None:
        self._consumer.seek(aiokafka.TopicPartition(TOPIC, 0), offset)

    def close(self) -> None:
        self._loop.run(self._consumer.stop())
        self._loop.close()


class KafkaPythonReader:
    """kafka.KafkaConsumer."""

    def __init__(
        self,
        bootstrap: str,
        group: str,
        *,
        client_id: str = "worker",
        instance: str | None = None,
        reset: str = "earliest",
    ) -> None:
        self._consumer: Any = kafka.KafkaConsumer(
            TOPIC,
            bootstrap_servers=bootstrap,
            group_id=group,
            client_id=client_id,
            group_instance_id=instance,
            auto_offset_reset=reset,
            enable_auto_commit=False,
            consumer_timeout_ms=PATIENCE_S * 1000,
        )

    def read(self, count: int) -> list[int]:
        return [next(self._consumer).offset for _ in range(count)]

    def commit(self, offset: int) -> None:
        committed = kafka.OffsetAndMetadata(offset, "", -1)
        self._consumer.commit({kafka.TopicPartition(TOPIC, 0): committed})

    def seek(self, offset: int) -> None:
        self._consumer.seek(kafka.TopicPartition(TOPIC, 0), offset)

    def close(self) -> None:
        self._consumer.close(autocommit=False)


READERS: dict[str, MakeReader] = {
    "confluent-kafka": ConfluentReader,
    "confluent-kafka, KIP-848": ConsumerProtocolReader,
    "aiokafka": AiokafkaReader,
    "kafka-python": KafkaPythonReader,
}
