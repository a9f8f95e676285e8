"""A waiting fetch is completed by another client's append. Its failure does not affect that client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.broker.replica.fetch_reader import FetchReader
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.fetch import FetchResponse
from fauxka.testing import Broker

from .topic_client import TOPIC, TopicClient

LONG_MS = 60_000
NEW_SESSION = (0, 0)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, 1))
        yield broker


@pytest.fixture
def consumer(broker: Broker) -> Iterator[TopicClient]:
    with TopicClient(broker.bootstrap_servers) as client:
        yield client


@pytest.fixture
def producer(broker: Broker) -> Iterator[TopicClient]:
    with TopicClient(broker.bootstrap_servers) as client:
        yield client


def wait_begins(broker: Broker) -> None:
    """Return once a fetch waits for the partition."""
    image = broker.call(lambda: broker.cluster.controller.image.find_topic(TOPIC))
    assert image is not None
    (partition,) = broker.call(lambda: broker.cluster.node.replicas.partitions_of(image))
    while not broker.call(lambda: partition.has_waiting):
        pass


def test_full_request_forgets_nothing_as_in_kafka(broker: Broker, consumer: TopicClient, producer: TopicClient) -> None:
    consumer.send_fetch(max_wait_ms=LONG_MS, session=NEW_SESSION, forgets=True)
    wait_begins(broker)
    produced = producer.produce(0)
    fetched = consumer.receive(FetchResponse)

    assert (produced.error_code, produced.base_offset) == (ErrorCode.NONE, 0)
    assert (fetched.error_code, fetched.responses[0].partitions[0].high_watermark) == (ErrorCode.NONE, 1)
    assert broker.call(lambda: broker.cluster.node.fetch_sessions.partitions_of(fetched.session_id)) != []


def test_fetch_whose_read_fails_gets_an_error_and_the_producer_its_offset(
    broker: Broker, consumer: TopicClient, producer: TopicClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer.send_fetch(max_wait_ms=LONG_MS)
    wait_begins(broker)

    def fail(*_args: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(FetchReader, "_read_log", fail)
    produced = producer.produce(0)
    fetched = consumer.receive(FetchResponse)
    monkeypatch.undo()

    assert (produced.error_code, produced.base_offset) == (ErrorCode.NONE, 0)
    assert fetched.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert consumer.fetch().high_watermark == 1


def test_fetch_whose_response_cannot_be_encoded_gets_an_error(
    broker: Broker, consumer: TopicClient, producer: TopicClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer.send_fetch(max_wait_ms=LONG_MS, session=NEW_SESSION)
    wait_begins(broker)

    def fail(*_args: object, **_kwargs: object) -> int:
        raise RuntimeError("a defect")

    monkeypatch.setattr("fauxka.broker.replica.fetch_sessions.FetchSessions.create", fail)
    produced = producer.produce(0)
    fetched = consumer.receive(FetchResponse)

    assert (produced.error_code, produced.base_offset) == (ErrorCode.NONE, 0)
    assert fetched.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_session_that_was_continued_meanwhile_refuses_the_fetch_that_waited(
    broker: Broker, consumer: TopicClient, producer: TopicClient
) -> None:
    consumer.send_fetch(session=NEW_SESSION)
    session_id = consumer.receive(FetchResponse).session_id
    consumer.send_fetch(max_wait_ms=LONG_MS, session=(session_id, 1))
    wait_begins(broker)
    with TopicClient(broker.bootstrap_servers) as other:
        other.send_fetch(session=(session_id, 2), forgets=True)
        other.receive(FetchResponse)

    produced = producer.produce(0)
    fetched = consumer.receive(FetchResponse)

    assert produced.error_code == ErrorCode.NONE
    assert (fetched.error_code, fetched.responses) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, [])
