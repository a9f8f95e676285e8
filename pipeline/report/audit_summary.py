"""The totals of an audit: records read, findings by kind and cause, and the first examples of each.

Its size does not depend on the number of findings: Spark counts them, and only the examples come to the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as f

from ..checks.event_audit import DUPLICATE, REPEATED_ID
from ..checks.findings import FINDING_COLUMNS, HARMLESS_KINDS, findings_of
from .summary import EventTotals, Example, FindingGroup, TopicTotals

# For each kind and cause; few enough to read.
EXAMPLES_MAX = 5
# The totals list at most this many topics.
TOPICS_MAX = 100
# Fewer copies are few enough to be looked at, whatever the id.
DUPLICATES_MIN_IN_DOUBT = 1_000

_GROUP = ("check", "kind", "cause")


def topic_totals(batches: DataFrame) -> tuple[TopicTotals, ...]:
    """Return the totals of each topic. batches: the batches view with TOTALS_COLUMNS."""
    is_read = f.col("valid_crc") & f.col("damage").isNull()
    is_data = is_read & ~f.coalesce("is_control", f.lit(False))
    rows = (
        batches.groupBy("topic")
        .agg(
            f.count_distinct("partition").alias("partitions"),
            f.count_if(is_read).alias("batches"),
            f.coalesce(f.sum(f.when(is_data, f.col("records_count"))), f.lit(0)).alias("records"),
            f.coalesce(f.sum(f.when(is_read, f.col("batch_bytes"))), f.lit(0)).alias("bytes"),
            f.count_distinct(f.when(is_read & (f.col("producer_id") >= 0), f.col("producer_id"))).alias("producers"),
            f.count_if(~is_read).alias("damaged_batches"),
        )
        .orderBy("topic")
        .limit(TOPICS_MAX)
        .collect()
    )
    return tuple(TopicTotals(**row.asDict()) for row in rows)


# The columns of the batches view that topic_totals reads.
TOTALS_COLUMNS = (
    *("topic", "partition", "is_control", "records_count", "batch_bytes", "producer_id", "valid_crc", "damage"),
)


def event_totals(counts: DataFrame, findings: DataFrame) -> tuple[EventTotals, ...]:
    """Return the totals of each topic. counts: from count_events. findings: of audit_events, all of them."""
    further = findings.where(f.col("kind") == DUPLICATE).groupBy("topic").agg(f.count("*").alias("further"))
    summed = ("with_id", "without_id", "empty_ids", "undecodable")
    totals = counts.groupBy("topic").agg(*(f.sum(name).alias(name) for name in summed))
    rows = totals.join(further, "topic", "left").withColumn("ids", f.col("with_id") - f.coalesce("further", f.lit(0)))
    names = ("topic", "with_id", "ids", "without_id", "empty_ids", "undecodable")
    return tuple(
        EventTotals(*(row[name] for name in names)) for row in rows.orderBy("topic").limit(TOPICS_MAX).collect()
    )


def is_id_in_doubt(totals: EventTotals) -> bool:
    """Whether the event id repeats in most records, so that it hardly identifies an event."""
    further = totals.with_id - totals.ids
    return further > DUPLICATES_MIN_IN_DOUBT and further > totals.with_id // 2


def with_hints(findings: DataFrame, totals: Sequence[EventTotals]) -> DataFrame:
    """Return the findings with one `repeated_event_id` in place of the copies of each topic whose id is in doubt."""
    doubtful = [one for one in totals if is_id_in_doubt(one)]
    if not doubtful:
        return findings
    rows = [
        (one.topic, one.with_id - one.ids, f"is this id unique? {one.ids:,} ids in {one.with_id:,} records")
        for one in doubtful
    ]
    told = findings.sparkSession.createDataFrame(rows, "topic string, count bigint, detail string")
    hints = findings_of(told, "event", REPEATED_ID, {name: name for name in ("topic", "count", "detail")})
    is_replaced = (f.col("kind") == DUPLICATE) & f.col("topic").isin([one.topic for one in doubtful])
    return findings.where(~is_replaced).unionByName(hints)


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
