"""Audits of a log that Kafka wrote, with transactions, an expired producer and a compacted topic."""

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.event_audit import audit_events
from fauxka.pipeline.checks.event_id import event_id_column
from fauxka.pipeline.checks.sequence_audit import audit_sequences
from fauxka.pipeline.read.log_frame import read_log

from ..pipeline.logs_on_disk import GOLDEN
from .frames import assert_found

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def test_a_kafka_log_has_findings_about_transactions_only(spark: SparkSession) -> None:
    found = audit_sequences(read_log(spark, {"path": str(GOLDEN), "view": "batches"}))

    schema = "check string, kind string, topic string, offset bigint, other_offset bigint, count bigint"
    assert_found(
        spark,
        found,
        schema,
        ("log", "aborted_transaction", "demo", 7, 8, 1),
        ("log", "open_transaction", "demo", 9, None, 1),
    )


def test_a_key_that_a_compacted_log_has_twice_is_a_copy(spark: SparkSession) -> None:
    batches = read_log(spark, {"path": str(GOLDEN), "view": "batches"})
    records = read_log(spark, {"path": str(GOLDEN)})

    found = audit_events(records, event_id_column("key"), batches)

    schema = (
        "kind string, cause string, topic string, event_id string, offset bigint, other_offset bigint, count bigint"
    )
    assert_found(
        spark,
        found,
        schema,
        ("duplicate", "sent_again", "compacted", "k1", 5, 3, 1),
        ("no_event_id", None, "demo", None, 2, None, 10),
    )
