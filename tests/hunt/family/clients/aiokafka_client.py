"""aiokafka. The event loop of a producer or of a member runs in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from ....clients.aiokafka_client import aiokafka, aiokafka_errors
from .client import (
    CALL_SECONDS_MAX,
    HEARTBEAT_MS,
    REQUEST_MS,
    RETRY_MS,
    SESSION_MS,
    Delivery,
    Failed,
    Headers,
    Offsets,
    Place,
    Reader,
    Reading,
    Record,
    Sender,
    Sending,
)

Result = TypeVar("Result")


class Loop:
    """An event loop in a thread, which ends with all tasks that are left in it."""

    def __init__(self) -> None:
        """Start it."""
        self._loop = asyncio.new_event_loop()
        self._is_closing = asyncio.Event()
        threading.Thread(target=self._run, name="aiokafka", daemon=True).start()

    def call(
        self,
        coroutine: Coroutine[Any, Any, Result],
        seconds: float = CALL_SECONDS_MAX,
        *,
        needs_abort: bool = False,
    ) -> Result:
        """Return the result of the coroutine. Raises Failed for what the client raises, and after so many seconds."""
        with _failing(needs_abort=needs_abort):
            return asyncio.run_coroutine_threadsafe(asyncio.wait_for(coroutine, seconds), self._loop).result()

    def close(self) -> None:
        """End what runs, without waiting for it."""
        self._loop.call_soon_threadsafe(self._is_closing.set)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._wait())

    async def _wait(self) -> None:
        # What ends in the middle complains of what it leaves open.
        asyncio.get_running_loop().set_exception_handler(lambda _, __: None)
        await self._is_closing.wait()


class AiokafkaClient:
    """Makes producers and members."""

    name = "aiokafka"

    def sender(self, bootstrap_servers: str, sending: Sending) -> Sender:
        """Make a producer. Raises Failed."""
        return AiokafkaSender(bootstrap_servers, sending)

    def reader(self, bootstrap_servers: str, reading: Reading) -> Reader:
        """Make a member. Raises Failed."""
        return AiokafkaReader(bootstrap_servers, reading)


class AiokafkaDelivery:
    """The future of a record."""

    def __init__(self, loop: Loop, future: asyncio.Future[Any]) -> None:
        """future: of the loop."""
        self._loop = loop
        self._future = future

    def wait(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Wait for it. Raises Failed."""
        self._loop.call(_awaited(self._future), seconds, needs_abort=True)

    def check(self) -> None:
        """Raise Failed if it has failed."""
        if self._future.done() and (error := self._future.exception()) is not None:
            raise Failed(repr(error), needs_abort=True)


