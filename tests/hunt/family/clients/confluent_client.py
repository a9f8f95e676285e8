"""confluent-kafka."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

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

_POLL_SECONDS = 0.1
_CONNECTION: dict[str, str | int | float | bool] = {
    # Of all requests but Produce. On a busy machine a connection alone may take a second.
    "socket.timeout.ms": 2 * REQUEST_MS,
    "retry.backoff.ms": RETRY_MS,
    "reconnect.backoff.ms": RETRY_MS,
    "reconnect.backoff.max.ms": 10 * RETRY_MS,
    "log_level": 0,
    # With the default, a producer of transactions whose only broker closes a connection waits for ever (docs/hunt.md).
    "metadata.recovery.strategy": "none",
}


class ConfluentClient:
    """Makes producers and members."""

    name = "confluent-kafka"

    def sender(self, bootstrap_servers: str, sending: Sending) -> Sender:
        """Make a producer. Raises Failed."""
        config: dict[str, str | int | float | bool] = {
            **_CONNECTION,
            "bootstrap.servers": bootstrap_servers,
            "linger.ms": 0,
            "request.timeout.ms": REQUEST_MS,
            "message.timeout.ms": DELIVERY_MS,
            "acks": sending.acks,
            "enable.idempotence": sending.is_idempotent,
            "max.in.flight.requests.per.connection": sending.in_flight,
        }
        if sending.is_single:
            config["batch.num.messages"] = 1
        if sending.retries is not None:
            config["retries"] = sending.retries
        if sending.transactional_id is not None:
            config["transactional.id"] = sending.transactional_id
        with _failing():
            producer = Producer(config)
            if sending.transactional_id is not None:
                producer.init_transactions(CALL_SECONDS_MAX)
        return ConfluentSender(producer)

    def reader(self, bootstrap_servers: str, reading: Reading) -> Reader:
        """Make a member. Raises Failed."""
        consumer = Consumer(
            {
                **_CONNECTION,
                "bootstrap.servers": bootstrap_servers,
                "group.id": reading.group,
                "enable.auto.commit": reading.commits_by_itself,
                "auto.commit.interval.ms": 100,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed" if reading.is_committed_only else "read_uncommitted",
                "session.timeout.ms": SESSION_MS,
                # A consumer waits so long for the response of a JoinGroup.
                "max.poll.interval.ms": SESSION_MS,
                "heartbeat.interval.ms": HEARTBEAT_MS,
            }
        )
        consumer.subscribe(list(reading.topics))
        return ConfluentReader(consumer)


class ConfluentDelivery:
    """The delivery report of a record, which comes while the producer is polled."""

    def __init__(self, producer: Producer) -> None:
        """Wait for nothing."""
        self._producer = producer
        self._has_ended = False
        self._error: KafkaError | None = None

    def end(self, error: KafkaError | None, _: Message) -> None:
        """Keep the report: a callback."""
        self._has_ended, self._error = True, error

    def wait(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Poll until the report is there. Raises Failed."""
        end = time.monotonic() + seconds
        while not self._has_ended and time.monotonic() < end:
            self._producer.poll(_POLL_SECONDS)
        self.check()
        if not self._has_ended:
            raise Failed("no delivery report")

    def check(self) -> None:
        """Raise Failed if the report says so."""
        if self._error is not None:
            raise Failed(self._error, needs_abort=not self._error.fatal())


class ConfluentSender:
    """A producer."""

    def __init__(self, producer: Producer) -> None:
        """producer: one of transactions has been initialised."""
        self._producer = producer

    def send(self, topic: str, value: bytes, key: bytes | None = None, headers: Headers = ()) -> Delivery:
        """Send a record. Raises Failed."""
        delivery = ConfluentDelivery(self._producer)
        with _failing():
            self._producer.produce(topic, value, key, headers=list(headers), on_delivery=delivery.end)
        return delivery

    def flush(self, seconds: float = CALL_SECONDS_MAX) -> bool:
        """Return whether no record waits any more."""
        return not self._producer.flush(seconds)

    def begin(self) -> None:
        """Begin a transaction. Raises Failed."""
        with _failing():
            self._producer.begin_transaction()

    def send_offsets(self, offsets: Offsets, reader: Reader) -> None:
        """Commit offsets with the transaction. Raises Failed."""
        assert isinstance(reader, ConfluentReader), "of the same client"
        with _failing():
            metadata = reader.consumer.consumer_group_metadata()
            self._producer.send_offsets_to_transaction(_of_client(offsets), metadata, CALL_SECONDS_MAX)

    def commit(self, seconds: float = CALL_SECONDS_MAX) -> None:
        """Commit the transaction, again and again while the error says so. Raises Failed."""
        end = time.monotonic() + seconds
        with _failing():
            while True:
                try:
                    return self._producer.commit_transaction(seconds)
                except KafkaException as error:
                    if not error.args[0].retriable() or time.monotonic() > end:
                        raise

    def abort(self) -> None:
        """Abort the transaction. Raises Failed."""
        with _failing():
            self._producer.abort_transaction(CALL_SECONDS_MAX)

    def close(self, seconds: float = 0.0) -> None:
        """Delete the records that wait."""
        self._producer.flush(seconds)
        self._producer.purge()
        self._producer.poll(0)


class ConfluentReader:
    """A member of a group."""

    def __init__(self, consumer: Consumer) -> None:
        """consumer: it is subscribed."""
        self.consumer = consumer

    def poll(self, most: int, seconds: float = 1.0) -> list[Record]:
        """Return the next records. Raises Failed."""
        with _failing():
            return [_record_of(message) for message in self.consumer.consume(most, seconds)]

    def committed(self, place: Place) -> int:
        """Return the committed offset. Raises Failed."""
        with _failing():
            (found,) = self.consumer.committed([TopicPartition(*place)], timeout=CALL_SECONDS_MAX)
            if found.error is not None:
                raise KafkaException(found.error)
            return max(0, found.offset)

    def position(self, place: Place) -> int:
        """Return the position. Raises Failed."""
        with _failing():
            return max(0, self.consumer.position([TopicPartition(*place)])[0].offset)

    def seek(self, place: Place, offset: int) -> None:
        """Go on there. Raises Failed."""
        with _failing():
            self.consumer.seek(TopicPartition(*place, offset))

    def commit(self, offsets: Offsets) -> None:
        """Commit. Raises Failed."""
        with _failing():
            self.consumer.commit(offsets=_of_client(offsets), asynchronous=False)

    def close(self) -> None:
        """Leave the group."""
        self.consumer.close()


@contextmanager
def _failing() -> Generator[None]:
    """Raise Failed for what the client raises."""
    try:
        yield
    except KafkaException as error:
        reason = error.args[0]
        raise Failed(reason, needs_abort=isinstance(reason, KafkaError) and reason.txn_requires_abort()) from error
    except BufferError as error:
        raise Failed(error) from error


def _record_of(message: Message) -> Record:
    if (error := message.error()) is not None:
        raise KafkaException(error)
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None and partition is not None and offset is not None, "a record has them"
    key, value = message.key(), message.value()
    return Record(Place(topic, partition), offset, bytes(key) if key is not None else None, bytes(value or b""))


def _of_client(offsets: Offsets) -> list[TopicPartition]:
    return [TopicPartition(*place, offset) for place, offset in offsets.items()]
