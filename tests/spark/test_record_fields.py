"""Versions of a key that go back, and records later than their event time."""

import json
import re
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audit_job import AuditRequest, check_request
from fauxka.pipeline.checks.event_id import event_id_column
from fauxka.pipeline.checks.lateness_audit import audit_lateness, lateness_of_topics, with_lateness
from fauxka.pipeline.checks.record_fields import check_field, with_field
from fauxka.pipeline.checks.version_audit import audit_versions
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from ..pipeline.logs_on_disk import write_segment
from ..serving_process import run
from .frames import START, at, batches, marker, record, records, transactional

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

# Kind, offset, other offset and count.
Found = tuple[str, int, int | None, int]
# The versions of one key in order, and the expected findings.
VERSIONS: dict[str, tuple[list[str | None], list[Found]]] = {
    "numbers in order": (["1", "2", "2", "9", "10"], []),
    "a number that goes back": (["1", "10", "9", "11"], [("version_regression", 2, 1, 1)]),
    "each record behind the newest one": (
        ["5", "3", "4", "5"],
        [("version_regression", 1, 0, 1), ("version_regression", 2, 0, 1)],
    ),
    "decimals and signs": (["-2", "-1.5", "0.25", "0.3"], []),
    "a negative number that goes back": (["-1", "-2"], [("version_regression", 1, 0, 1)]),
    "texts in order": (["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"], []),
    "a text that goes back": (["b", "a"], [("version_regression", 1, 0, 1)]),
    "a text behind a number": (["1", "a"], [("version_regression", 1, 0, 1)]),
    "more digits than a number has": (["9" * 40, "8" * 40], [("version_regression", 1, 0, 1)]),
    "no version": (["1", None, "2", None], [("no_version", 1, None, 2)]),
}
HOUR_MS = 3_600_000
START_MS = round(START.timestamp() * 1000)


def versioned(offset: int, version: str | None, key: str = "k", **others: object) -> dict[str, object]:
    headers = [] if version is None else [("v", version.encode())]
    return record(offset, key, headers=headers) | others


def plain(rows: list[Row]) -> list[Found]:
    return sorted((row["kind"], row["offset"], row["other_offset"], row["count"]) for row in rows)


@pytest.fixture(scope="module")
def of_versions(spark: SparkSession) -> list[Row]:
    rows = [
        versioned(offset, version, topic=name)
        for name, (versions, _) in VERSIONS.items()
        for offset, version in enumerate(versions)
    ]
    others = [
        *(versioned(0, "5", topic="other", key="a"), versioned(1, "4", topic="other", key="b")),
        *(versioned(0, "1", topic="other", partition=1, key="a"), versioned(2, "1", topic="other", is_control=True)),
        record(3, None, topic="other", headers=[("v", b"1")]),
        versioned(4, "9", topic="other", key="a", producer_id=8, is_transactional=True),
        versioned(6, "6", topic="other", key="a"),
    ]
    log = batches(
        spark, transactional(4, 0, 1, topic="other", producer_id=8), marker(5, "abort", topic="other", producer_id=8)
    )
    return audit_versions(with_field(records(spark, *rows, *others), event_id_column("header:v"), log)).collect()


@pytest.mark.parametrize("name", VERSIONS)
def test_the_versions_of_a_key_must_not_go_back(of_versions: list[Row], name: str) -> None:
    assert plain([row for row in of_versions if row["topic"] == name]) == VERSIONS[name][1]


def test_other_keys_partitions_markers_and_aborted_records_do_not_count(of_versions: list[Row]) -> None:
    assert [row for row in of_versions if row["topic"] == "other"] == []


def test_a_version_finding_names_the_key_and_both_versions(of_versions: list[Row]) -> None:
    (found,) = [row for row in of_versions if row["topic"] == "a number that goes back"]

    assert (found["check"], found["event_id"]) == ("event", "k")
    assert found["detail"] == "version 9 comes behind version 10 at offset 1"


def timed(offset: int, event_time: str | None, seconds: float, topic: str = "t") -> dict[str, object]:
    value = json.dumps({} if event_time is None else {"at": event_time}).encode()
    return record(offset, "k", topic=topic, value=value, timestamp=at(seconds))