class AiokafkaSender:
    """A producer."""

    def __init__(self, bootstrap_servers: str, sending: Sending) -> None:
        """Start it. Raises Failed."""
        self._loop = Loop()
        self._deliveries: list[asyncio.Future[Any]] = []
        acks: str | int = "all" if sending.acks == "all" else int(sending.acks)
        config: dict[str, Any] = {"acks": acks, "enable_idempotence": sending.is_idempotent}
        if sending.transactional_id is not None:
            config["transactional_id"] = sending.transactional_id
        if sending.is_single:
            # A batch has its first record, whatever its size is.
            config["max_batch_size"] = 1
        try:
            self._producer = self._loop.call(self._started(bootstrap_servers, config))
        except Failed:
            self._loop.close()
            raise

    def send(self, topic: str, value: bytes, key: bytes | None = None, headers: Headers = ()) -> Delivery:
        """Send a record. Raises Failed."""
        future = self._loop.call(self._producer.send(topic, value, key, headers=list(headers)), needs_abort=True)
        self._deliveries.append(future)
        return AiokafkaDelivery(self._loop, future)

    def flush(self, seconds: float = CALL_SECONDS_MAX) -> bool:
        """Return whether no record waits any more."""
        waiting = [future for future in self._deliveries if not future.done()]
        if waiting:
            self._loop.call(asyncio.wait(waiting, timeout=seconds), seconds + CALL_SECONDS_MAX)
        return all(future.done() for future in waiting)

    def begin(self) -> None:
        """Begin a transaction. Raises Failed."""
        self._loop.call(self._producer.begin_transaction())

    def send_offsets(self, offsets: Offsets, reader: Reader) -> None:
        """Commit offsets with the transaction. Raises Failed."""
        assert isinstance(reader, AiokafkaReader), "of the same client"
        self._loop.call(self._producer.send_offsets_to_transaction(_of_client(offsets), reader.group))

    def commit(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Commit the transaction. Raises Failed."""
        self._loop.call(self._producer.commit_transaction(), seconds)

    def abort(self) -> None:
        """Abort the transaction. Raises Failed."""
        self._loop.call(self._producer.abort_transaction())

    def close(self, seconds: float = 0.0) -> None:
        """End the producer, and the loop with what is left."""
        self.flush(seconds)
        self._loop.close()

    async def _started(self, bootstrap_servers: str, config: dict[str, Any]) -> Any:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=bootstrap_servers,
            request_timeout_ms=REQUEST_MS,
            retry_backoff_ms=RETRY_MS,
            **config,
        )
        await producer.start()
        return producer


class AiokafkaReader:
    """A member of a group."""

    def __init__(self, bootstrap_servers: str, reading: Reading) -> None:
        """Start it. Raises Failed."""
        self._loop = Loop()
        self.group = reading.group
        try:
            self._consumer = self._loop.call(self._started(bootstrap_servers, reading))
        except Failed:
            self._loop.close()
            raise

    def poll(self, most: int, seconds: float = 1.0) -> list[Record]:
        """Return the next records. Raises Failed."""
        found = self._loop.call(self._consumer.getmany(timeout_ms=int(1000 * seconds), max_records=most))
        return [
            Record(Place(each.topic, each.partition), each.offset, each.key, each.value)
            for records in found.values()
            for each in records
        ]

    def committed(self, place: Place) -> int:
        """Return the committed offset. Raises Failed."""
        return self._loop.call(self._consumer.committed(aiokafka.TopicPartition(*place))) or 0

    def position(self, place: Place) -> int:
        """Return the position. Raises Failed."""
        return int(self._loop.call(self._consumer.position(aiokafka.TopicPartition(*place))))

    def seek(self, place: Place, offset: int) -> None:
        """Go on there. Raises Failed."""
        self._loop.call(self._sought(place, offset))

    def commit(self, offsets: Offsets) -> None:
        """Commit. Raises Failed."""
        self._loop.call(self._consumer.commit(_of_client(offsets)))

    def close(self) -> None:
        """Leave the group."""
        try:
            self._loop.call(self._consumer.stop())
        finally:
            self._loop.close()

    async def _started(self, bootstrap_servers: str, reading: Reading) -> Any:
        consumer = aiokafka.AIOKafkaConsumer(
            *reading.topics,
            bootstrap_servers=bootstrap_servers,
            request_timeout_ms=REQUEST_MS,
            retry_backoff_ms=RETRY_MS,
            group_id=reading.group,
            enable_auto_commit=reading.commits_by_itself,
            auto_commit_interval_ms=100,
            auto_offset_reset="earliest",
            isolation_level="read_committed" if reading.is_committed_only else "read_uncommitted",
            session_timeout_ms=SESSION_MS,
            max_poll_interval_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
        )
        await consumer.start()
        return consumer

    async def _sought(self, place: Place, offset: int) -> None:
        self._consumer.seek(aiokafka.TopicPartition(*place), offset)


async def _awaited(future: asyncio.Future[Any]) -> None:
    await asyncio.shield(future)


@contextmanager
def _failing(*, needs_abort: bool) -> Generator[None]:
    """Raise Failed for what the client raises."""
    try:
        yield
    except (aiokafka_errors.KafkaError, TimeoutError, OSError, AssertionError) as error:
        is_fenced = isinstance(error, aiokafka_errors.ProducerFenced)
        raise Failed(repr(error), needs_abort=needs_abort and not is_fenced) from error


def _of_client(offsets: Offsets) -> dict[object, int]:
    return {aiokafka.TopicPartition(*place): offset for place, offset in offsets.items()}
