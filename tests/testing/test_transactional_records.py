"""The transactions of records: open, committed and aborted, and their markers."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from .transports import Broker

pytestmark = pytest.mark.clients

SECONDS_MAX = 30


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        running.topics.create("orders")
        yield running


def transactional_producer(broker: Broker, transactional_id: str) -> Producer:
    # Without its log: a producer with an open transaction outlives the broker for a moment.
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": transactional_id, "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions(SECONDS_MAX)
    return producer


def send(producer: Producer, value: str) -> None:
    producer.produce("orders", value=value)
    producer.flush(SECONDS_MAX)


def states(broker: Broker) -> list[tuple[bytes | None, str]]:
    """Return the value and the transaction of each record; None for a marker."""
    return [(None if each.is_control else each.value, each.transaction) for each in broker.records("orders")]


def test_state_of_each_transaction_is_that_of_its_records_and_of_its_marker(broker: Broker) -> None:
    producer = transactional_producer(broker, "one")
    broker.topics.seed("orders", [{"value": "plain"}])
    for value, end in (("kept", producer.commit_transaction), ("dropped", producer.abort_transaction)):
        producer.begin_transaction()
        send(producer, value)
        end(SECONDS_MAX)
    producer.begin_transaction()
    send(producer, "pending")

    assert states(broker) == [
        (b"plain", "none"),
        (b"kept", "committed"),
        (None, "committed"),
        (b"dropped", "aborted"),
        (None, "aborted"),
        (b"pending", "open"),
    ]


def test_transactions_of_several_producers_are_told_apart(broker: Broker) -> None:
    first, second = transactional_producer(broker, "one"), transactional_producer(broker, "two")
    for producer in (first, second):
        producer.begin_transaction()
    send(first, "a1")
    send(second, "b1")
    send(first, "a2")
    first.abort_transaction(SECONDS_MAX)
    send(second, "b2")

    assert states(broker) == [
        (b"a1", "aborted"),
        (b"b1", "open"),
        (b"a2", "aborted"),
        (None, "aborted"),
        (b"b2", "open"),
    ]
    second.commit_transaction(SECONDS_MAX)
    assert states(broker)[-2:] == [(b"b2", "committed"), (None, "committed")]


def test_aborted_transaction_is_found_when_its_marker_is_in_a_later_segment(broker: Broker) -> None:
    broker.topics.delete("orders")
    broker.topics.create("orders", partitions=1, configs={"internal.segment.bytes": 300})
    producer = transactional_producer(broker, "one")
    producer.begin_transaction()
    send(producer, "dropped")
    for number in range(10):
        broker.topics.seed("orders", [{"value": f"{number}" * 100}])
    producer.abort_transaction(SECONDS_MAX)

    assert states(broker)[0] == (b"dropped", "aborted")
    assert states(broker)[-1] == (None, "aborted")


def test_deleted_transactional_id_is_unknown_and_its_transaction_aborted(broker: Broker) -> None:
    producer = transactional_producer(broker, "one")
    producer.begin_transaction()
    send(producer, "dropped")
    ongoing = [each.transactional_id for each in broker.transactions.list("Ongoing")]

    deleted = broker.transactions.delete("one")

    assert (ongoing, deleted.transactional_id) == (["one"], "one")
    assert broker.transactions.list() == []
    assert states(broker)[0] == (b"dropped", "aborted")


def test_event_that_is_sent_again_after_an_abort_is_there_once(broker: Broker) -> None:
    producer = transactional_producer(broker, "one")
    for end in (producer.abort_transaction, producer.commit_transaction):
        producer.begin_transaction()
        send(producer, "one coffee")
        end(SECONDS_MAX)

    verdict = broker.verdict("orders", event_id="value")

    assert verdict.findings == []
    assert (verdict.records.in_log, verdict.records.duplicates) == (2, 0)
