"""The addresses of a broker, and whether clients can connect, over every transport."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from fauxka.testing import RemoteBroker, Unreachable

from .producing import DELIVERED_SECONDS_MAX
from .transports import Broker

pytestmark = pytest.mark.clients


def test_a_client_connects_to_the_addresses_of_all_nodes() -> None:
    with Broker(nodes=2) as broker:
        addresses = broker.bootstrap_servers.split(",")
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
        producer.produce("orders", value=b"one coffee")
        undelivered = producer.flush(DELIVERED_SECONDS_MAX)
        nodes = broker.nodes()

    assert undelivered == 0
    assert addresses == [node.bootstrap for node in nodes]


def test_a_broker_runs_unless_all_its_nodes_are_down() -> None:
    with Broker(nodes=2) as broker:
        broker.crash(node=1)
        with_one = broker.is_running
        broker.crash(node=2)
        with_none = broker.is_running
        broker.restart(node=2)
        restarted = broker.is_running

    assert (with_one, with_none, restarted) == (True, False, True)


def test_a_remote_broker_that_does_not_respond_is_not_running_and_has_no_address() -> None:
    broker = RemoteBroker("http://127.0.0.1:1")

    assert not broker.is_running
    with pytest.raises(Unreachable):
        _ = broker.bootstrap_servers
