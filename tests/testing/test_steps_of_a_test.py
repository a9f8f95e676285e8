"""What a test does often, as one call: plain seeds, text and JSON of records, waits, killed nodes, fenced producers."""

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from fauxka.testing import CallError, WaitTimeoutError

from ..broker.topic_client import TopicClient
from ..broker.transactional_client import TransactionalClient
from .transports import Broker

SECONDS_MAX = 30
FENCED = (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"num.partitions": 1}) as running:
        yield running


def test_seeds_are_values_alone_and_json_in_a_topic_that_is_created_on_the_way(broker: Broker) -> None:
    given: list[Any] = ["tea", b"\xff", 3, 1.5, None, {"key": ["a"], "value": {"id": 7}}]

    broker.topics.seed("orders", given, create=True)
    broker.topics.seed("orders", ["more"], create=True)

    found = [(record.key, record.value) for record in broker.records("orders")]
    plain = [b"tea", b"\xff", b"3", b"1.5", None]
    assert found == [*((None, value) for value in plain), (b'["a"]', b'{"id":7}'), (None, b"more")]


def test_topic_is_not_created_unless_the_call_says_so(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no topic 'orders'"):
        broker.topics.seed("orders", ["tea"])


def test_record_has_text_and_json(broker: Broker) -> None:
    broker.topics.seed("orders", [{"key": "k", "value": {"id": 7}}, None], create=True)

    record, null = broker.records("orders")

    assert (record.key_text, record.text, record.json()) == ("k", '{"id":7}', {"id": 7})
    assert (null.key_text, null.text, null.json()) == (None, None, None)


def test_wait_ends_with_the_records_of_a_topic_that_is_created_meanwhile(broker: Broker) -> None:
    seeding = threading.Timer(0.05, lambda: broker.topics.seed("orders", ["tea", "milk"], create=True))
    seeding.start()

    count = broker.wait_for_records("orders", 2, timeout_ms=SECONDS_MAX * 1000)

    seeding.join()
    assert count == len(broker.records("orders")) == 2


def test_wait_for_too_few_records_says_how_many_there_are(broker: Broker) -> None:
    broker.topics.seed("orders", ["tea"], create=True)

    with pytest.raises(WaitTimeoutError, match=r"^1 of 2 records of orders after 20 ms") as raised:
        broker.wait_for_records("orders", 2, timeout_ms=20)

    assert raised.value.hits == 1


def test_misspelt_recipe_names_the_similar_one(broker: Broker) -> None:
    with pytest.raises(AttributeError, match=r"^there is no recipe lose_ack; did you mean lost_ack\?$"):
        _ = getattr(broker.faults, "lose_ack")  # noqa: B009


def test_killed_leader_is_replaced() -> None:
    with Broker({"default.replication.factor": 3}, nodes=3) as broker:
        broker.topics.create("orders", partitions=1)
        leader = broker.partitions("orders", 0)[0].leader

        killed = broker.kill_node(leader)

        assert killed.state == "crashed"
        assert broker.partitions("orders", 0)[0].leader not in (leader, -1)


@contextmanager
def open_transaction(broker: Broker) -> Generator[Producer]:
    """A producer with the transactional id tx that has sent an event to a transaction."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "tx"})
    producer.init_transactions(SECONDS_MAX)
    producer.begin_transaction()
    producer.produce("events", b"one coffee")
    producer.flush(SECONDS_MAX)
    yield producer


@pytest.mark.clients
def test_all_producers_expire_but_those_with_an_open_transaction(broker: Broker) -> None:
    broker.topics.create("events", partitions=1)
    with TopicClient(broker.bootstrap_servers) as client:
        client.produce(0)
    with open_transaction(broker):
        expired = broker.producers.expire()

        left = broker.producers.list()
    assert [each.current_txn_first_offset is None for each in expired] == [True]
    assert [each.current_txn_first_offset is None for each in left] == [False]


@pytest.mark.clients
@pytest.mark.parametrize("change", ["abort", "fence"])
def test_producer_whose_transaction_is_aborted_or_fenced_cannot_commit(broker: Broker, change: str) -> None:
    broker.topics.create("events", partitions=1)
    with open_transaction(broker) as producer:
        before = broker.transactions.get("tx")

        after = broker.transactions.abort("tx") if change == "abort" else broker.transactions.fence("tx")

        with pytest.raises(KafkaException) as raised:
            producer.commit_transaction(SECONDS_MAX)
    assert raised.value.args[0].code() in FENCED
    assert (before.state, after.state) == ("Ongoing", "CompleteAbort" if change == "abort" else "Empty")
    assert (after.producer_id, after.producer_epoch) > (before.producer_id, before.producer_epoch)
    assert [record.transaction for record in broker.records("events")] == ["aborted", "aborted"]


def test_transaction_that_is_not_open_cannot_be_aborted(broker: Broker) -> None:
    with TransactionalClient(broker.bootstrap_servers) as client:
        client.find_coordinator()
        client.init()

        with pytest.raises(CallError, match="tx has no open transaction: it is in state Empty") as raised:
            broker.transactions.abort("tx")
        with pytest.raises(CallError) as unknown:
            broker.transactions.fence("other")
    assert (raised.value.status, unknown.value.status) == (409, 404)
