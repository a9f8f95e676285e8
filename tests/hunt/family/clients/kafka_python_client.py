"""kafka-python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ....clients.kafka_python_client import kafka, kafka_errors
from .client import (
    CALL_SECONDS_MAX,
    DELIVERY_MS,
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

_CALL_MS_MAX = int(1000 * CALL_SECONDS_MAX)
_CONNECTION: dict[str, Any] = {
    "request_timeout_ms": REQUEST_MS,
    "retry_backoff_ms": RETRY_MS,
    "reconnect_backoff_ms": RETRY_MS,
    "reconnect_backoff_max_ms": 10 * RETRY_MS,
    "bootstrap_timeout_ms": _CALL_MS_MAX,
}


class KafkaPythonClient:
    """Makes producers and members."""

    name = "kafka-python"

    def sender(self, bootstrap_servers: str, sending: Sending) -> Sender:
        """Make a producer. Raises Failed."""
        config: dict[str, Any] = {
            **_CONNECTION,
            "bootstrap_servers": bootstrap_servers,
            "delivery_timeout_ms": DELIVERY_MS,
            "max_block_ms": DELIVERY_MS,
            "acks": "all" if sending.acks == "all" else int(sending.acks),
            "enable_idempotence": sending.is_idempotent,
            "max_in_flight_requests_per_connection": sending.in_flight,
        }
        if sending.is_single:
            config["batch_size"] = 0
        if sending.retries is not None:
            config["retries"] = sending.retries
        if sending.transactional_id is not None:
            config["transactional_id"] = sending.transactional_id
        with _failing():
            sender = KafkaPythonSender(kafka.KafkaProducer(**config))
        if sending.transactional_id is not None:
            sender.initialise()
        return sender

    def reader(self, bootstrap_servers: str, reading: Reading) -> Reader:
        """Make a member. Raises Failed."""
        with _failing():
            consumer = kafka.KafkaConsumer(
                *reading.topics,
                **_CONNECTION | {"request_timeout_ms": 2 * SESSION_MS},
                bootstrap_servers=bootstrap_servers,
                group_id=reading.group,
                enable_auto_commit=reading.commits_by_itself,
                auto_commit_interval_ms=100,
                auto_offset_reset="earliest",
                isolation_level="read_committed" if reading.is_committed_only else "read_uncommitted",
                session_timeout_ms=SESSION_MS,
                max_poll_interval_ms=SESSION_MS,
                heartbeat_interval_ms=HEARTBEAT_MS,
            )
        return KafkaPythonReader(consumer, commits_by_itself=reading.commits_by_itself)


class KafkaPythonDelivery:
    """The future of a record."""

    def __init__(self, future: Any) -> None:
        """future: of the client."""
        self._future = future

    def wait(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Wait for it. Raises Failed."""
        with _failing(needs_abort=True):
            self._future.get(seconds)

    def check(self) -> None:
        """Raise Failed if it has failed."""
        if self._future.failed():
            raise Failed(repr(self._future.exception), needs_abort=True)


class KafkaPythonSender:
    """A producer."""

    def __init__(self, producer: Any) -> None:
        """producer: one of transactions is not initialised."""
        self._producer = producer

    def initialise(self) -> None:
        """Make it ready for transactions. Raises Failed, and is closed then."""
        try:
            with _failing():
                _limited(self._producer.init_transactions)
        except Failed:
            self.close()
            raise

    def send(self, topic: str, value: bytes, key: bytes | None = None, headers: Headers = ()) -> Delivery:
        """Send a record. Raises Failed."""
        with _failing(needs_abort=True):
            return KafkaPythonDelivery(self._producer.send(topic, value=value, key=key, headers=list(headers)))

    def flush(self, seconds: float = CALL_SECONDS_MAX) -> bool:
        """Return whether no record waits any more."""
        try:
            self._producer.flush(seconds)
        except kafka_errors.KafkaTimeoutError:
            return False
        return True

    def begin(self) -> None:
        """Begin a transaction. Raises Failed."""
        with _failing():
            self._producer.begin_transaction()

    def send_offsets(self, offsets: Offsets, reader: Reader) -> None:
        """Commit offsets with the transaction. Raises Failed."""
        assert isinstance(reader, KafkaPythonReader), "of the same client"
        metadata = reader.consumer.group_metadata()
        with _failing():
            _limited(lambda: self._producer.send_offsets_to_transaction(_of_client(offsets), metadata))

    def commit(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Commit the transaction. Raises Failed."""
        with _failing():
            _limited(self._producer.commit_transaction, seconds)

    def abort(self) -> None:
        """Abort the transaction. Raises Failed."""
        with _failing():
            _limited(self._producer.abort_transaction)

    def close(self, seconds: float = 0.0) -> None:
        """Stop the thread of the producer, which the end of a process stops, too."""
        try:
            self._producer.close(timeout=seconds)
        except kafka_errors.KafkaTimeoutError:
            self._producer._sender.force_close()


class KafkaPythonReader:
    """A member of a group."""

    def __init__(self, consumer: Any, *, commits_by_itself: bool) -> None:
        """consumer: it is subscribed."""
        self.consumer = consumer
        self._commits_by_itself = commits_by_itself

    def poll(self, most: int, seconds: float = 1.0) -> list[Record]:
        """Return the next records. Raises Failed."""
        with _failing():
            found = self.consumer.poll(timeout_ms=int(1000 * seconds), max_records=most)
        return [
            Record(Place(each.topic, each.partition), each.offset, each.key, each.value)
            for records in found.values()
            for each in records
        ]

    def committed(self, place: Place) -> int:
        """Return the committed offset. Raises Failed."""
        with _failing():
            return self.consumer.committed(kafka.TopicPartition(*place), timeout_ms=_CALL_MS_MAX) or 0

    def position(self, place: Place) -> int:
        """Return the position. Raises Failed."""
        with _failing():
            return self.consumer.position(kafka.TopicPartition(*place), timeout_ms=_CALL_MS_MAX) or 0

    def seek(self, place: Place, offset: int) -> None:
        """Go on there. Raises Failed."""
        with _failing():
            self.consumer.seek(kafka.TopicPartition(*place), offset)

    def commit(self, offsets: Offsets) -> None:
        """Commit. Raises Failed."""
        with _failing():
            self.consumer.commit(_of_client(offsets), timeout_ms=_CALL_MS_MAX)

    def close(self) -> None:
        """Leave the group."""
        with _failing():
            self.consumer.close(autocommit=self._commits_by_itself, timeout_ms=_CALL_MS_MAX)


@contextmanager
def _failing(*, needs_abort: bool = False) -> Generator[None]:
    """Raise Failed for what the client raises."""
    try:
        yield
    except (kafka_errors.KafkaError, AssertionError, ValueError) as error:
        is_fenced = isinstance(error, kafka_errors.ProducerFencedError | kafka_errors.InvalidProducerEpochError)
        raise Failed(repr(error), needs_abort=needs_abort and not is_fenced) from error


def _limited(call: Callable[[], object], seconds: float = CALL_SECONDS_MAX) -> None:
    """Call what has no timeout of its own. Raises Failed if it does not end, and what it raises."""
    errors: list[BaseException] = []

    def called() -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=called, name="limited", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise Failed("no result")
    if errors:
        raise errors[0]


def _of_client(offsets: Offsets) -> dict[object, object]:
    return {kafka.TopicPartition(*place): kafka.OffsetAndMetadata(offset, "", -1) for place, offset in offsets.items()}
