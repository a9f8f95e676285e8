"""The rows from which the pictures of an audit's page are drawn; their number is limited."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from .report_svg import axis_for

# As many bars as a screen can show.
BARS_MAX = 48
GAPS_MAX = 200
SPANS_MAX = 200
# More than the number of causes.
_CAUSES_MAX = 16

# The columns of the batches view that producer_spans reads.
BATCH_COLUMNS = (
    "topic",
    "partition",
    "producer_id",
    "producer_epoch",
    "max_timestamp",
    "base_offset",
    "last_offset",
)

Rows = list[dict[str, object]]


def pictures_of(findings: DataFrame, batches: DataFrame) -> dict[str, Rows]:
    """Return the rows of each picture by its name, as plain data."""
    return {
        "copies": copies_over_time(findings),
        "gaps": _plain(gaps(findings).collect()),
        "producers": _plain(producer_spans(batches).collect()),
    }


def copies_over_time(findings: DataFrame) -> Rows:
    """Return the number of further copies by cause in each of BARS_MAX intervals of time."""
    return _over_time(findings.where(f.col("kind") == "duplicate"))


def kinds_over_time(findings: DataFrame) -> Rows:
    """Return the number of records of findings by kind in each of BARS_MAX intervals of time."""
    return _over_time(findings.withColumn("cause", f.col("kind")))


def _over_time(findings: DataFrame) -> Rows:
    """Return the rows of bars, by offset if all is in a short time and each finding has an offset."""
    timed = findings.where(f.col("timestamp").isNotNull()).withColumn("at_ms", f.unix_millis("timestamp"))
    ends = timed.agg(
        *(f.min(name).alias(f"first_{name}") for name in ("at_ms", "offset")),
        *(f.max(name).alias(f"last_{name}") for name in ("at_ms", "offset")),
        f.count_if(f.col("offset").isNull()).alias("without_offset"),
    ).collect()[0]
    if ends["first_at_ms"] is None:
        return []
    axis = "time" if ends["without_offset"] else axis_for(ends["first_at_ms"], ends["last_at_ms"])
    place = "at_ms" if axis == "time" else "offset"
    found = bars_of(timed, place, ends[f"first_{place}"], ends[f"last_{place}"])
    return [{"axis": axis, **row} for row in _plain(found.collect())]


def bars_of(timed: DataFrame, place: str, first: int, last: int) -> DataFrame:
    """Return the findings by cause and interval of a column. timed: has at_ms. first, last: values of the column."""
    width = (last - first) // BARS_MAX + 1
    number = f.floor((f.col(place) - f.lit(first)) / f.lit(width))
    return (
        timed.groupBy((f.lit(first) + number * f.lit(width)).alias("first"), f.coalesce("cause", "kind").alias("cause"))
        .agg(
            f.sum(f.coalesce("count", f.lit(1))).alias("count"),
            f.min("at_ms").alias("first_ms"),
            f.max("at_ms").alias("last_ms"),
        )
        .select("first", f.lit(width).cast("bigint").alias("width"), "cause", "count", "first_ms", "last_ms")
        .orderBy("first", "cause")
        .limit(BARS_MAX * _CAUSES_MAX)
    )


def gaps(findings: DataFrame) -> DataFrame:
    """Return the largest gaps, in log order."""
    found = findings.where((f.col("check") == "sequence") & (f.col("kind") == "gap") & f.col("offset").isNotNull())
    missing = f.coalesce("count", f.lit(1)).cast("bigint").alias("missing")
    largest = found.select("topic", "partition", "offset", missing).orderBy(f.desc("missing"), "topic", "partition")
    return largest.limit(GAPS_MAX).orderBy("topic", "partition", "offset")


def producer_spans(batches: DataFrame) -> DataFrame:
    """Return first and last timestamp of each producer epoch in each partition, for those with the most batches."""
    of_producers = batches.where((f.col("producer_id") >= 0) & (f.unix_millis("max_timestamp") >= 0))
    return (
        of_producers.groupBy("producer_id", "topic", "partition", "producer_epoch")
        .agg(
            f.min(f.unix_millis("max_timestamp")).alias("first_ms"),
            f.max(f.unix_millis("max_timestamp")).alias("last_ms"),
            f.min("base_offset").alias("first_offset"),
            f.max("last_offset").alias("last_offset"),
            f.count("*").alias("batches"),
        )
        .orderBy(f.desc("batches"), "producer_id", "topic", "partition", "producer_epoch")
        .limit(SPANS_MAX)
        .orderBy("producer_id", "topic", "partition", "producer_epoch")
    )


def _plain(rows: list[Row]) -> Rows:
    return [row.asDict() for row in rows]
