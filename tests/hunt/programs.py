"""Small programs that are hunted."""

import time
from contextlib import closing

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from fauxka.testing import Broker

QUICK = {"retry.backoff.ms": 20, "reconnect.backoff.ms": 20, "socket.timeout.ms": 2000, "linger.ms": 0, "log_level": 0}


def send(broker: Broker, events: list[bytes], **config: object) -> None:
    """Send events one after the other. Raises RuntimeError if one was not acknowledged."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "retries": 5, **QUICK, **config})
    failures: list[KafkaError] = []

    def keep_failure(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    for event in events:
        producer.produce("orders", event, on_delivery=keep_failure)
        producer.flush()
    if failures:
        raise RuntimeError(f"{len(failures)} orders were not sent")


def send_in_flight(broker: Broker, events: list[bytes], *, has_keys: bool = False, **config: object) -> None:
    """Send each event in a request of its own, all at once. Raises KafkaException.

    The producer asks for the leader at its first event. It learns of it after the last one, so that it sends all
    requests before it reads a response.
    has_keys: whether each is its own key.
    """
    own = {"batch.num.messages": 1, "retries": 5, **QUICK, **config}
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **own})
    with broker.faults.held(api="Metadata", topic="orders") as question:
        for event in events:
            producer.produce("orders", event, event if has_keys else None, on_delivery=raise_failure)
        question.await_hits(1)
    broker.held.release()
    producer.flush()


def book_in_flight(broker: Broker, events: list[bytes], *, attempts: int) -> None:
    """Send each event in a request of its own, in a transaction; after one that was aborted, all in another.

    The client sends them at once, when the partition was added to the transaction. An event has the same timestamp in
    both, as one that is copied. Raises KafkaException.
    """
    config = {"transactional.id": "book", "batch.num.messages": 1, **QUICK}
    for left in reversed(range(attempts)):
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **config})
        producer.init_transactions(5)
        producer.begin_transaction()
        for number, event in enumerate(events, start=1):
            producer.produce("orders", event, timestamp=number)
        try:
            producer.commit_transaction(5)
        except KafkaException:
            if not left:
                raise
            producer.abort_transaction(5)
        else:
            return


def doubling(broker: Broker) -> None:
    """Send events without idempotence."""
    send(broker, [b"a", b"b"])


def idempotent(broker: Broker) -> None:
    """Send events with idempotence."""
    send(broker, [b"a", b"b"], **{"enable.idempotence": True})


def book(broker: Broker, *, attempts: int) -> None:
    """Write an event in a transaction; after one that was aborted, in another. Raises KafkaException."""
    for left in reversed(range(attempts)):
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "book", **QUICK})
        producer.init_transactions(5)
        producer.begin_transaction()
        producer.produce("orders", b"a")
        try:
            producer.commit_transaction(5)
        except KafkaException:
            if not left:
                raise
        else:
            return


def raise_failure(error: KafkaError | None, _: Message) -> None:
    """Raise KafkaException if a record was not written: a callback for producers, whose flush raises it."""
    if error is not None:
        raise KafkaException(error)


def fill(broker: Broker) -> None:
    """Write two events for the programs that copy them."""
    broker.topics.create("orders")
    broker.topics.seed("orders", [{"value": "a"}, {"value": "b"}])


def copy_as_member(broker: Broker, *, is_committed_first: bool = False) -> None:
    """Copy the events as a member of a group, and commit each. Raises KafkaException."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, **QUICK}
    ours = {
        "group.id": "copy",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "enable.partition.eof": True,
    }
    producer = Producer({**settings, "enable.idempotence": True})
    with closing(Consumer({**settings, **ours, "session.timeout.ms": 6000, "heartbeat.interval.ms": 300})) as consumer:
        consumer.subscribe(["orders"])
        while True:
            message = consumer.poll(20)
            assert message is not None
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                return
            if error is not None:
                raise KafkaException(error)
            if is_committed_first:
                consumer.commit(message=message, asynchronous=False)
            producer.produce("copies", message.value() or b"", on_delivery=raise_failure)
            producer.flush()
            if not is_committed_first:
                consumer.commit(message=message, asynchronous=False)


def count_as_member(broker: Broker, *, skips_counted: bool) -> None:
    """Write how many events there are as the state of a key, and commit each. Raises KafkaException.

    skips_counted: whether an event that the state has counted is not counted again.
    """
    settings = {"bootstrap.servers": broker.bootstrap_servers, **QUICK}
    ours = {"group.id": "count", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    producer = Producer({**settings, "enable.idempotence": True})
    with closing(Consumer({**settings, **ours, "enable.partition.eof": True})) as consumer:
        consumer.subscribe(["orders"])
        while True:
            message = consumer.poll(20)
            assert message is not None
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                return
            if error is not None:
                raise KafkaException(error)
            total, offset = last_total(broker), message.offset()
            assert offset is not None
            if not skips_counted or offset >= total:
                producer.produce("totals", str(total + 1), "orders", on_delivery=raise_failure)
                producer.flush()
            consumer.commit(message=message, asynchronous=False)


def last_total(broker: Broker) -> int:
    """Return the state that count_as_member has written last."""
    written = broker.records("totals") if any(topic.name == "totals" for topic in broker.topics.list()) else []
    return int(written[-1].value or b"0") if written else 0


def has_met_a_fault(broker: Broker) -> bool:
    """Return whether a request met the fault of a trial; the responses of a run without faults may be late."""
    return any(fault.kind != "delay" for entry in broker.journal.entries() for fault in entry.faults)


def timeout_of_a_run() -> float:
    """Return more seconds than a run without a fault takes on this machine, as busy as it is."""
    started = time.monotonic()
    with Broker() as broker:
        idempotent(broker)
    return 1 + 5 * (time.monotonic() - started)
