"""The audit of batch headers. Each situation is in its own topic, all of them in one small frame."""

from dataclasses import dataclass, field

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.checks.audited_range import RANGE_SCHEMA
from fauxka.pipeline.checks.log_facts import LogFacts, facts_frame
from fauxka.pipeline.checks.sequence_audit import audit_sequences

from .frames import assert_found, at, batch, batches, marker, transactional

pytestmark = pytest.mark.spark

LAST = 2**31 - 1
HALF = 2**30
WRONG_CRC = "its CRC-32C is 00000001, its header says 00000002"
NO_PRODUCER: dict[str, int] = {"producer_id": -1, "producer_epoch": -1}
NO_BATCH: dict[str, object] = {
    "partition": 0,
    "valid_crc": False,
    "batch_bytes": 70,
    "file": "f",
    "position": 1,
    "damage": "no batch: its magic would be 9",
}


# Kind, offset, other offset and count of each.
Found = tuple[str, int | None, int | None, int]


@dataclass
class Situation:
    """The batches of a log, its expected findings, and what is known of it beside them."""

    rows: list[dict[str, object]]
    found: list[Found] = field(default_factory=list[Found])
    begins_at: int | None = None
    cleaned_before: int = 0
    leader_epochs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


SITUATIONS = {
    "contiguous sequences of several producers are clean": Situation(
        [
            batch(0, 0),
            batch(5, 0, producer_id=8),
            batch(10, 5),
            batch(15, 5, producer_id=8),
            batch(0, 0, partition=1),
            batch(20, 0, producer_epoch=1),
        ]
    ),
    "producers without idempotence have no sequences to miss": Situation(
        [batch(0, -1, **NO_PRODUCER), batch(5, -1, **NO_PRODUCER)]
    ),
    "a gap is told with the offset before it": Situation([batch(0, 0), batch(5, 8), batch(10, 13)], [("gap", 5, 4, 3)]),
    "a repeated batch points to the first one": Situation(
        [batch(0, 0), batch(5, 5), batch(10, 10), batch(15, 5), batch(20, 10), batch(25, 15)],
        [("repeat", 15, 5, 5), ("repeat", 20, 10, 5)],
    ),
    "batches out of order are a gap and a regression": Situation(
        [batch(0, 0), batch(5, 10), batch(10, 5), batch(15, 15)], [("gap", 5, 4, 5), ("regression", 10, 9, 5)]
    ),
    "a batch that overlaps another is a regression": Situation(
        [batch(0, 0), batch(5, 3), batch(10, 8)], [("regression", 5, 4, 5)]
    ),
    "sequences wrap to zero": Situation([batch(100, LAST - 6), batch(105, LAST - 1), batch(110, 3), batch(115, 8)]),
    "a gap over the wrap is counted through it": Situation(
        [batch(100, LAST - 6), batch(105, 1)], [("gap", 105, 104, 3)]
    ),
    "a repetition behind the wrap is one, and the same number a turn later is none": Situation(
        # Long steps around the circle of sequences, back to the first ones.
        [batch(0, 0), batch(5, HALF - 5), batch(10, LAST - 9), batch(15, LAST - 4), batch(20, 0), batch(25, 0)],
        [("gap", 5, 4, HALF - 10), ("gap", 10, 9, HALF - 10), ("repeat", 25, 20, 5)],
    ),
    "the first sequence behind retention may be any": Situation([batch(1000, 70), batch(1005, 75)]),
    "a log from its beginning begins with sequence zero": Situation(
        [batch(0, 0), batch(5, 4, producer_id=8)], [("gap", 5, None, 4)]
    ),
    "a newer epoch begins with sequence zero": Situation(
        [batch(1000, 70), batch(1005, 3, producer_epoch=1)], [("gap", 1005, None, 3)]
    ),
    "an older epoch behind a newer one is a regression": Situation(
        [batch(0, 0), batch(5, 0, producer_epoch=1), batch(10, 5), batch(15, 5, producer_epoch=1)],
        [("epoch_regression", 10, None, 5)],
    ),
    "a fenced producer that writes behind the marker is a regression": Situation(
        [
            transactional(0, 0),
            marker(5, "commit", producer_epoch=1),
            transactional(6, 5),
            marker(11, "commit", producer_epoch=1),
        ],
        [("epoch_regression", 6, None, 5)],
    ),
    "what compaction took is no gap": Situation(
        [batch(0, 0, records_count=2), batch(10, 10), batch(25, 25)], [("compacted_offsets", 10, 4, 15)]
    ),
    "missing offsets are one finding in each partition": Situation(
        [batch(0, 0), batch(10, 10), batch(20, 20)], [("missing_offsets", 10, 4, 10)]
    ),
    "a gap wider than the missing offsets is a gap": Situation(
        [batch(0, 0), batch(7, 9)], [("gap", 7, 4, 4), ("missing_offsets", 7, 4, 2)]
    ),
    "a damaged batch is told, and its records are no gap": Situation(
        [
            batch(0, 0, file="0.log", position=0),
            batch(5, 5, file="0.log", position=100, valid_crc=False, damage=WRONG_CRC),
            batch(10, 10, file="0.log", position=200),
        ],
        [("damaged_batch", 5, None, 5)],
    ),
    "the number of records in a damaged header counts if the header agrees with itself": Situation(
        [batch(0, 0), batch(5, 5, valid_crc=False, damage=WRONG_CRC, last_offset_delta=70)],
        [("damaged_batch", 5, None, 1)],
    ),
    "bytes that are no batch hide no other gap": Situation(
        [
            batch(0, 0, file="f", position=0),
            NO_BATCH,
            batch(10, 10, file="f", position=2),
            batch(15, 16, file="f", position=3),
        ],
        [("damaged_batch", None, None, 1), ("gap", 15, 14, 1)],
    ),
    "records that cannot be read leave the header good": Situation(
        [batch(0, 0), batch(5, 5, damage="no codec has the number 7"), batch(10, 11)],
        [("damaged_batch", 5, None, 5), ("gap", 10, 9, 1)],
    ),
    "an offset that comes again is told": Situation(
        [
            batch(0, 0, file="0.log", position=0),
            batch(5, 5, file="0.log", position=1),
            batch(4, 10, file="1.log", position=0),
        ],
        [("offset_regression", 4, 9, 5)],
    ),
    "committed transactions are clean": Situation(
        [
            transactional(0, 0),
            batch(5, 0, producer_id=8),
            transactional(10, 5),
            marker(15, "commit"),
            transactional(16, 10),
            marker(21, "commit"),
        ]
    ),
    "an aborted transaction is told with its records and its marker": Situation(
        [
            transactional(0, 0),
            marker(5, "commit"),
            transactional(6, 5),
            transactional(11, 10),
            marker(16, "abort", producer_epoch=1),
            transactional(17, 0, producer_epoch=1),
            marker(22, "commit", producer_epoch=1),
        ],
        [("aborted_transaction", 6, 16, 10)],
    ),
    "a marker without records is nothing": Situation([marker(0, "abort"), marker(1, "abort")]),
    "a transaction without an end is open": Situation(
        [transactional(0, 0), transactional(5, 5), batch(10, 0, producer_id=8, max_timestamp=at(910))],
        [("open_transaction", 0, None, 10)],
    ),
    "a transaction that was open for too long hangs": Situation(
        [transactional(0, 0), transactional(5, 5), batch(10, 0, producer_id=8, max_timestamp=at(910.001))],
        [("hanging_transaction", 0, None, 10)],
    ),
    "leader epochs in order are clean": Situation(
        [batch(0, 0), batch(5, 5, leader_epoch=3), batch(10, 10, leader_epoch=3)], leader_epochs=[(0, 0), (3, 5)]
    ),
    "an older leader epoch behind a newer one is a regression": Situation(
        [
            batch(0, 0, leader_epoch=1),
            batch(5, 5, leader_epoch=4),
            batch(10, 10, leader_epoch=2),
            batch(15, 15, leader_epoch=2),
            batch(20, 20, leader_epoch=3),
            batch(25, 25, leader_epoch=4),
        ],
        [("leader_epoch_regression", 10, 9, 5)],
        leader_epochs=[(1, 0), (4, 5)],
    ),
    "a damaged batch and an unknown leader epoch are no regression": Situation(
        [
            batch(0, 0, leader_epoch=1, file="f", position=0),
            batch(5, 5, leader_epoch=0, file="f", position=1, valid_crc=False, damage=WRONG_CRC),
            batch(10, 10, leader_epoch=-1, file="f", position=2),
            batch(15, 15, leader_epoch=1, file="f", position=3),
        ],
        [("damaged_batch", 5, None, 5)],
    ),
    "records whose leader epoch differs from the checkpoint are one finding": Situation(
        [batch(0, 0), batch(5, 5, leader_epoch=1), batch(10, 10, leader_epoch=1), batch(15, 15, leader_epoch=2)],
        [("leader_epoch_mismatch", 5, None, 10)],
        leader_epochs=[(0, 0), (2, 15)],
    ),
    "a leader epoch newer than the checkpoint's is of a log that is still written": Situation(
        [batch(0, 0), batch(5, 5, leader_epoch=1)], leader_epochs=[(0, 0)]
    ),
    "offsets in front of the checkpoint's first leader epoch have none": Situation(
        [batch(0, 0), batch(5, 5, leader_epoch=1)], leader_epochs=[(1, 5)]
    ),
    "an election without a record leaves an epoch that no batch has": Situation(
        [batch(0, 0), batch(5, 5, leader_epoch=3)], leader_epochs=[(0, 0), (3, 5), (4, 10)]
    ),
    "a missing beginning of a log is a hole": Situation(
        [batch(10, 10), batch(15, 15)], [("missing_offsets", 10, 3, 6)], begins_at=4
    ),
    "the cleaned part of a log may lack batches": Situation(
        [batch(10, 10), batch(20, 20)],
        [("compacted_offsets", 10, -1, 10), ("missing_offsets", 20, 14, 5)],
        begins_at=0,
        cleaned_before=12,
    ),
    "a hole behind the cleaned part is a loss": Situation(
        [batch(0, 0), batch(20, 20)], [("missing_offsets", 20, 4, 15)], cleaned_before=5
    ),
    "a hole behind the cleaned part is a loss also if the cleaned part has one": Situation(
        [batch(0, 0), batch(10, 10, records_count=2), batch(15, 15), batch(25, 25), batch(32, 32)],
        [("compacted_offsets", 10, 4, 5), ("missing_offsets", 25, 19, 7)],
        cleaned_before=15,
    ),
    "a hole from the cleaned part on is a loss behind it": Situation(
        [batch(0, 0), batch(20, 20)],
        [("compacted_offsets", 20, 4, 10), ("missing_offsets", 20, 4, 5)],
        cleaned_before=15,
    ),
    "a partly emptied batch behind the cleaned part was cleaned by another replica": Situation(
        [batch(0, 0), batch(10, 10, records_count=2), batch(25, 25)],
        [("compacted_offsets", 10, 4, 15)],
        cleaned_before=5,
    ),
}
# Where a hole begins and ends, by the file and position of the batch behind it.
HOLES = {
    "segment_start": {"file": f"/t-0/{5:020d}.log", "position": 0},
    "before_segment": {"file": f"/t-0/{7:020d}.log", "position": 0},
    "segment_start in a tier": {"file": f"/t-0/{5:020d}-bCqX9U--S-6U8XUM9II25Q.log", "position": 0},
    "before_segment in a tier": {"file": f"/t-0/{7:020d}-bCqX9U--S-6U8XUM9II25Q.log", "position": 0},
    "within": {"file": f"/t-0/{0:020d}.log", "position": 300},
    "in a file of another name": {"file": "/t-0/copy.log", "position": 0},
    "on a broker": {},
}
CAUSES = {
    WRONG_CRC: "wrong_crc",
    "a message of magic 1, the format before Kafka 0.11, with a wrong CRC or size": "old_format",
    "no batch: its magic would be 9": "no_batch",
    "cut off: 70 of 100 bytes are there": "cut_off",
    "the last 20 bytes are no whole batch": "cut_off",
    "no codec has the number 7": "unreadable_records",
}


