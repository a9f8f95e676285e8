"""Events screened by hashes of their ids: the same findings and counts as by rows of Spark."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.checks.event_audit import COUNTS_SCHEMA
from fauxka.pipeline.checks.identified_records import count_identified
from fauxka.pipeline.checks.screened_events import CountedEvents, ScreenedEvents, screen_events
from fauxka.pipeline.read.log_source import FauxkaLog
from fauxka.protocol.batches.record_batch import Compression, parse_header, sealed_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

TOPICS = ("orders", "payments")
PARTITIONS = 2
BATCHES = 12
# Repeated ones in a log of this size, near the limits of what is hashed at once; no text, and what looks like none.
ODD_IDS = [None, b"", b"\0", b"\xff\xfe", "schlüssel".encode(), bytes(256), bytes(257), b"x" * 5000]
IDS = [*ODD_IDS, *(f"order-{number}".encode() for number in range(400))]
SPLIT_BYTES = "16384"
HEADER_SIZE = 61


def write_log(folder: Path, seed: int, *, has_broken: bool = False) -> None:
    """Write drawn batches of both topics. has_broken: one batch of each partition has a right CRC and no records."""
    drawn = random.Random(seed)
    for topic in TOPICS:
        for partition in range(PARTITIONS):
            place = folder / f"{topic}-{partition}"
            place.mkdir(parents=True)
            batches: list[bytes] = []
            for offset in range(0, 20 * BATCHES, 20):
                records = [Record(b"v", drawn.choice(IDS), 1000 * offset, headers_of(drawn)) for _ in range(20)]
                options = BatchOptions(compression=drawn.choice(list(Compression)), base_offset=offset)
                batches.append(build_batch(records, options))
            if has_broken:
                batches[1] = without_records(batches[1])
            (place / f"{0:020d}.log").write_bytes(b"".join(batches))


def headers_of(drawn: random.Random) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((drawn.choice(("id", "other", "idx")), drawn.choice(IDS)) for _ in range(drawn.randrange(4)))


def without_records(batch: bytes) -> bytes:
    header = parse_header(batch)
    payload = bytes(header.size - HEADER_SIZE)
    return sealed_header(header.replaced(attributes=0), payload) + payload


def rows_of(frame: DataFrame) -> Counter[str]:
    return Counter(str(sorted(row.asDict().items())) for row in frame.collect())


def screened_by(spark: SparkSession, request: AuditRequest, tasks: int) -> ScreenedEvents:
    assert request.hashed_id is not None
    return screen_events(spark, request.options, request.hashed_id, tasks)


@pytest.mark.parametrize(
    ("tasks", "request_of", "has_broken"),
    [
        (3, AuditRequest({}, "key", is_empty_an_id=True), True),
        (1, AuditRequest({}, "header:id"), False),
        (5, AuditRequest({}, "key+header:id"), True),
    ],
    ids=["key", "header", "key and header"],
)
def test_screened_events_have_the_same_findings_and_counts(
    spark: SparkSession, tmp_path: Path, tasks: int, request_of: AuditRequest, has_broken: bool
) -> None:
    spark.dataSource.register(FauxkaLog)
    write_log(tmp_path, tasks, has_broken=has_broken)
    options = {"path": str(tmp_path), "splitBytes": SPLIT_BYTES}
    request = replace(request_of, options=options, has_aborts=False, as_of_ms=0)

    screened = screened_by(spark, request, tasks)
    counts = spark.createDataFrame(screened.counts, COUNTS_SCHEMA)
    counted = count_identified(request.records(spark), None)

    assert screened.has_unreadable == has_broken
    assert rows_of(counts) == rows_of(counted)
    by_rows = audit(spark, request, None, CountedEvents(counted))
    assert rows_of(audit(spark, request, None, CountedEvents(counts, screened))) == rows_of(by_rows)


def test_a_log_without_repeated_ids_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(FauxkaLog)
    folder = tmp_path / "orders-0"
    folder.mkdir()
    records = [Record(b"v", f"order-{number}".encode(), 1000) for number in range(5000)]
    (folder / f"{0:020d}.log").write_bytes(build_batch(records, BatchOptions()))

    screened = screened_by(spark, AuditRequest({"path": str(tmp_path)}, "key"), 4)

    assert screened.options is None
    assert [(row["with_id"], row["without_id"]) for row in screened.counts] == [(5000, 0)]


def test_records_without_an_id_of_a_year_that_python_does_not_know_are_a_finding(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.dataSource.register(FauxkaLog)
    folder = tmp_path / "orders-0"
    folder.mkdir()
    # A producer that writes microseconds where Kafka has milliseconds.
    timestamp = 1_700_000_000_000_000
    (folder / f"{0:020d}.log").write_bytes(build_batch([Record(b"v", None, timestamp)], BatchOptions()))
    request = replace(AuditRequest({"path": str(tmp_path)}, "key"), has_aborts=False, as_of_ms=0)

    screened = screened_by(spark, request, 1)
    counts = spark.createDataFrame(screened.counts, COUNTS_SCHEMA)
    counted = count_identified(request.records(spark), None)

    for events in (CountedEvents(counted), CountedEvents(counts, screened)):
        found = audit(spark, request, None, events).where("kind = 'no_event_id'")
        assert [row["year"] for row in found.selectExpr("year(timestamp) AS year").collect()] == [55840]


@pytest.mark.parametrize("event_id", ["json:$.id", "avro:id", "key+json:$.id"])
def test_ids_that_need_their_text_are_not_hashed(event_id: str) -> None:
    assert AuditRequest({}, event_id).hashed_id is None


@pytest.mark.parametrize(
    "others",
    [{"sent": "/sent.jsonl"}, {"journal": "/journal.jsonl"}, {"version_field": "json:$.version"}],
)
def test_checks_that_need_more_of_a_record_read_all_of_them(others: dict[str, Any]) -> None:
    request = AuditRequest({}, "key")

    assert request.hashed_id is not None
    assert replace(request, **others).hashed_id is None
