"""A table of Delta Lake: the planted faults are found, and nothing else is."""

import sys
from functools import partial
from pathlib import Path

import pytest

from ..serving_process import run
from .compared_formats import TableFormat, assert_planted_faults_are_found
from .maven_jars import format_jars

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

RUN_SECONDS_MAX = 500
DELTA = TableFormat(
    "delta",
    "{folder}/orders",
    (
        "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
    ),
)


def test_planted_faults_in_a_table_with_deleted_rows(tmp_path: Path) -> None:
    python = partial(run, command=(sys.executable,), seconds_max=RUN_SECONDS_MAX)

    assert_planted_faults_are_found(DELTA, tmp_path, format_jars("delta"), python)
