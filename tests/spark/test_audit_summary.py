"""The summary of findings has limited examples and complete counts."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.audit.audit_summary import EXAMPLES_MAX, finding_groups, topic_totals
from fauxka.pipeline.audit.summary import TopicTotals
from fauxka.pipeline.findings import FINDING_COLUMNS, FINDING_SCHEMA

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


def test_totals_leave_out_markers_and_producers_without_an_id(spark: SparkSession) -> None:
    rows = batches(
        spark,
        batch(0, 0, 5),
        batch(5, -1, 2, producer_id=-1, producer_epoch=-1),
        batch(0, 0, 3, partition=1, producer_id=8),
        marker(3, "commit", partition=1, producer_id=8),
        {"topic": "u", "partition": 0, "batch_bytes": 12, "valid_crc": False, "damage": "cut off"},
    )

    assert topic_totals(rows) == (
        TopicTotals("t", partitions=2, batches=4, records=10, bytes=400, producers=2),
        TopicTotals("u", partitions=1, batches=1, records=0, bytes=12, producers=0),
    )
