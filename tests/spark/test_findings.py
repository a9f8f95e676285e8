"""Findings of several audits as one frame."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.checks.findings import FINDING_COLUMNS, FINDING_SCHEMA, all_findings, findings_of, in_words

from .frames import assert_same

pytestmark = pytest.mark.spark


def test_a_finding_has_all_columns_and_null_by_default(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("t", 3)], "name string, number int")

    found = findings_of(rows, "ledger", "lost", {"topic": "name", "offset": f.col("number") + 1})

    expected = dict.fromkeys(FINDING_COLUMNS) | {"check": "ledger", "kind": "lost", "topic": "t", "offset": 4}
    assert_same(found, spark.createDataFrame([tuple(expected.values())], FINDING_SCHEMA))


def test_findings_of_several_audits_are_one_frame(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1,)], "offset bigint")
    first = findings_of(rows, "log", f.lit("this"), {"offset": "offset"})
    second = findings_of(rows, f.lit("event"), "that", {})

    together = all_findings(spark.createDataFrame([], FINDING_SCHEMA), first, second)

    expected = spark.createDataFrame([("log", "this", 1), ("event", "that", None)], "check string, kind string, n long")
    assert_same(together.select("check", "kind", f.col("offset").alias("n")), expected)


def test_a_column_that_findings_do_not_have_is_refused(spark: SparkSession) -> None:
    with pytest.raises(AssertionError, match="offsets"):
        findings_of(spark.range(1), "log", "this", {"offsets": f.lit(1)})


def test_a_null_becomes_a_question_mark(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(None,), (5,)], "number int")

    told = rows.select(in_words("after ", f.col("number"), " of 9").alias("words"))

    assert_same(told, spark.createDataFrame([("after ? of 9",), ("after 5 of 9",)], "words string"))
