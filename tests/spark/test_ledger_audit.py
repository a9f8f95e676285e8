"""The audit of a ledger: each kind of finding, and cases without a finding, on small literal frames."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.testing import assertDataFrameEqual  # pyright: ignore[reportUnknownVariableType]

from fauxka.pipeline.checks.ledger_audit import audit_ledger
from fauxka.pipeline.checks.log_bounds import BOUNDS_SCHEMA
from fauxka.pipeline.checks.sent_ledger import SENT_SCHEMA
from fauxka.pipeline.decode.views import ViewName, columns_of, schema_of

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

TOLD = "kind string, event_id string, partition int, offset bigint, other_offset bigint, count bigint, cause string"
AT = datetime(2026, 1, 1)

Sent = tuple[str, str | None, int | None, str | None, int | None, int | None, str | None]


def frame(spark: SparkSession, view: ViewName, rows: Sequence[Mapping[str, object]]) -> DataFrame:
    """Rows of a view; columns that a row omits are null."""
    names = [column.name for column in columns_of(view)]
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], schema_of(view))


def log(spark: SparkSession, *events: str | None, partition: int = 0, **columns: object) -> DataFrame:
    """Records with these event ids as keys, at the offsets 0, 1, 2...; columns apply to all of them."""
    rows = [
        {"topic": "t", "partition": partition, "offset": offset, "timestamp": AT, "is_control": False}
        | {"key": None if event is None else event.encode()}
        | columns
        for offset, event in enumerate(events)
    ]
    return frame(spark, "records", rows)


def batches(spark: SparkSession, *rows: Mapping[str, object]) -> DataFrame:
    """Batches of one record of a transactional producer, and their markers."""
    defaults = {
        **{"topic": "t", "partition": 0, "producer_id": 7, "producer_epoch": 0, "valid_crc": True, "magic": 2},
        **{"is_transactional": True, "is_control": False, "records_count": 1, "base_timestamp": AT},
    }
    return frame(spark, "batches", [{**defaults, **row, "last_offset": row["base_offset"]} for row in rows])


def acked(event: str, offset: int | None, *, partition: int | None = 0, key: str = "k", ordinal: int = 0) -> Sent:
    return event, key, ordinal, "t", partition, offset, None


def failed(event: str, *, ordinal: int = 0) -> Sent:
    return event, "k", ordinal, "t", None, None, "TIMED_OUT"


def ledger(spark: SparkSession, *sent: Sent) -> DataFrame:
    return spark.createDataFrame(list(sent), SENT_SCHEMA)


def assert_findings(findings: DataFrame, *expected: tuple[object, ...]) -> None:
    told = findings.select("kind", "event_id", "partition", "offset", "other_offset", "count", "cause")
    assertDataFrameEqual(told, findings.sparkSession.createDataFrame(list(expected), TOLD))


def audit(records: DataFrame, sent: DataFrame, batches: DataFrame | None = None) -> DataFrame:
    return audit_ledger(records, sent, f.col("key").cast("string"), batches)


def test_a_log_with_all_acknowledged_events_has_no_findings(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 0, ordinal=0), acked("b", 1, ordinal=1), acked("c", None, ordinal=2))

    assert_findings(audit(log(spark, "a", "b", "c"), sent))


def test_an_acknowledged_event_that_is_absent_is_lost(spark: SparkSession) -> None:
    findings = audit(log(spark, "a"), ledger(spark, acked("a", 0), acked("b", 1)))

    assert_findings(findings, ("lost", "b", 0, 1, None, 1, None))
    assert [row["detail"] for row in findings.collect()] == ["acknowledged at t-0 offset 1, not in the log"]


def test_an_event_acknowledged_without_an_offset_can_be_lost(spark: SparkSession) -> None:
    findings = audit(log(spark, "a"), ledger(spark, acked("a", None), acked("b", None, partition=None)))

    assert_findings(findings, ("lost", "b", None, None, None, 1, None))


def test_an_event_that_failed_and_is_stored_is_an_ambiguous_success(spark: SparkSession) -> None:
    findings = audit(log(spark, "a", "b", "b"), ledger(spark, acked("a", 0), failed("b"), failed("c")))

    assert_findings(findings, ("ambiguous_success", "b", 0, 1, None, 2, None))
    assert [row["detail"] for row in findings.collect()] == ["failed: TIMED_OUT, stored at t-0 offset 1"]


def test_one_acknowledgement_among_several_attempts_is_enough(spark: SparkSession) -> None:
    assert_findings(audit(log(spark, "a"), ledger(spark, failed("a"), acked("a", 0))))


def test_an_event_stored_at_another_offset_than_acknowledged_differs(spark: SparkSession) -> None:
    findings = audit(log(spark, "a", "b"), ledger(spark, acked("a", 0), acked("b", 5)))

    assert_findings(findings, ("offset_differs", "b", 0, 1, 5, 1, None))
    assert [row["detail"] for row in findings.collect()] == ["acknowledged at t-0 offset 5, stored at t-0 offset 1"]


def test_an_acknowledgement_of_any_copy_is_right(spark: SparkSession) -> None:
    assert_findings(audit(log(spark, "a", "b", "a"), ledger(spark, acked("a", 2), acked("b", 1))))


def test_the_same_offset_of_another_partition_is_another_place(spark: SparkSession) -> None:
    findings = audit(log(spark, "a"), ledger(spark, acked("a", 0, partition=1)))

    assert_findings(findings, ("offset_differs", "a", 0, 0, 0, 1, None))


def test_a_ledger_without_topics_is_compared_by_partition_and_offset(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 0), acked("b", 5)).drop("topic")

    assert_findings(audit(log(spark, "a", "b"), sent), ("offset_differs", "b", 0, 1, 5, 1, None))


def test_a_ledger_of_event_ids_alone_has_acknowledged_events(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 0), acked("b", 5)).select("event_id")

    assert_findings(audit(log(spark, "a"), sent), ("lost", "b", None, None, None, 1, None))


def test_an_event_that_the_ledger_does_not_have_is_unknown(spark: SparkSession) -> None:
    findings = audit(log(spark, "a", "x", "x"), ledger(spark, acked("a", 0)))

    assert_findings(findings, ("unknown_event", "x", 0, 1, None, 2, None))


def test_records_without_an_event_id_and_control_records_are_left_out(spark: SparkSession) -> None:
    records = log(spark, "a", None).unionByName(log(spark, "x", is_control=True, partition=1))
    records = records.unionByName(log(spark, "y", damage="crc", partition=2))

    assert_findings(audit(records, ledger(spark, acked("a", 0))))


def test_an_event_behind_one_that_was_sent_later_is_reordered(spark: SparkSession) -> None:
    sent = [acked(event, None, ordinal=ordinal) for ordinal, event in enumerate("abcd")]

    findings = audit(log(spark, "b", "c", "a", "d"), ledger(spark, *sent))

    assert_findings(findings, ("reordered", "a", 0, 2, 1, 1, None))
    assert [row["detail"] for row in findings.collect()] == [
        "sent as 0 of key k, stored at t-0 offset 2 behind c, sent as 2 and stored at 1"
    ]


def test_order_counts_within_a_key_and_a_partition(spark: SparkSession) -> None:
    records = log(spark, "b", "a").unionByName(log(spark, "d", "c", partition=1))
    sent = ledger(
        spark,
        acked("a", None, key="k1", ordinal=0),
        acked("b", None, key="k2", ordinal=1),
        acked("c", None, key="k1", ordinal=5),
        acked("d", None, key="k2", ordinal=6),
    )

    assert_findings(audit(records, sent))


def test_a_further_copy_behind_later_events_is_not_reordered(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 0, ordinal=0), acked("b", 1, ordinal=1), acked("a", 2, ordinal=2))

    assert_findings(audit(log(spark, "a", "b", "a"), sent))


def test_an_event_can_be_reordered_and_an_ambiguous_success(spark: SparkSession) -> None:
    sent = ledger(spark, failed("a", ordinal=0), acked("b", 0, ordinal=1))

    assert_findings(
        audit(log(spark, "b", "a"), sent),
        ("ambiguous_success", "a", 0, 1, None, 1, None),
        ("reordered", "a", 0, 1, 0, 1, None),
    )


def test_an_acknowledged_event_of_an_aborted_transaction_is_lost(spark: SparkSession) -> None:
    records = log(spark, "a").unionByName(log(spark, "b").selectExpr("* except (offset)", "5L as offset"))
    records = records.withColumn("batch_base_offset", f.col("offset"))
    ends: list[dict[str, object]] = [
        {"base_offset": 0},
        {"base_offset": 1, "is_control": True, "control_type": "commit"},
        {"base_offset": 5},
        {"base_offset": 6, "is_control": True, "control_type": "abort"},
        {"base_offset": 7},
    ]

    findings = audit(records, ledger(spark, acked("a", 0), acked("b", 5)), batches(spark, *ends))

    assert_findings(findings, ("lost", "b", 0, 5, 5, 1, "aborted_transaction"))


def test_an_event_of_an_aborted_transaction_is_neither_ambiguous_nor_unknown(spark: SparkSession) -> None:
    records = log(spark, "a", "x", batch_base_offset=0)
    ends: list[dict[str, object]] = [
        {"base_offset": 0},
        {"base_offset": 2, "is_control": True, "control_type": "abort"},
    ]

    assert_findings(audit(records, ledger(spark, failed("a")), batches(spark, *ends)))


def bounded(spark: SparkSession, records: DataFrame, sent: DataFrame, *, start: int = 0, cleaned: int = 0) -> DataFrame:
    bounds = spark.createDataFrame([("t", 0, start, cleaned), ("u", 0, 100, 100)], BOUNDS_SCHEMA)
    return audit_ledger(records, sent, f.col("key").cast("string"), bounds=bounds)


def kept(spark: SparkSession, *events: str) -> DataFrame:
    """A log that begins at offset 10."""
    return log(spark, *events).withColumn("offset", f.col("offset") + 10)


def test_an_event_acknowledged_before_the_log_start_is_expired(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 9), acked("b", 10), acked("c", 12))

    findings = bounded(spark, kept(spark, "b"), sent, start=10)

    assert_findings(findings, ("expired", "a", 0, 9, None, 1, "retention"), ("lost", "c", 0, 12, None, 1, None))
    details = {row["kind"]: row["detail"] for row in findings.select("kind", "detail").collect()}
    assert details["expired"] == "acknowledged at t-0 offset 9, and the log begins at 10"


def test_an_event_in_the_cleaned_part_is_expired_and_one_behind_it_is_lost(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 3), acked("b", 10), acked("c", 12))

    findings = bounded(spark, kept(spark, "b"), sent, cleaned=12)

    assert_findings(findings, ("expired", "a", 0, 3, None, 1, "compaction"), ("lost", "c", 0, 12, None, 1, None))


def test_an_expired_copy_does_not_make_the_other_one_differ(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 2), acked("a", 10))

    assert_findings(bounded(spark, kept(spark, "a"), sent, start=10))


def test_an_event_with_an_acknowledged_offset_within_the_log_is_lost(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 2), acked("a", 11), acked("b", 10))

    findings = bounded(spark, kept(spark, "b"), sent, start=10)

    assert_findings(findings, ("lost", "a", 0, 11, None, 1, None))


def test_without_topics_in_the_ledger_the_lowest_bounds_apply(spark: SparkSession) -> None:
    sent = ledger(spark, acked("a", 9), acked("b", 10), acked("c", 12)).drop("topic")

    findings = bounded(spark, kept(spark, "b"), sent, start=10)

    assert_findings(findings, ("expired", "a", 0, 9, None, 1, "retention"), ("lost", "c", 0, 12, None, 1, None))
