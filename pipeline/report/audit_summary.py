"""The totals of an audit: records read, findings by kind and cause, and the first examples of each.

Its size does not depend on the number of findings: Spark counts them, and only the examples come to the driver.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as f

from ..checks.baseline import IDENTITY
from ..checks.event_audit import DUPLICATE, REPEATED_ID
from ..checks.finding_kinds import HARMLESS_KINDS
from ..checks.findings import FINDING_COLUMNS, findings_of
from .summary import EventTotals, Example, FindingGroup, TopicKind, TopicLateness, TopicTotals

# For each kind and cause; few enough to read.
EXAMPLES_MAX = 5
# The totals list at most this many topics.
TOPICS_MAX = 100
# Fewer copies are few enough to be looked at, whatever the id.
DUPLICATES_MIN_IN_DOUBT = 1_000

# The findings in the JSON of a verdict: enough for the baseline of most logs, and a few megabytes.
FINDINGS_MAX = 10_000
# Topics with an entry of their own in a report by topic.
TOPICS_WITH_FINDINGS_MAX = 1_000
# The null topic, and one more, which shows that there are others.
_NAMES_READ = TOPICS_WITH_FINDINGS_MAX + 2
OTHER_TOPICS = "(other topics)"

_GROUP = ("check", "kind", "cause")
_TOPIC_KIND = ("suite", "check", "kind")


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


def lateness_totals(lateness: DataFrame | None) -> tuple[TopicLateness, ...]:
    """Return the lateness of the first TOPICS_MAX topics. lateness: from lateness_of_topics; None without one."""
    if lateness is None:
        return ()
    return tuple(TopicLateness(**row.asDict()) for row in lateness.orderBy("topic").limit(TOPICS_MAX).collect())


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
    """Return findings by kind and cause, faults first. Reads the frame twice.

    findings: with is_known (baseline.with_known), or without it if there is no baseline.
    """
    findings = _with_is_known(findings)
    examples = _examples_by(findings, _GROUP)
    counted = findings.groupBy(*_GROUP).agg(
        f.count("*").alias("findings"),
        f.sum(f.coalesce("count", f.lit(1))).alias("records"),
        f.count_if("is_known").alias("known"),
    )
    groups = [
        FindingGroup(
            *(row["check"], row["kind"], row["cause"]),
            is_fault=row["kind"] not in HARMLESS_KINDS,
            findings=row["findings"],
            records=row["records"],
            examples=tuple(examples[_values(row, _GROUP)]),
            known=row["known"],
        )
        for row in counted.orderBy(*_GROUP).collect()
    ]
    return tuple(sorted(groups, key=lambda group: not group.is_fault))


def kinds_by_topic(findings: DataFrame) -> tuple[TopicKind, ...]:
    """Return findings by topic and kind, for a report with one entry for each. Reads the frame three times.

    findings: as for finding_groups. The topics behind the first TOPICS_WITH_FINDINGS_MAX are one topic.
    """
    findings = _with_is_known(findings)
    names = [row["topic"] for row in findings.select("topic").distinct().orderBy("topic").limit(_NAMES_READ).collect()]
    listed = [name for name in names if name is not None][:TOPICS_WITH_FINDINGS_MAX]
    is_listed = f.col("topic").isNull() | f.col("topic").isin(listed)
    findings = findings.withColumn("suite", f.when(is_listed, f.col("topic")).otherwise(OTHER_TOPICS))
    examples = _examples_by(findings, _TOPIC_KIND)
    counted = findings.groupBy(*_TOPIC_KIND).agg(f.count("*").alias("findings"), f.count_if("is_known").alias("known"))
    return tuple(
        TopicKind(
            *(row["suite"], row["check"], row["kind"]),
            findings=row["findings"],
            known=row["known"],
            examples=tuple(examples[_values(row, _TOPIC_KIND)]),
        )
        for row in counted.orderBy(*_TOPIC_KIND).collect()
    )


def identities(findings: DataFrame, kinds: Collection[str]) -> list[dict[str, object]]:
    """Return the identities of the first FINDINGS_MAX findings of the kinds, for the baseline of a later audit."""
    wanted = findings.where(f.col("kind").isin(*kinds)).select(*IDENTITY, "count")
    return [row.asDict() for row in wanted.orderBy(*IDENTITY).limit(FINDINGS_MAX).collect()]


def _with_is_known(findings: DataFrame) -> DataFrame:
    return findings if "is_known" in findings.columns else findings.withColumn("is_known", f.lit(False))


def _examples_by(findings: DataFrame, keys: Sequence[str]) -> dict[tuple[str | None, ...], list[Example]]:
    """Return the first examples of each group, new ones before known ones."""
    place = Window.partitionBy(*keys).orderBy("is_known", "topic", "partition", "offset", "event_id", "group_id")
    numbered = findings.withColumn("number", f.row_number().over(place)).where(f.col("number") <= EXAMPLES_MAX)
    at = f.date_format("timestamp", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
    first = numbered.withColumn("timestamp", at).orderBy(*keys, "number")
    first = first.select(*dict.fromkeys((*FINDING_COLUMNS, "is_known", *keys)))
    examples: dict[tuple[str | None, ...], list[Example]] = {}
    for row in first.collect():
        examples.setdefault(_values(row, keys), []).append(_example(row))
    return examples


def _values(row: Row, keys: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(row[key] for key in keys)


def _example(row: Row) -> Example:
    values = cast(dict[str, object], row.asDict())
    return Example(**{name: value for name, value in values.items() if name not in (*_GROUP, *_TOPIC_KIND)})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
