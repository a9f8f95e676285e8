"""The audit of events: further copies and their causes. Each situation is in its own topic."""

from dataclasses import dataclass, field

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.checks.event_audit import COUNTS_SCHEMA, audit_events, count_events, events_of
from fauxka.pipeline.checks.event_id import event_id_column, is_empty_id

from .frames import assert_found, at, batches, marker, micros, record, records, transactional

pytestmark = pytest.mark.spark

NO_PRODUCER: dict[str, object] = {"sequence": -1, "base_sequence": -1, "producer_id": -1, "producer_epoch": -1}
RE_SEQUENCED = "re_sequenced_after_epoch_bump"

# Event id, cause, partition, offset and offset of the first copy.
Copy = tuple[str, str, int, int, int]


@dataclass
class Situation:
    """The records of a topic, and its expected further copies."""

    rows: list[dict[str, object]]
    copies: list[Copy] = field(default_factory=list[Copy])


SITUATIONS = {
    "events that are there once are clean": Situation([record(0, "a"), record(1, "b")]),
    "another topic may have the same events": Situation([record(0, "a"), record(1, "b")]),
    "a copy with the same sequence was not deduplicated": Situation(
        [record(0, "a", 0), record(9, "a", 0)], [("a", "not_deduplicated", 0, 9, 0)]
    ),
    "a copy with a newer epoch was given new numbers": Situation(
        [
            record(0, "a", 0),
            record(9, "a", 0, producer_epoch=1, timestamp=at(0)),
            record(10, "a", 4, producer_epoch=2, timestamp=at(0)),
        ],
        [("a", RE_SEQUENCED, 0, 9, 0), ("a", RE_SEQUENCED, 0, 10, 0)],
    ),
    "a copy with a newer epoch and a timestamp of its own was sent again": Situation(
        [record(0, "a", 0), record(9, "a", 0, producer_epoch=1)], [("a", "sent_again", 0, 9, 0)]
    ),
    "timestamps that the log sets tell nothing of a copy with a newer epoch": Situation(
        [record(0, "a", 0, timestamp_type=1), record(9, "a", 0, producer_epoch=1, timestamp_type=1)],
        [("a", RE_SEQUENCED, 0, 9, 0)],
    ),
    "a copy with another sequence was sent again": Situation(
        [record(0, "a", 0), record(9, "a", 5)], [("a", "sent_again", 0, 9, 0)]
    ),
    "a transactional copy in the next epoch was sent again": Situation(
        [record(0, "a", 0, is_transactional=True), record(9, "a", 0, is_transactional=True, producer_epoch=1)],
        [("a", "sent_again", 0, 9, 0)],
    ),
    "a copy of another producer is of a restarted one": Situation(
        [record(0, "a", 0), record(9, "a", 0, producer_id=8)], [("a", "producer_restarted", 0, 9, 0)]
    ),
    "a copy in another partition counts from the older one": Situation(
        [record(5, "a", timestamp=at(2)), record(9, "a", partition=1, timestamp=at(1))],
        [("a", "other_partition", 0, 5, 9)],
    ),
    "in a partition the offset counts and not the timestamp": Situation(
        [record(5, "a", timestamp=at(9)), record(6, "a", 5, timestamp=at(1))], [("a", "not_deduplicated", 0, 6, 5)]
    ),
    "a producer without an id cannot be known again": Situation(
        [
            record(0, "a") | NO_PRODUCER,
            record(9, "a") | NO_PRODUCER,
            record(10, "b"),
            record(11, "b") | NO_PRODUCER,
        ],
        [("a", "idempotence_off", 0, 9, 0), ("b", "idempotence_off", 0, 11, 10)],
    ),
    "markers and damaged batches are no events": Situation(
        [
            record(0, "a"),
            record(1, "a", is_control=True),
            record(2, "a", valid_crc=False, damage="its CRC-32C is 1, its header says 2"),
            record(3, None, damage="its records do not have the sizes that they say"),
        ]
    ),
}


