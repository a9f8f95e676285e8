"""Applications of several clients that copy the events of a topic to another, step by step as a test says."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import confluent_kafka
from confluent_kafka import TopicPartition as ConfluentPartition

from .aiokafka_client import EventLoopBridge, aiokafka

FROM_TOPIC, TO_TOPIC, GROUP = "orders", "invoices", "billing"
PATIENCE_S = 20
READ_MS = 1_000


class Copier(ABC):
    """An application that reads partition 0 of a topic, in a group, and writes to another topic."""

    @abstractmethod
    def read(self, count: int) -> list[bytes]:
        """Read so many records, and return their event ids."""

    @abstractmethod
    def write(self, event_id: bytes) -> None:
        """Write an event, and wait until it is acknowledged."""

    @abstractmethod
    def commit(self) -> None:
        """Commit the offset behind the last record that was read, outside of a transaction."""

    @abstractmethod
    def begin(self) -> None:
        """Begin a transaction."""

    @abstractmethod
    def add_offsets(self) -> None:
        """Commit the offset behind the last record that was read in the transaction."""

    @abstractmethod
    def end(self, *, commits: bool) -> None:
        """Commit or abort the transaction."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group without a commit, as a program that has failed."""

    def _read_with(self, receive: Callable[[int], list[bytes]], count: int) -> list[bytes]:
        event_ids: list[bytes] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(event_ids) < count:
            assert time.monotonic() < deadline, f"{len(event_ids)} of {count} records in {PATIENCE_S} s"
            event_ids += receive(count - len(event_ids))
        return event_ids


# Makes a copier: the address; transactional_id: None without transactions; isolation: of its consumer.
MakeCopier = Callable[..., Copier]


class ConfluentCopier(Copier):
    """confluent_kafka.Consumer and Producer."""

    def __init__(self, bootstrap: str, transactional_id: str | None = None, isolation: str = "read_committed") -> None:
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": isolation,
                "fetch.wait.max.ms": 100,
            }
        )
        self._consumer.subscribe([FROM_TOPIC])
        config: dict[str, Any] = {"bootstrap.servers": bootstrap, "linger.ms": 0}
        if transactional_id is not None:
            config["transactional.id"] = transactional_id
        self._producer = confluent_kafka.Producer(config)
        if transactional_id is not None:
            self._producer.init_transactions(PATIENCE_S)
        self._next_offset = 0

    def read(self, count: int) -> list[bytes]:
        return self._read_with(self._receive, count)

    def _receive(self, most: int) -> list[bytes]:
        event_ids: list[bytes] = []
        for message in self._consumer.consume(most, READ_MS / 1000):
            headers, offset = message.headers(), message.offset()
            if message.error() is None and isinstance(headers, list) and offset is not None:
                event_id = dict(headers)["id"]
                assert isinstance(event_id, bytes), "a header of a record is bytes"
                event_ids.append(event_id)
                self._next_offset = offset + 1
        return event_ids

    def write(self, event_id: bytes) -> None:
        self._producer.produce(TO_TOPIC, b"invoice", headers=[("id", event_id)])
        assert self._producer.flush(PATIENCE_S) == 0

    def commit(self) -> None:
        self._consumer.commit(offsets=self._offsets(), asynchronous=False)

    def _offsets(self) -> list[ConfluentPartition]:
        return [ConfluentPartition(FROM_TOPIC, 0, self._next_offset)]

    def begin(self) -> None:
        self._producer.begin_transaction()

    def add_offsets(self) -> None:
        metadata = self._consumer.consumer_group_metadata()
        self._producer.send_offsets_to_transaction(self._offsets(), metadata, PATIENCE_S)

    def end(self, *, commits: bool) -> None:
        if commits:
            self._producer.commit_transaction(PATIENCE_S)
        else:
            self._producer.abort_transaction(PATIENCE_S)

    def close(self) -> None:
        self._consumer.close()


class AiokafkaCopier(Copier):
    """aiokafka.AIOKafkaConsumer and AIOKafkaProducer."""

    def __init__(self, bootstrap: str, transactional_id: str | None = None, isolation: str = "read_committed") -> None:
        self._loop = EventLoopBridge()
        self._next_offset = 0

        async def start() -> tuple[Any, Any]:
            consumer = aiokafka.AIOKafkaConsumer(
                FROM_TOPIC,
                bootstrap_servers=bootstrap,
                group_id=GROUP,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                isolation_level=isolation,
                fetch_max_wait_ms=100,
            )
            producer = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
            await consumer.start()
            await producer.start()
            return consumer, producer

        self._consumer, self._producer = self._loop.run(start())

    def read(self, count: int) -> list[bytes]:
        return self._read_with(self._receive, count)

    def _receive(self, most: int) -> list[bytes]:
        found = self._loop.run(self._consumer.getmany(timeout_ms=READ_MS, max_records=most))
        records: list[Any] = [each for records in found.values() for each in records]
        if records:
            self._next_offset = records[-1].offset + 1
        return [dict(each.headers)["id"] for each in records]

    def write(self, event_id: bytes) -> None:
        self._loop.run(self._producer.send_and_wait(TO_TOPIC, b"invoice", headers=[("id", event_id)]))

    def commit(self) -> None:
        self._loop.run(self._consumer.commit(self._offsets()))

    def _offsets(self) -> dict[Any, int]:
        return {aiokafka.TopicPartition(FROM_TOPIC, 0): self._next_offset}

    def begin(self) -> None:
        self._loop.run(self._producer.begin_transaction())

    def add_offsets(self) -> None:
        self._loop.run(self._producer.send_offsets_to_transaction(self._offsets(), GROUP))

    def end(self, *, commits: bool) -> None:
        self._loop.run(self._producer.commit_transaction() if commits else self._producer.abort_transaction())

    def close(self) -> None:
        self._loop.run(self._consumer.stop())
        self._loop.run(self._producer.stop())
        self._loop.close()


COPIERS: dict[str, MakeCopier] = {"confluent-kafka": ConfluentCopier, "aiokafka": AiokafkaCopier}
