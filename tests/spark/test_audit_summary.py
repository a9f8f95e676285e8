"""The summary of findings has limited examples and complete counts."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.checks.event_audit import COUNTS_SCHEMA
from fauxka.pipeline.checks.findings import FINDING_COLUMNS, FINDING_SCHEMA
from fauxka.pipeline.report.audit_summary import (
    DUPLICATES_MIN_IN_DOUBT,
    EXAMPLES_MAX,
    event_totals,
    finding_groups,
    topic_totals,
    with_hints,
)
from fauxka.pipeline.report.summary import EventTotals, TopicTotals

from .frames import at, batch, batches, marker

pytestmark = pytest.mark.spark


def findings(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    return spark.createDataFrame([tuple(row.get(name) for name in FINDING_COLUMNS) for row in rows], FINDING_SCHEMA)


def test_findings_are_counted_by_kind_and_cause_and_the_first_of_each_are_shown(spark: SparkSession) -> None:
    copies: list[dict[str, object]] = [
        {"check": "event", "kind": "copy", "cause": "sent_again", "topic": "t", "partition": 0, "offset": offset}
        for offset in (9, 3, 7, 1, 5, 8, 2)
    ]
    lost: dict[str, object] = {"check": "ledger", "kind": "lost", "count": 4, "timestamp": at(0.25), "detail": "gone"}
    aborted: dict[str, object] = {"check": "event", "kind": "aborted_transaction", "count": 2}

    groups = finding_groups(findings(spark, *copies, lost, aborted))

    assert [(group.check, group.kind, group.cause, group.findings, group.records) for group in groups] == [
        ("event", "copy", "sent_again", 7, 7),
        ("ledger", "lost", None, 1, 4),
        ("event", "aborted_transaction", None, 1, 2),
    ]
    assert [group.is_fault for group in groups] == [True, True, False]
    assert [example.offset for example in groups[0].examples] == [1, 2, 3, 5, 7][:EXAMPLES_MAX]
    assert (groups[1].examples[0].timestamp, groups[1].examples[0].detail) == ("2026-01-01T00:00:00.250Z", "gone")


def test_totals_leave_out_markers_producers_without_an_id_and_what_could_not_be_read(spark: SparkSession) -> None:
    rows = batches(
        spark,
        batch(0, 0, 5),
        batch(5, -1, 2, producer_id=-1, producer_epoch=-1),
        batch(0, 0, 3, partition=1, producer_id=8),
        marker(3, "commit", partition=1, producer_id=8),
        {"topic": "u", "partition": 0, "batch_bytes": 12, "valid_crc": False, "damage": "cut off"},
        batch(0, 0, topic="u", producer_id=9, damage="no codec has the number 7"),
    )

    assert topic_totals(rows) == (
        TopicTotals("t", partitions=2, batches=4, records=10, bytes=400, producers=2),
        TopicTotals("u", partitions=1, batches=0, records=0, bytes=0, producers=0, damaged_batches=2),
    )


def counts_of(spark: SparkSession, **totals: tuple[int, int, int, int]) -> DataFrame:
    """Counted events by topic: with an id, without one, empty ones and undecodable ones."""
    rows = [(topic, 0, *counted, None, None, None) for topic, counted in totals.items()]
    return spark.createDataFrame(rows, COUNTS_SCHEMA)


def copies(topic: str, count: int) -> list[dict[str, object]]:
    return [
        {"check": "event", "kind": "duplicate", "topic": topic, "partition": 0, "offset": offset, "count": 1}
        for offset in range(count)
    ]


def test_distinct_ids_are_the_records_without_their_further_copies(spark: SparkSession) -> None:
    found = findings(spark, *copies("t", 3), {"check": "event", "kind": "no_event_id", "topic": "t", "count": 2})

    totals = event_totals(counts_of(spark, t=(10, 5, 1, 3), u=(5, 0, 0, 0)), found)

    assert totals == (EventTotals("t", 10, 7, 5, 1, 3), EventTotals("u", 5, 5, 0, 0, 0))


def test_an_id_that_repeats_in_most_records_is_one_hint(spark: SparkSession) -> None:
    few, many = DUPLICATES_MIN_IN_DOUBT, DUPLICATES_MIN_IN_DOUBT + 1
    found = findings(spark, *copies("doubtful", many), *copies("copied", many), *copies("small", few))
    totals = [
        EventTotals("doubtful", 2 * many - 1, many - 1, 0, 0),
        EventTotals("copied", 2 * many, many, 0, 0),
        EventTotals("small", few + 1, 1, 0, 0),
    ]

    told = with_hints(found, totals)

    assert {row["topic"]: row["count"] for row in told.groupBy("topic").count().collect()} == {
        **{"doubtful": 1, "copied": many, "small": few},
    }
    (hint,) = told.where("topic = 'doubtful'").collect()
    assert (hint["kind"], hint["count"], hint["detail"]) == (
        *("repeated_event_id", many),
        f"is this id unique? {many - 1:,} ids in {2 * many - 1:,} records",
    )