@pytest.fixture(scope="module")
def findings(spark: SparkSession) -> list[Row]:
    """Return the findings of all situations."""
    rows = [{**row, "topic": name} for name, situation in SITUATIONS.items() for row in situation.rows]
    causes = [{**NO_BATCH, "topic": damage, "damage": damage} for damage in CAUSES]
    holes = [
        {**row, "topic": name}
        for name, place in HOLES.items()
        for row in (batch(0, 0, file=f"/t-0/{0:020d}.log", position=0) if place else batch(0, 0), batch(7, 7) | place)
    ]
    facts = [
        LogFacts(name, 0, one.begins_at, one.cleaned_before, one.leader_epochs) for name, one in SITUATIONS.items()
    ]
    return audit_sequences(batches(spark, *rows, *causes, *holes), facts=facts_frame(spark, facts)).collect()


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_finds_that(findings: list[Row], name: str) -> None:
    found = [
        (row["kind"], row["offset"], row["other_offset"], row["count"]) for row in findings if row["topic"] == name
    ]

    assert sorted(found, key=str) == sorted(SITUATIONS[name].found, key=str)


@pytest.mark.parametrize("name", HOLES)
def test_a_hole_at_the_edge_of_a_segment_has_a_cause(findings: list[Row], name: str) -> None:
    first = name.partition(" ")[0]
    cause = first if first in ("segment_start", "before_segment") else None

    assert [(row["kind"], row["cause"], row["count"]) for row in findings if row["topic"] == name] == [
        ("missing_offsets", cause, 2)
    ]


