"""Programs of Node."""

import pytest

from fauxka.testing import Broker

from .programs import ORDERS, committed_offset, committed_values, markers, node_program, seed_orders

pytestmark = [pytest.mark.ecosystem, pytest.mark.timeout(1800)]


def test_nestjs_serves_requests_with_replies_and_events(broker: Broker) -> None:
    for topic in ("orders", "orders.reply", "deliveries"):
        broker.topics.create(topic, partitions=1)

    output = node_program("nestjs").run(broker.bootstrap_servers)

    bills = [b"bill for order %d" % number for number in range(ORDERS)]
    assert output.encode().splitlines() == bills
    assert committed_values(broker, "orders.reply") == bills
    assert committed_values(broker, "deliveries") == [b"order %d" % number for number in range(ORDERS)]
    assert [committed_offset(broker, "shop-server", topic) for topic in ("orders", "deliveries")] == [ORDERS, ORDERS]
    broker.verdict("orders").assert_exactly_once()


def test_platformatic_bills_exactly_once(broker: Broker) -> None:
    seed_orders(broker)

    node_program("platformatic").run(broker.bootstrap_servers)

    assert committed_values(broker, "bills") == [b"bill for order %d" % number for number in range(ORDERS)]
    assert sum(each.is_control for each in broker.records("bills")) == ORDERS
    assert markers(broker, "bills") == {"committed"}
    assert committed_offset(broker, "billing", "orders") == ORDERS
    broker.verdict("bills").assert_exactly_once()
