"""An open transaction hangs when its own timeout and the check interval of the broker have passed."""

import shutil
import time
from collections.abc import Iterator
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
TIMEOUTS_MS = {"short": 120_000, "long": 1_800_000}
SECONDS_MAX = 30
# More than a test takes from the beginning of the transactions to its audit.
SLACK_MS = 60_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def bootstrap(folder: Path) -> Iterator[str]:
    configs = {
        "transaction.max.timeout.ms": MAX_MS,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": INTERVAL_MS,
    }
    with Broker(configs, data_dir=folder) as broker:
        producers: list[Producer] = []
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
            producer.begin_transaction()
            producer.produce(name, b"one coffee", partition=0)
            assert producer.flush(SECONDS_MAX) == 0
            producers.append(producer)
        yield broker.bootstrap_servers


def hanging(spark: SparkSession, place: dict[str, str], topic: str, later_ms: int) -> bool:
    register(spark)
    then = round(time.time() * 1000) + later_ms
    found = audit(spark, AuditRequest({**place, "topics": topic}, as_of_ms=then)).collect()
    (kind,) = (row["kind"] for row in found)
    return {"open_transaction": False, "hanging_transaction": True}[kind]


@pytest.mark.parametrize("name", TIMEOUTS_MS)
def test_its_own_timeout_and_the_interval_of_the_broker_decide(spark: SparkSession, bootstrap: str, name: str) -> None:
    ends_ms = TIMEOUTS_MS[name] + INTERVAL_MS

    assert not hanging(spark, {"bootstrap": bootstrap}, name, ends_ms - SLACK_MS)
    assert hanging(spark, {"bootstrap": bootstrap}, name, ends_ms + 1)


@pytest.mark.usefixtures("bootstrap")
@pytest.mark.parametrize("name", TIMEOUTS_MS)
def test_in_a_folder_its_own_timeout_and_the_default_interval_decide(
    spark: SparkSession, folder: Path, name: str, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    ends_ms = TIMEOUTS_MS[name] + CHECK_INTERVAL_MS

    assert not hanging(spark, {"path": str(tmp_path / "copy")}, name, ends_ms - SLACK_MS)
    assert hanging(spark, {"path": str(tmp_path / "copy")}, name, ends_ms + 1)


@pytest.mark.usefixtures("bootstrap")
def test_without_the_log_of_the_coordinator_the_default_maximum_decides(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder / "long-0", tmp_path / "long-0")

    assert not hanging(spark, {"path": str(tmp_path)}, "long", MAX_TIMEOUT_MS + CHECK_INTERVAL_MS - SLACK_MS)
    assert hanging(spark, {"path": str(tmp_path)}, "long", MAX_TIMEOUT_MS + CHECK_INTERVAL_MS + 1)
