"""fauxka.pipeline.session(): its settings and formats."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fauxka import pipeline
from fauxka.pipeline.checks.task_sizes import shuffle_tasks

from ..pipeline.logs_on_disk import batches, write_segment

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    settings = {"spark.sql.shuffle.partitions": "3", "spark.driver.memory": "1g"}
    session = pipeline.session("local[2]", settings=settings)
    yield session
    session.stop()


def test_the_session_reads_a_log_in_utc_with_the_users_settings(spark: SparkSession, tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 5))

    rows = spark.read.format("fauxka-log").load(str(tmp_path))

    assert rows.count() == 10
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    assert pipeline.session().sparkContext is spark.sparkContext


def test_a_shuffle_has_a_task_for_each_core_and_more_for_a_large_log() -> None:
    assert shuffle_tasks(0, cores=2) == 2
    assert shuffle_tasks(10 * 2**30, cores=2) == 320
    assert shuffle_tasks(2**50, cores=2) == 20_000
