"""The totals of an audit: records read, findings by kind and cause, and the first examples of each.

Its size does not depend on the number of findings: Spark counts them, and only the examples come to the driver.
"""

from __future__ import annotations

from typing import cast

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as f

from ..findings import FINDING_COLUMNS, HARMLESS_KINDS
from .summary import Example, FindingGroup, TopicTotals

# For each kind and cause; few enough to read.
EXAMPLES_MAX = 5
# The totals list at most this many topics.
TOPICS_MAX = 100

_GROUP = ("check", "kind", "cause")


def topic_totals(batches: DataFrame) -> tuple[TopicTotals, ...]:
    """Return the totals of each topic. batches: the batches view with TOTALS_COLUMNS."""
    is_data = ~f.coalesce("is_control", f.lit(False))
    rows = (
        batches.groupBy("topic")
        .agg(
            f.count_distinct("partition").alias("partitions"),
            f.count("*").alias("batches"),
            f.coalesce(f.sum(f.when(is_data, f.col("records_count"))), f.lit(0)).alias("records"),
            f.sum("batch_bytes").alias("bytes"),
            f.count_distinct(f.when(f.col("producer_id") >= 0, f.col("producer_id"))).alias("producers"),
        )
        .orderBy("topic")
        .limit(TOPICS_MAX)
        .collect()
    )
    names = ("topic", "partitions", "batches", "records", "bytes", "producers")
    return tuple(TopicTotals(*(row[name] for name in names)) for row in rows)


# The columns of the batches view that topic_totals reads.
TOTALS_COLUMNS = ("topic", "partition", "is_control", "records_count", "batch_bytes", "producer_id")


def finding_groups(findings: DataFrame) -> tuple[FindingGroup, ...]:
    """Return findings by kind and cause, faults first. Reads the frame twice."""
    examples: dict[tuple[str, str, str | None], list[Example]] = {}
    for row in _first_of_each(findings).collect():
        examples.setdefault(_group_of(row), []).append(_example(row))
    counted = findings.groupBy(*_GROUP).agg(
        f.count("*").alias("findings"), f.sum(f.coalesce("count", f.lit(1))).alias("records")
    )
    groups = [
        FindingGroup(
            *_group_of(row),
            is_fault=row["kind"] not in HARMLESS_KINDS,
            findings=row["findings"],
            records=row["records"],
            examples=tuple(examples[_group_of(row)]),
        )
        for row in counted.orderBy(*_GROUP).collect()
    ]
    return tuple(sorted(groups, key=lambda group: not group.is_fault))


def _first_of_each(findings: DataFrame) -> DataFrame:
    place = Window.partitionBy(*_GROUP).orderBy("topic", "partition", "offset", "event_id")
    numbered = findings.withColumn("number", f.row_number().over(place)).where(f.col("number") <= EXAMPLES_MAX)
    at = f.date_format("timestamp", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
    return numbered.withColumn("timestamp", at).orderBy(*_GROUP, "number").select(*FINDING_COLUMNS)


def _group_of(row: Row) -> tuple[str, str, str | None]:
    return row["check"], row["kind"], row["cause"]


def _example(row: Row) -> Example:
    values = cast(dict[str, object], row.asDict())
    return Example(**{name: value for name, value in values.items() if name not in _GROUP})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