@pytest.mark.parametrize("damage", CAUSES)
def test_damage_has_a_cause(findings: list[Row], damage: str) -> None:
    assert [(row["kind"], row["cause"]) for row in findings if row["topic"] == damage] == [
        ("damaged_batch", CAUSES[damage])
    ]


def test_a_gap_has_a_detail_and_its_producer(spark: SparkSession) -> None:
    found = audit_sequences(batches(spark, batch(0, 0), batch(5, 8)))

    schema = (
        "check string, kind string, cause string, topic string, partition int, offset bigint, other_offset bigint, "
    )
    schema += "producer_id bigint, producer_epoch int, base_sequence int, event_id string, count bigint, "
    schema += "timestamp timestamp, detail string"
    detail = "3 sequences are missing: sequences 8 to 12 come after sequence 4 at offset 4"
    expected = ("sequence", "gap", None, "t", 0, 5, 4, 7, 0, 8, None, 3, at(5), detail)
    assert_found(spark, found, schema, expected)


def test_the_details_of_other_findings_have_their_numbers(findings: list[Row]) -> None:
    details = {row["topic"]: row["detail"] for row in findings if row["partition"] == 0}

    assert details["a repeated batch points to the first one"] == "sequences 10 to 14 are at offset 10 already"
    assert details["a damaged batch is told, and its records are no gap"] == (
        f"100 bytes of 0.log at position 100: {WRONG_CRC}"
    )
    assert details["a transaction that was open for too long hangs"] == (
        "10 records of a transaction that no marker ends, 910001 ms after it began"
    )


def test_the_missing_start_of_a_log_is_no_finding_of_a_later_range(spark: SparkSession) -> None:
    ranges = spark.createDataFrame([("t", 0, 20, 30)], RANGE_SCHEMA)
    facts = facts_frame(spark, [LogFacts("t", 0, 0, 0, [])])

    found = audit_sequences(batches(spark, batch(20, 20), batch(25, 25)), ranges=ranges, facts=facts)

    assert found.collect() == []


def test_the_time_of_the_audit_can_be_set(spark: SparkSession) -> None:
    found = audit_sequences(batches(spark, transactional(0, 0)), as_of=f.lit(at(1000)))

    assert_found(spark, found, "kind string, count bigint", ("hanging_transaction", 5))
