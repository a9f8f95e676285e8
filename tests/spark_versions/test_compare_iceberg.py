"""A table of Iceberg, which has no release for the pyspark of the other tests."""

from functools import partial
from pathlib import Path

import pytest

from ..spark.compared_formats import TableFormat, assert_planted_faults_are_found
from ..spark.maven_jars import format_jars
from .environments import SparkVersion, environment_of

pytestmark = [pytest.mark.spark_versions, pytest.mark.timeout(1800)]

RUN_SECONDS_MAX = 600
ICEBERG = TableFormat(
    "iceberg",
    "lake.shop.orders",
    (
        "spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type=hadoop",
        "spark.sql.catalog.lake.warehouse={folder}/lake",
    ),
)


def test_planted_faults_in_a_table_with_deleted_rows(tmp_path: Path) -> None:
    python = partial(environment_of(SparkVersion("4.0.5")).run, seconds_max=RUN_SECONDS_MAX)

    assert_planted_faults_are_found(ICEBERG, tmp_path, format_jars("iceberg"), python)
