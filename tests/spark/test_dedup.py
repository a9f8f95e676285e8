"""Deduplication as functions of literal frames and of a stream of segment files."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.testing import assertDataFrameEqual  # pyright: ignore[reportUnknownVariableType]

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.dedup.dedup import check_window, counts_of, first_copies

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

SCHEMA = "topic string, partition int, offset bigint, key string, damage string, is_control boolean"
Row = tuple[str, int, int, str | None, str | None, bool | None]


def frame(spark: SparkSession, *rows: Row) -> DataFrame:
    return spark.createDataFrame(list(rows), SCHEMA)


def kept(spark: SparkSession, *rows: tuple[str, int, int, str | None]) -> DataFrame:
    return spark.createDataFrame(list(rows), "topic string, partition int, offset bigint, event_id string")


def test_the_first_copy_of_each_event_is_kept(spark: SparkSession) -> None:
    records = frame(
        spark,
        ("t", 1, 5, "a", None, False),
        ("t", 0, 9, "a", None, False),
        ("t", 0, 3, "b", None, False),
        ("t", 0, 2, "b", None, False),
    )

    actual = first_copies(records, f.col("key")).select("topic", "partition", "offset", "event_id")

    assertDataFrameEqual(actual, kept(spark, ("t", 0, 9, "a"), ("t", 0, 2, "b")))


def test_records_without_an_event_id_are_all_kept(spark: SparkSession) -> None:
    records = frame(spark, ("t", 0, 0, None, None, False), ("t", 0, 1, None, None, False))

    actual = first_copies(records, f.col("key")).select("topic", "partition", "offset", "event_id")

    assertDataFrameEqual(actual, kept(spark, ("t", 0, 0, None), ("t", 0, 1, None)))


def test_markers_and_damaged_batches_are_left_out(spark: SparkSession) -> None:
    records = frame(spark, ("t", 0, 0, "a", "crc", None), ("t", 0, 1, "a", None, True), ("t", 0, 2, "a", None, None))

    actual = first_copies(records, f.col("key")).select("topic", "partition", "offset", "event_id")

    assertDataFrameEqual(actual, kept(spark, ("t", 0, 2, "a")))


def test_rows_are_counted_before_they_are_dropped(spark: SparkSession) -> None:
    records = frame(
        spark,
        ("t", 0, 0, "a", None, False),
        ("t", 0, 1, "a", None, False),
        ("t", 0, 2, None, None, False),
        ("t", 0, 3, None, None, True),
        ("t", 0, 4, None, "crc", None),
        ("t", 0, 5, "", None, False),
    )

    actual = records.agg(*counts_of(f.nullif(f.col("key"), f.lit("")), f.coalesce(f.col("key") == "", f.lit(False))))

    names = ("records_read", "without_event_id", "empty_ids", "undecodable", "damaged_batches")
    counts = ", ".join(f"{name} bigint" for name in names) + ", problem string"
    assertDataFrameEqual(actual, spark.createDataFrame([(4, 2, 1, 0, 1, None)], counts))


@pytest.mark.parametrize("text", ["", "1", "10 parsecs", "0 seconds", "-1 hour", "1 hour; drop", "9999999 days"])
def test_an_invalid_window_is_an_error(text: str) -> None:
    with pytest.raises(BadOption, match="within: must be a number"):
        check_window(text)
