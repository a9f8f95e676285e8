"""Two clusters, of which one is the mirror of the other by a real MirrorMaker 2."""

from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.compare.compare_job import compare
from fauxka.pipeline.compare.compare_request import CompareRequest, check_request
from fauxka.pipeline.compare.matching import Matching
from fauxka.pipeline.compare.sides import SideArguments, parse_side
from fauxka.pipeline.compare.topic_map import parse_topic_map
from fauxka.testing import Broker

from ..ecosystem.connect_workers import settings_of
from ..ecosystem.programs import java_program

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

ORDERS = 200
CUSTOMERS = 7
PARTITIONS = 3
SENT_SECONDS_MAX = 60


def send(broker: Broker, topic: str, numbers: range) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 5})
    for number in numbers:
        producer.produce(topic, key=f"customer-{number % CUSTOMERS}", value=f"order {number}")
    assert producer.flush(SENT_SECONDS_MAX) == 0


def records_in(broker: Broker, topic: str) -> int:
    return sum(not record.is_control for record in broker.records(topic))


def compared(spark: SparkSession, primary: Broker, backup: Broker) -> Counter[tuple[str, str | None]]:
    """Return the number of findings of each kind and cause."""
    register(spark)
    left = parse_side("left", SideArguments(f"topic://{primary.bootstrap_servers}/orders"))
    right = parse_side("right", SideArguments(f"topic://{backup.bootstrap_servers}"))
    request = CompareRequest(left, right, Matching("position"), parse_topic_map(["*=primary.*"]))
    return Counter((row["kind"], row["cause"]) for row in compare(spark, check_request(request)).findings.collect())


def test_a_mirror_is_complete_until_it_lags_or_has_a_copy(spark: SparkSession, tmp_path: Path) -> None:
    mirror = java_program("mirror_maker", "org.apache.kafka.connect.mirror.MirrorMaker")
    with Broker() as primary, Broker() as backup:
        primary.topics.create("orders", partitions=PARTITIONS)
        send(primary, "orders", range(ORDERS))
        addresses = {
            "primary__bootstrap__servers": primary.bootstrap_servers,
            "backup__bootstrap__servers": backup.bootstrap_servers,
        }
        settings = settings_of(mirror, "mirror.properties", tmp_path, **addresses)
        with mirror.running(tmp_path / "log", settings) as running:
            running.wait_until(lambda: has_topic(backup) and records_in(backup, "primary.orders") == ORDERS)

        whole = compared(spark, primary, backup)
        # After the end of the mirror.
        send(primary, "orders", range(ORDERS, ORDERS + 5))
        send(backup, "primary.orders", range(10, 13))
        with_faults = compared(spark, primary, backup)

    assert whole == Counter()
    assert with_faults == Counter({("pending", None): 5, ("duplicated", "idempotence_off"): 3})


def has_topic(broker: Broker) -> bool:
    return any(topic.name == "primary.orders" for topic in broker.topics.list())
