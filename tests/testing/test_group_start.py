"""The first member of a group starts at once in tests, unless the user sets group.initial.rebalance.delay.ms."""

import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer

from fauxka.broker.config.config_sources import gather_config
from fauxka.testing import AsyncBroker, Broker

from .producing import send

KEY = "group.initial.rebalance.delay.ms"
READ_SECONDS_MAX = 30
POLL_SECONDS = 0.05


@contextmanager
def reading(broker: Broker) -> Generator[Consumer, None, None]:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "readers", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    try:
        yield consumer
    finally:
        consumer.close()


@pytest.mark.clients
def test_a_group_reads_although_the_clock_stands_still() -> None:
    with Broker() as broker:
        broker.clock.set_mode("manual")
        send(broker.bootstrap_servers)

        with reading(broker) as consumer:
            [message] = consumer.consume(1, READ_SECONDS_MAX)

    assert message.value() == b"one coffee"


@pytest.mark.clients
def test_a_given_delay_is_waited_for() -> None:
    with Broker({KEY: "3000"}) as broker:
        broker.clock.set_mode("manual")
        send(broker.bootstrap_servers)

        with reading(broker) as consumer:
            joined = broker.faults.observed(api="JoinGroup", times=None)
            until = time.monotonic() + READ_SECONDS_MAX
            while joined.hits < 2 and time.monotonic() < until:
                consumer.poll(POLL_SECONDS)
            before = consumer.assignment()
            broker.clock.advance(3000)
            [message] = consumer.consume(1, READ_SECONDS_MAX)

    assert (before, message.value()) == ([], b"one coffee")


@pytest.mark.parametrize("make", [Broker, AsyncBroker])
@pytest.mark.parametrize(("config", "delay_ms"), [(None, 0), ({"num.partitions": "3"}, 0), ({KEY: "1500"}, 1500)])
def test_brokers_for_tests_wait_only_if_the_key_is_given(
    make: type[Broker | AsyncBroker], config: dict[str, str] | None, delay_ms: int
) -> None:
    broker = make(config)

    assert broker.cluster.node.config.group_initial_rebalance_delay_ms == delay_ms


def test_a_served_broker_waits_as_kafka_does() -> None:
    assert gather_config({}, {}, ()).config.group_initial_rebalance_delay_ms == 3000
