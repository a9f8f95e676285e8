"""Programs of Java."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from fauxka.testing import Broker

from .connect_workers import rest_address, settings_of, start_connector
from .programs import (
    ORDERS,
    committed_offset,
    committed_values,
    java_program,
    markers,
    next_offset,
    seed_orders,
)

pytestmark = [pytest.mark.ecosystem, pytest.mark.timeout(1800)]

BILLS = [b"bill for order %d" % number for number in range(ORDERS)]


def test_connect_copies_a_file_into_a_topic_exactly_once_and_into_a_file(broker: Broker, tmp_path: Path) -> None:
    source, sink = tmp_path / "source", tmp_path / "sink"
    source.write_text("".join(f"order {number}\n" for number in range(ORDERS)))
    connect = java_program("kafka_connect", "org.apache.kafka.connect.cli.ConnectDistributed")
    settings = settings_of(connect, "worker.properties", tmp_path, bootstrap__servers=broker.bootstrap_servers)

    with connect.running(tmp_path / "log", settings) as worker:
        worker.wait_until(lambda: rest_address(worker.log_file) is not None)
        address = rest_address(worker.log_file) or ""
        kinds = "org.apache.kafka.connect.file.FileStream"
        required = {"exactly_once_support": "required"}
        start_connector(
            address, "source", connector_class=f"{kinds}SourceConnector", file=str(source), topic="orders", **required
        )
        start_connector(address, "sink", connector_class=f"{kinds}SinkConnector", file=str(sink), topics="orders")
        worker.wait_until(lambda: sink.exists() and sink.read_text() == source.read_text())
        worker.wait_until(lambda: committed_offset(broker, "connect-sink", "orders") == next_offset(broker, "orders"))

    assert committed_values(broker, "orders") == [b"order %d" % number for number in range(ORDERS)]
    assert sink.read_text() == source.read_text()
    assert markers(broker, "orders") == markers(broker, "connect-offsets") == {"committed"}
    broker.verdict("orders").assert_exactly_once()


def test_mirror_maker_copies_a_topic_exactly_once_with_the_offsets_of_its_group(broker: Broker, tmp_path: Path) -> None:
    seed_orders(broker)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"})
    consumer.commit(offsets=[TopicPartition("orders", 0, ORDERS)], asynchronous=False)
    consumer.close()
    mirror = java_program("mirror_maker", "org.apache.kafka.connect.mirror.MirrorMaker")

    with Broker() as backup:
        addresses = {
            "primary__bootstrap__servers": broker.bootstrap_servers,
            "backup__bootstrap__servers": backup.bootstrap_servers,
        }
        settings = settings_of(mirror, "mirror.properties", tmp_path, **addresses)
        with mirror.running(tmp_path / "log", settings) as running:
            running.wait_until(lambda: committed_offset(backup, "billing", "primary.orders") is not None)

        assert committed_values(backup, "primary.orders") == committed_values(broker, "orders")
        assert markers(backup, "primary.orders") == {"committed"}
        assert committed_offset(backup, "billing", "primary.orders") == next_offset(backup, "primary.orders")
        backup.verdict("primary.orders").assert_exactly_once()


def test_kafka_streams_counts_exactly_once(broker: Broker, tmp_path: Path) -> None:
    seed_orders(broker)
    broker.topics.create("counts", partitions=1)
    counters, state = java_program("kafka_streams", "CountOrders"), str(tmp_path / "state")

    with counters.running(tmp_path / "log", broker.bootstrap_servers, state, "classic") as streams:
        streams.wait_until(lambda: len(committed_values(broker, "counts")) == ORDERS)

    repartition, changelog = "counters-counts-repartition", "counters-counts-changelog"
    assert committed_values(broker, "counts") == [b"%d" % (number // 2 + 1) for number in range(ORDERS)]
    assert committed_offset(broker, "counters", "orders") == ORDERS
    assert len(committed_values(broker, changelog)) == ORDERS
    for topic in ("counts", repartition, changelog):
        assert markers(broker, topic) == {"committed"}
        broker.verdict(topic).assert_exactly_once()


def test_spring_kafka_aborts_a_failed_listener_and_bills_once(broker: Broker, tmp_path: Path) -> None:
    seed_orders(broker)

    with java_program("spring_kafka", "BillOrders").running(tmp_path / "log", broker.bootstrap_servers) as billing:
        billing.wait_until(lambda: committed_offset(broker, "billing", "orders") == ORDERS)

    aborted = [each.value for each in broker.records("bills") if each.transaction == "aborted" and not each.is_control]
    assert committed_values(broker, "bills") == BILLS
    assert aborted == [b"bill for order 3"]
    assert markers(broker, "bills") == {"committed", "aborted"}
    broker.verdict("bills").assert_exactly_once()


def test_spring_kafka_retries_an_order_and_sends_a_dead_one_to_its_topic(broker: Broker, tmp_path: Path) -> None:
    seed_orders(broker)

    with java_program("spring_kafka", "RetryOrders").running(tmp_path / "log", broker.bootstrap_servers) as billing:
        billing.wait_until(lambda: committed_offset(broker, "billing", "orders") == ORDERS)

    assert committed_values(broker, "bills") == [bill for bill in BILLS if bill != b"bill for order 5"]
    assert committed_values(broker, "orders-dlt") == [b"order 5"]
    broker.verdict("bills").assert_exactly_once()
    broker.verdict("orders-dlt").assert_exactly_once()


@pytest.mark.parametrize("name", ["vertx", "camel"])
def test_orders_are_billed_once_and_their_offsets_committed(name: str, broker: Broker) -> None:
    seed_orders(broker)

    java_program(name, "BillOrders").run(broker.bootstrap_servers)

    assert committed_values(broker, "bills") == BILLS
    assert committed_offset(broker, "billing", "orders") == ORDERS
    broker.verdict("bills").assert_exactly_once()


def test_flink_commits_a_transaction_with_each_checkpoint(broker: Broker, tmp_path: Path) -> None:
    seed_orders(broker)
    broker.topics.create("bills", partitions=1)

    with java_program("flink", "BillOrders").running(tmp_path / "log", broker.bootstrap_servers, "200") as job:
        job.wait_until(lambda: committed_offset(broker, "billing", "orders") == ORDERS)
        job.wait_until(lambda: len(committed_values(broker, "bills")) == ORDERS)

    assert committed_values(broker, "bills") == BILLS
    assert markers(broker, "bills") == {"committed"}
    broker.verdict("bills").assert_exactly_once()


def test_beam_reads_a_bounded_number_of_records_and_writes_them(broker: Broker) -> None:
    seed_orders(broker)

    java_program("beam", "BillOrders").run(broker.bootstrap_servers)

    assert sorted(value or b"" for value in committed_values(broker, "bills")) == BILLS
    broker.verdict("bills").assert_exactly_once()
