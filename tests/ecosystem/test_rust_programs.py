"""Programs of Rust."""

import pytest

from fauxka.testing import Broker

from .programs import ORDERS, committed_offset, committed_values, markers, rust_program, seed_orders

pytestmark = [pytest.mark.ecosystem, pytest.mark.timeout(1800)]


def test_krafka_bills_exactly_once_in_a_group_of_the_new_protocol(broker: Broker) -> None:
    seed_orders(broker)
    broker.topics.create("bills", partitions=1)

    rust_program("krafka").run(broker.bootstrap_servers)

    assert committed_values(broker, "bills") == [b"bill for order %d" % number for number in range(ORDERS)]
    assert markers(broker, "bills") == {"committed"}
    assert committed_offset(broker, "billing", "orders") == ORDERS
    assert broker.groups.get("billing").type == "consumer"
    broker.verdict("bills").assert_exactly_once()


def test_rskafka_writes_and_reads_each_compression(broker: Broker) -> None:
    output = rust_program("rskafka").run(broker.bootstrap_servers)

    stored = broker.records("orders")
    assert [each.compression for each in stored] == ["none", "gzip", "lz4", "snappy", "zstd"]
    assert [each.key for each in stored] == [b"order-%d" % number for number in range(5)]
    assert output.endswith("read 5 of 5 as written\n")
