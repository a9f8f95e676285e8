"""Sequences that wrap at 2147483647, read back by a real consumer."""

import time
from contextlib import closing

import pytest
from confluent_kafka import Consumer, TopicPartition

from fauxka.scenarios.brokers.scenario_broker import create_topic
from fauxka.scenarios.clients.client import ClientOptions, events_of
from fauxka.scenarios.clients.raw_client import RawClient
from fauxka.scenarios.scenario_files import load_scenario
from fauxka.testing import Broker

pytestmark = pytest.mark.clients

TOPIC = "events"
READ_SECONDS_MAX = 20.0


def test_a_consumer_reads_the_records_on_both_sides_of_the_wrap_in_order() -> None:
    batches = list(load_scenario("sequence-wrap").batches.values())
    sent = [event for batch in batches for event in events_of(batch)]
    with Broker() as broker:
        create_topic(broker.bootstrap_servers, TOPIC, 1, {})
        producer = RawClient(ClientOptions(broker.bootstrap_servers, TOPIC, True, 1000, 10_000, add_note=print))
        for batch in batches:
            producer.send(batch, 0)
        producer.settle(retries=True)
        producer.close()

        read = values_of(broker.bootstrap_servers, len(sent))

    assert read == sent


def values_of(bootstrap: str, count: int) -> list[str]:
    """Return the values of the first records of partition 0."""
    values: list[str] = []
    with closing(Consumer({"bootstrap.servers": bootstrap, "group.id": "unused"})) as consumer:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        deadline = time.monotonic() + READ_SECONDS_MAX
        while len(values) < count and time.monotonic() < deadline:
            for message in consumer.consume(count, 0.1):
                assert message.error() is None, message.error()
                values.append((message.value() or b"").decode())
    return values
