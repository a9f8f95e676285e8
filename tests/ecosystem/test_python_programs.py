"""Programs of Python, each in an environment of its own."""

import json
import re
from pathlib import Path

import pytest

from fauxka.testing import Broker

from .programs import ORDERS, committed_offset, committed_values, markers, python_program, seed_json_orders, seed_orders

pytestmark = [pytest.mark.ecosystem, pytest.mark.timeout(1800)]


def test_quixstreams_counts_exactly_once(broker: Broker, tmp_path: Path) -> None:
    seed_json_orders(broker)
    arguments = (broker.bootstrap_servers, str(tmp_path), "exactly-once")

    with python_program("quixstreams").running(tmp_path / "log", *arguments) as counters:
        counters.wait_until(lambda: committed_offset(broker, "counters", "orders") == ORDERS)

    counts = [json.loads(value or b"") for value in committed_values(broker, "counts")]
    assert counts == [{"customer": number % 2, "orders": number // 2 + 1} for number in range(ORDERS)]
    assert markers(broker, "counts") == {"committed"}
    broker.verdict("counts").assert_exactly_once()


def test_faststream_commits_what_its_handler_has_published(broker: Broker, tmp_path: Path) -> None:
    seed_orders(broker)

    with python_program("faststream").running(tmp_path / "log", broker.bootstrap_servers) as worker:
        worker.wait_until(lambda: committed_offset(broker, "bills", "orders") == ORDERS)

    assert committed_values(broker, "bills") == [b"bill for order %d" % number for number in range(ORDERS)]
    broker.verdict("bills").assert_exactly_once()


def test_faust_commits_the_changelog_of_a_table_with_its_offsets(broker: Broker, tmp_path: Path) -> None:
    seed_orders(broker)

    with python_program("faust").running(tmp_path / "log", broker.bootstrap_servers, str(tmp_path)) as worker:
        worker.wait_until(lambda: committed_offset(broker, "counters", "orders") == ORDERS)

    assert committed_values(broker, "counts") == [b"%d" % (number // 2 + 1) for number in range(ORDERS)]
    changelog = "counters-orders-of-customer-changelog"
    assert committed_values(broker, changelog) == committed_values(broker, "counts")
    assert markers(broker, changelog) == {"committed"}
    broker.verdict(changelog).assert_exactly_once()


def test_bytewax_writes_what_it_read_up_to_the_end_of_the_topic(broker: Broker) -> None:
    seed_orders(broker)
    broker.topics.create("bills", partitions=1)

    python_program("bytewax", "3.11").run(broker.bootstrap_servers)

    assert committed_values(broker, "bills") == [b"bill for order %d" % number for number in range(ORDERS)]
    broker.verdict("bills").assert_exactly_once()


def test_celery_runs_each_task_once(broker: Broker, tmp_path: Path) -> None:
    broker.topics.create("orders", partitions=1)
    celery = python_program("celery")
    bills = tmp_path / "bills"
    worker_arguments = ("worker", broker.bootstrap_servers, str(tmp_path))

    celery.run("send", broker.bootstrap_servers, str(tmp_path))
    with celery.running(tmp_path / "worker.log", *worker_arguments) as worker:
        worker.wait_until(lambda: bills.exists() and bills.read_text().count("\n") == ORDERS)

    assert sorted(bills.read_text().splitlines()) == [f"bill for order {number}" for number in range(ORDERS)]


def test_opentelemetry_carries_the_trace_in_the_headers(broker: Broker) -> None:
    output = python_program("opentelemetry").run(broker.bootstrap_servers)

    (trace_id,) = re.findall(r"^sent in (\w+)$", output, re.MULTILINE)
    (order,) = broker.records("orders")
    ((header, trace),) = order.headers
    assert (order.value, header) == (b"one coffee", "traceparent")
    assert trace is not None and trace_id.encode() in trace
    assert "read one coffee\n" in output
    assert committed_offset(broker, "bills", "orders") == 1
