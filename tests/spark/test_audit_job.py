"""An audit as a job: its default time, and events that retention or compaction removed."""

import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.audit_job import (
    AuditRequest,
    audit,
    default_as_of,
)
from fauxka.pipeline.checks.log_views import read_records
from fauxka.pipeline.checks.task_sizes import TASKS_MAX, with_split_size
from fauxka.pipeline.checks.transaction_timeouts import CHECK_INTERVAL_MS
from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.read.options import SPLIT_BYTES_DEFAULT

from ..pipeline.logs_on_disk import GOLDEN
from .frames import assert_found

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

CHANGED_MS = 1_000_000
# The open transaction of the topic demo: its first record, and its timeout in __transaction_state.
OPEN_SINCE_MS = 1_795_242_097_448
OPEN_TIMEOUT_MS = 60_000
KIND = "kind string, topic string, offset bigint"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    copy = tmp_path / "logs"
    shutil.copytree(GOLDEN, copy)
    for file in copy.rglob("*"):
        os.utime(file, (CHANGED_MS / 1000, CHANGED_MS / 1000))
    return str(copy)


@pytest.mark.parametrize(("newest", "as_of"), [(5, 5), (CHANGED_MS + 1, CHANGED_MS), (None, CHANGED_MS)])
def test_the_time_of_a_folder_is_its_newest_timestamp_or_last_change(
    folder: str, newest: int | None, as_of: int
) -> None:
    assert default_as_of({"path": folder}, lambda: newest) == as_of


def test_the_time_of_a_broker_is_now() -> None:
    before = time.time() * 1000

    as_of = default_as_of({"bootstrap": "127.0.0.1:1"}, lambda: pytest.fail("its records were read for that"))

    assert before - 1 <= as_of <= time.time() * 1000 + 1


def test_a_transaction_hangs_when_its_timeout_has_passed_at_the_time_of_the_audit(spark: SparkSession) -> None:
    register(spark)
    request = AuditRequest({"path": str(GOLDEN), "topics": "demo"})
    ends_ms = OPEN_SINCE_MS + OPEN_TIMEOUT_MS + CHECK_INTERVAL_MS

    aborted = ("aborted_transaction", "demo", 7)
    at_the_end = audit(spark, replace(request, as_of_ms=ends_ms))
    assert_found(spark, at_the_end, KIND, aborted, ("open_transaction", "demo", 9))
    # The newest timestamp of the topic is two minutes after the beginning of the transaction.
    for later in (request, replace(request, as_of_ms=ends_ms + 1)):
        assert_found(spark, audit(spark, later), KIND, aborted, ("hanging_transaction", "demo", 9))


def test_events_that_kafka_deleted_or_compacted_are_expired(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    # Before the log start offset, in the cleaned part, and behind the end of the log.
    acked = [("a", "demo", 0), ("b", "compacted", 0), ("c", "demo", 500), ("d", "compacted", 500)]
    sent = tmp_path / "sent.jsonl"
    sent.write_text(
        "".join(
            json.dumps({"event_id": event, "topic": topic, "partition": 0, "offset": offset}) + "\n"
            for event, topic, offset in acked
        )
    )

    found = audit(spark, AuditRequest({"path": str(GOLDEN)}, event_id="header:none", sent=str(sent)))

    ledger = found.where("check = 'ledger'")
    schema = "kind string, cause string, event_id string, offset bigint"
    assert_found(
        spark,
        ledger,
        schema,
        ("expired", "retention", "a", 0),
        ("expired", "compaction", "b", 0),
        ("lost", None, "c", 500),
        ("lost", None, "d", 500),
    )


@pytest.mark.parametrize("size", [0, SPLIT_BYTES_DEFAULT * TASKS_MAX])
def test_a_log_is_read_in_splits_of_the_default_size(size: int) -> None:
    assert with_split_size({"path": "/data"}, "splitBytes", size) == {"path": "/data"}


def test_a_huge_log_is_read_in_larger_splits_and_not_by_more_tasks() -> None:
    size = 10 * 10**12

    options = with_split_size({"path": "/data"}, "splitBytes", size)

    assert size / int(options["splitBytes"]) <= TASKS_MAX
    assert with_split_size({"SPLITBYTES": "5000"}, "splitBytes", size) == {"SPLITBYTES": "5000"}


@pytest.mark.parametrize(
    ("event_id", "content"), [(None, None), ("key", "key"), ("header:id", "headers"), ("json:$.id", "value")]
)
def test_only_the_content_with_the_event_id_is_read(
    spark: SparkSession, event_id: str | None, content: str | None
) -> None:
    register(spark)

    columns = set(read_records(spark, {"path": str(GOLDEN)}, event_id).columns)

    assert columns & {"key", "value", "headers"} == ({content} if content else set())
    assert {"offset", "sequence", "batch_base_offset", "is_control", "damage"} <= columns
