"""An open transaction hangs when its own timeout and the check interval of the broker have passed."""

import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.checks.transaction_timeouts import CHECK_INTERVAL_MS, MAX_TIMEOUT_MS
from fauxka.pipeline.cluster.spark_session import register
from fauxka.testing import Broker

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

INTERVAL_MS = 5_000
MAX_MS = 3_600_000
# Of two transactional ids; the first is shorter than Kafka's default maximum, the second longer.
TIMEOUTS_MS = {"short": 600_000, "long": 1_800_000}
SECONDS_MAX = 30


@dataclass(frozen=True, slots=True)
class Opened:
    """A broker with an open transaction in each topic. begun: by topic, its beginning, at the earliest and latest."""

    bootstrap: str
    begun: Mapping[str, tuple[int, int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def opened(folder: Path) -> Iterator[Opened]:
    configs = {
        "transaction.max.timeout.ms": MAX_MS,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": INTERVAL_MS,
    }
    with Broker(configs, data_dir=folder) as broker:
        producers: list[Producer] = []
        begun: dict[str, tuple[int, int]] = {}
        for name, timeout_ms in TIMEOUTS_MS.items():
            broker.topics.create(name, partitions=1)
            producer = Producer(
                {
                    "bootstrap.servers": broker.bootstrap_servers,
                    "transactional.id": name,
                    "transaction.timeout.ms": timeout_ms,
                }
            )
            producer.init_transactions(SECONDS_MAX)
            before = now_ms()
            producer.begin_transaction()
            producer.produce(name, b"one coffee", partition=0)
            assert producer.flush(SECONDS_MAX) == 0
            begun[name] = (before, now_ms())
            producers.append(producer)
        yield Opened(broker.bootstrap_servers, begun)


def now_ms() -> int:
    return round(time.time() * 1000)


def assert_hangs_after(
    spark: SparkSession, place: dict[str, str], topic: str, begun: tuple[int, int], ends_ms: int
) -> None:
    register(spark)
    earliest, latest = begun
    kinds: list[str] = []
    for as_of_ms in (earliest + ends_ms - 1, latest + ends_ms + 1):
        found = audit(spark, AuditRequest({**place, "topics": topic}, as_of_ms=as_of_ms)).collect()
        kinds += [row["kind"] for row in found]
    assert kinds == ["open_transaction", "hanging_transaction"]


@pytest.mark.parametrize("name", TIMEOUTS_MS)
def test_its_own_timeout_and_the_interval_of_the_broker_decide(spark: SparkSession, opened: Opened, name: str) -> None:
    ends_ms = TIMEOUTS_MS[name] + INTERVAL_MS

    assert_hangs_after(spark, {"bootstrap": opened.bootstrap}, name, opened.begun[name], ends_ms)


@pytest.mark.parametrize("name", TIMEOUTS_MS)
def test_in_a_folder_its_own_timeout_and_the_default_interval_decide(
    spark: SparkSession, opened: Opened, folder: Path, name: str, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    ends_ms = TIMEOUTS_MS[name] + CHECK_INTERVAL_MS

    assert_hangs_after(spark, {"path": str(tmp_path / "copy")}, name, opened.begun[name], ends_ms)


def test_without_the_log_of_the_coordinator_the_default_maximum_decides(
    spark: SparkSession, opened: Opened, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder / "long-0", tmp_path / "long-0")

    ends_ms = MAX_TIMEOUT_MS + CHECK_INTERVAL_MS
    assert_hangs_after(spark, {"path": str(tmp_path)}, "long", opened.begun["long"], ends_ms)
