"""The rows of the pictures of the audit's page, from literal findings and batches."""

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.findings import FINDING_COLUMNS, FINDING_SCHEMA
from fauxka.pipeline.report.html_report import report_page
from fauxka.pipeline.report.report_pictures import copies_over_time, pictures_of
from fauxka.pipeline.report.report_svg import TIME_MS_MIN

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

BATCH_SCHEMA = (
    "topic string, partition int, producer_id bigint, producer_epoch int, max_timestamp timestamp, "
    "base_offset bigint, last_offset bigint"
)
FIRST_MS = 1_700_000_000_000


def at(after_ms: int) -> datetime:
    return datetime.fromtimestamp((FIRST_MS + after_ms) / 1000, UTC)


def finding(**values: object) -> tuple[object, ...]:
    return tuple(values.get(name) for name in FINDING_COLUMNS)


def copy(after_ms: int, cause: str, offset: int | None = 7) -> tuple[object, ...]:
    place = {"topic": "t", "partition": 0, "offset": offset}
    return finding(check="event", kind="duplicate", cause=cause, count=1, timestamp=at(after_ms), **place)


def bar(axis: str, first: int, width: int, cause: str, times: tuple[int, ...]) -> dict[str, object]:
    """Return the row of a bar. times: of its copies, in milliseconds after the first."""
    of_times = {"count": len(times), "first_ms": FIRST_MS + min(times), "last_ms": FIRST_MS + max(times)}
    return {"axis": axis, "first": first, "width": width, "cause": cause, **of_times}


def gap(partition: int, offset: int, missing: int) -> tuple[object, ...]:
    return finding(check="sequence", kind="gap", topic="t", partition=partition, offset=offset, count=missing)


def test_the_pictures_of_an_audit_have_its_copies_gaps_and_producers(spark: SparkSession) -> None:
    found = [copy(0, "a"), copy(0, "a"), copy(0, "b"), copy(479, "a"), gap(1, 9, 3), gap(0, 5, 2)]
    batches = [("t", 0, 7, 1, at(10), 0, 4), ("t", 0, 7, 1, at(20), 5, 6), ("t", 0, -1, -1, at(0), 7, 7)]

    pictures = pictures_of(spark.createDataFrame(found, FINDING_SCHEMA), spark.createDataFrame(batches, BATCH_SCHEMA))

    assert pictures["copies"] == [
        bar("time", FIRST_MS, 10, "a", (0, 0)),
        bar("time", FIRST_MS, 10, "b", (0,)),
        bar("time", FIRST_MS + 470, 10, "a", (479,)),
    ]
    assert pictures["gaps"] == [
        {"topic": "t", "partition": 0, "offset": 5, "missing": 2},
        {"topic": "t", "partition": 1, "offset": 9, "missing": 3},
    ]
    assert pictures["producers"] == [
        {
            "producer_id": 7,
            "topic": "t",
            "partition": 0,
            "producer_epoch": 1,
            "first_ms": FIRST_MS + 10,
            "last_ms": FIRST_MS + 20,
            "first_offset": 0,
            "last_offset": 6,
            "batches": 2,
        }
    ]
    page = report_page({"verdict": "findings", "log": "l", "topics": [], "groups": [], "pictures": pictures})
    assert page.count("<svg") == 3


def test_copies_within_a_few_milliseconds_are_bars_by_offset(spark: SparkSession) -> None:
    found = [copy(0, "a", 100), copy(0, "a", 101), copy(TIME_MS_MIN - 1, "b", 101), copy(0, "a", 195)]

    bars = copies_over_time(spark.createDataFrame(found, FINDING_SCHEMA))

    assert bars == [
        bar("offset", 100, 2, "a", (0, 0)),
        bar("offset", 100, 2, "b", (TIME_MS_MIN - 1,)),
        bar("offset", 194, 2, "a", (0,)),
    ]


def test_a_longer_time_and_findings_without_an_offset_are_bars_by_time(spark: SparkSession) -> None:
    longer = [copy(0, "a", 100), copy(TIME_MS_MIN, "a", 101)]
    without_offset = [copy(0, "a", 100), copy(1, "a", None)]

    for found in (longer, without_offset):
        bars = copies_over_time(spark.createDataFrame(found, FINDING_SCHEMA))
        assert [(one["axis"], one["width"], one["count"]) for one in bars] == [("time", 1, 1)] * 2


def test_without_findings_and_producers_the_pictures_are_empty(spark: SparkSession) -> None:
    pictures = pictures_of(spark.createDataFrame([], FINDING_SCHEMA), spark.createDataFrame([], BATCH_SCHEMA))

    assert pictures == {"copies": [], "gaps": [], "producers": []}