@pytest.fixture(scope="module")
def findings(spark: SparkSession) -> list[Row]:
    """Return the findings of all situations."""
    rows = [{**row, "topic": name} for name, situation in SITUATIONS.items() for row in situation.rows]
    return audit_events(records(spark, *rows), event_id_column("key")).collect()


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_finds_that(findings: list[Row], name: str) -> None:
    found = [row for row in findings if row["topic"] == name]

    assert {(row["check"], row["kind"]) for row in found} <= {("event", "duplicate")}
    copies = [(row["event_id"], row["cause"], row["partition"], row["offset"], row["other_offset"]) for row in found]
    assert sorted(copies) == sorted(SITUATIONS[name].copies)


def test_a_finding_describes_both_copies_and_missing_ids_are_one_finding_a_partition(spark: SparkSession) -> None:
    rows = [
        record(3, "a", 3),
        record(9, "a", 12, base_sequence=10),
        record(14, None),
        record(15, None),
        record(7, None, partition=1),
    ]

    found = audit_events(records(spark, *rows), event_id_column("key"))

    schema = "kind string, topic string, partition int, offset bigint, producer_id bigint, producer_epoch int, "
    schema += "base_sequence int, count bigint, timestamp timestamp, detail string"
    detail = "producer 7 epoch 0 sequence 12; first in partition 0 at offset 3 from producer 7 epoch 0 sequence 3"
    nameless = "2 records have no event id, the first of them at offset 14"
    assert_found(
        spark,
        found,
        schema,
        ("duplicate", "t", 0, 9, 7, 0, 10, 1, at(9), detail),
        ("no_event_id", "t", 0, 14, None, None, None, 2, at(14), nameless),
        ("no_event_id", "t", 1, 7, None, None, None, 1, at(7), nameless.replace("2", "1").replace("14", "7")),
    )


def test_empty_ids_are_no_copies_of_each_other_and_are_counted(spark: SparkSession) -> None:
    rows = records(spark, record(0, "a"), record(1, ""), record(2, ""), record(3, None))

    counts = count_events(events_of(rows, event_id_column("key"), is_empty=is_empty_id("key")))
    found = audit_events(rows, event_id_column("key"), counts=counts)

    assert_found(spark, counts, COUNTS_SCHEMA, ("t", 0, 1, 3, 2, 0, None, 1, micros(1)))
    detail = "3 records have no event id (2 have an empty one), the first of them at offset 1"
    assert_found(spark, found, "kind string, count bigint, detail string", ("no_event_id", 3, detail))


def test_records_that_cannot_be_decoded_are_counted_with_a_reason(spark: SparkSession) -> None:
    rows = records(spark, record(0, "a"), record(1, None), record(2, None), record(3, None, is_control=True))
    problem = f.when(f.col("offset") > 1, f.concat(f.lit("problem "), "offset"))

    counts = count_events(events_of(rows, event_id_column("key"), problem=problem))
    found = audit_events(rows, event_id_column("key"), counts=counts)

    assert_found(spark, counts, COUNTS_SCHEMA, ("t", 0, 1, 2, 0, 1, "problem 2", 1, micros(1)))
    words = "2 records have no event id (1 cannot be decoded, such as: problem 2), the first of them at offset 1"
    assert_found(spark, found, "kind string, detail string", ("no_event_id", words))


def test_copies_in_aborted_transactions_do_not_count_with_batches(spark: SparkSession) -> None:
    log = batches(spark, transactional(0, 0, 2), marker(2, "abort"), transactional(3, 2, 2), marker(5, "commit"))
    stored = records(
        spark,
        record(0, "a", 0, is_transactional=True),
        record(1, "b", 1, is_transactional=True, batch_base_offset=0),
        record(3, "a", 2, is_transactional=True),
        record(4, "a", 3, is_transactional=True, batch_base_offset=3),
    )

    found = audit_events(stored, f.col("key").cast("string"), log)

    schema = "event_id string, cause string, offset bigint, other_offset bigint"
    assert_found(spark, found, schema, ("a", "sent_again", 4, 3))