TIMES = [
    timed(0, str(START_MS), 0),
    timed(1, str(START_MS), 3600),
    timed(2, "2026-01-01T00:00:00Z", 3600.001),
    timed(3, "2026-01-01T02:00:00+02:00", 7200),
    timed(4, str(START_MS + 5000), 0),
    timed(5, None, 9),
    timed(6, "yesterday", 9),
    timed(0, str(START_MS), 1, topic="punctual"),
]


@pytest.fixture(scope="module")
def lateness(spark: SparkSession) -> DataFrame:
    return with_lateness(with_field(records(spark, *TIMES), event_id_column("json:$.at"), None)).cache()


def test_records_that_are_later_than_the_bound_are_late(lateness: DataFrame) -> None:
    found = audit_lateness(lateness, HOUR_MS).collect()

    assert plain(found) == [("late", 2, None, 1), ("late", 3, None, 1), ("no_event_time", 5, None, 2)]
    assert {row["detail"] for row in found if row["offset"] == 2} == {
        "3600001 ms later than its event time 2026-01-01T00:00:00Z"
    }


def test_without_a_bound_no_record_is_late(lateness: DataFrame) -> None:
    assert plain(audit_lateness(lateness, None).collect()) == [("no_event_time", 5, None, 2)]


def test_the_lateness_of_each_topic_is_measured(lateness: DataFrame) -> None:
    rows = [row.asDict() for row in lateness_of_topics(lateness).orderBy("topic").collect()]

    assert rows == [
        {"topic": "punctual", "records": 1, "median_ms": 1000, "p99_ms": 1000, "max_ms": 1000},
        {"topic": "t", "records": 5, "median_ms": HOUR_MS, "p99_ms": 2 * HOUR_MS, "max_ms": 2 * HOUR_MS},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version", "version-field: must be key, header:NAME or json:$.path, not version"),
        ("json:id", "version-field: must be key, header:NAME or json:$.path, not json:id"),
        ("header:a+header:b", "version-field: must be key, header:NAME or json:$.path, not header:a+header:b"),
        ("avro:id", "version-field: must be key, header:NAME or json:$.path, not avro:id"),
    ],
)
def test_a_wrong_field_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadOption, match=f"^{re.escape(message)}"):
        check_field("version-field", text)


def test_a_bound_without_an_event_time_is_refused() -> None:
    with pytest.raises(BadOption, match=r"^late-after: needs --event-time-field$"):
        check_request(AuditRequest({"path": "/nowhere"}, late_after_ms=1))


def test_the_command_shows_versions_and_lateness(tmp_path: Path) -> None:
    rows = [(b"1", START_MS), (b"3", START_MS + 90_000), (b"2", START_MS + 1000)]
    stored = [Record(b"v", b"k", time, (("v", version), ("at", b"%d" % START_MS))) for version, time in rows]
    write_segment(tmp_path / "orders-0", [build_batch(stored, BatchOptions())])
    page = tmp_path / "page.html"
    fields = ("--version-field", "header:v", "--event-time-field", "header:at", "--late-after", "1m")
    outputs = ("--json", str(tmp_path / "verdict.json"), "--html", str(page))

    ended = run(
        *("audit", "--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1"),
        *("--path", str(tmp_path), *fields, *outputs),
        seconds_max=500,
    )

    assert ended.exit_code == 1, ended.log
    lines = ended.output.splitlines()
    assert lines[0].endswith(": sequences, versions by header:v, lateness by header:at")
    assert (
        "    3 records with an event time, late by 1,000 ms in the median, 90,000 ms at the 99th percentile,"
        " 90,000 ms at most" in lines
    )
    assert lines[-1] == "Verdict: 2 findings: 1 late, 1 version regression"
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert verdict["lateness"] == [
        {"topic": "orders", "records": 3, "median_ms": 1000, "p99_ms": 90_000, "max_ms": 90_000}
    ]
    assert "Lateness by event time" in page.read_text()
