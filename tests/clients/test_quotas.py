"""Clients that exceed a quota wait for the throttle time of the response, and lose no record."""

import importlib
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from fauxka.testing import Broker

from ..golden.quota_requests import FETCH, MUTATION, PRODUCE, altering, entry
from ..wire.message_client import MessageClient

pytestmark = pytest.mark.clients

# Its types are not complete.
confluent_admin = importlib.import_module("confluent_kafka.admin")

TOPIC = "throttled"
PRODUCER, CONSUMER, ADMIN = "the-producer", "the-consumer", "the-admin"
SECONDS_MAX = 30
# Ten times as many bytes are sent at once, and what is above them takes a second for each, or longer.
BYTES_A_SECOND = 20_000
VALUE = b"x" * 10_000
# 260,000 bytes: three times the quota too many, if the window is ten seconds and not eleven.
VALUE_COUNT = 26
SECONDS_EXPECTED = 2.0


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        running.topics.create(TOPIC)
        yield running


def set_quota(broker: Broker, client_id: str, key: str, value: float) -> None:
    with MessageClient(broker.bootstrap_servers) as admin:
        admin.call(altering(entry({"client-id": client_id}, {key: value})), 1)


def produce_all(broker: Broker, events: list[Any]) -> float:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "client.id": PRODUCER,
            "batch.num.messages": 1,
            "enable.idempotence": True,
            "throttle_cb": events.append,
        }
    )
    started = time.monotonic()
    for _ in range(VALUE_COUNT):
        producer.produce(TOPIC, VALUE)
    assert producer.flush(SECONDS_MAX) == 0
    return time.monotonic() - started


def consume_all(broker: Broker, events: list[Any]) -> float:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "client.id": CONSUMER,
            "group.id": "throttled",
            "fetch.message.max.bytes": 50_000,
            "throttle_cb": events.append,
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    started = time.monotonic()
    values = [message.value() for message in consumer.consume(VALUE_COUNT, SECONDS_MAX)]
    elapsed = time.monotonic() - started
    consumer.close()
    assert values == [VALUE] * VALUE_COUNT
    return elapsed


def test_producer_takes_as_long_as_its_quota_says(broker: Broker) -> None:
    set_quota(broker, PRODUCER, PRODUCE, BYTES_A_SECOND)
    events: list[Any] = []

    elapsed = produce_all(broker, events)

    assert elapsed >= SECONDS_EXPECTED
    assert any(event.throttle_time > 0 for event in events)


def test_consumer_takes_as_long_as_its_quota_says(broker: Broker) -> None:
    produce_all(broker, [])
    set_quota(broker, CONSUMER, FETCH, BYTES_A_SECOND)
    events: list[Any] = []

    elapsed = consume_all(broker, events)

    assert elapsed >= SECONDS_EXPECTED
    assert any(event.throttle_time > 0 for event in events)


def test_admin_client_of_an_older_version_is_served_and_waits_for_its_next_request(broker: Broker) -> None:
    set_quota(broker, ADMIN, MUTATION, 1)
    admin = confluent_admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers, "client.id": ADMIN})
    # Two partitions more than the quota allows at once, in CreateTopics of version 4.
    admin.create_topics([confluent_admin.NewTopic("first", 13, 1)])["first"].result(SECONDS_MAX)
    started = time.monotonic()

    admin.create_topics([confluent_admin.NewTopic("second", 1, 1)])["second"].result(SECONDS_MAX)

    assert time.monotonic() - started >= 1.5
