"""What all programs here have in common: the broker, and times that are short enough for a hunt."""

import os

from confluent_kafka import KafkaError, Message

BROKER: dict[str, object] = {
    "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
    "socket.timeout.ms": 2000,
    "retry.backoff.ms": 20,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
}
PRODUCER = BROKER | {"request.timeout.ms": 1500, "linger.ms": 0}
CONSUMER = BROKER | {
    "group.id": "copy",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    "session.timeout.ms": 6000,
    # A consumer waits so long for the response of a JoinGroup.
    "max.poll.interval.ms": 6000,
    "heartbeat.interval.ms": 500,
}
EVENTS = [b"one coffee", b"two teas", b"three cakes"]


def is_end(message: Message) -> bool:
    """Return whether the end of the topic is reached. Raises RuntimeError for any other error of a message."""
    error = message.error()
    if error is not None and error.code() != KafkaError._PARTITION_EOF:
        raise RuntimeError(str(error))
    return error is not None


def raise_failure(error: KafkaError | None, _: Message) -> None:
    """Raise RuntimeError if a record was not written: a callback for producers, whose flush raises it."""
    if error is not None:
        raise RuntimeError(f"a record was not written: {error}")
