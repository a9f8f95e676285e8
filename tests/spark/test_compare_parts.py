"""What is a finding and what is not, on small literal entries of two sides.

The cases of one way to match are compared at once, each as a topic of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.checks.log_bounds import LogBounds
from fauxka.pipeline.compare.compare_job import ReadSides, find_differences
from fauxka.pipeline.compare.coverage import SideBounds
from fauxka.pipeline.compare.entries import ENTRY_KINDS
from fauxka.pipeline.compare.matching import Matching
from fauxka.pipeline.compare.sides import Columns, SideName, TableSide
from fauxka.pipeline.compare.topic_map import parse_topic_map
from fauxka.pipeline.compare.topics import pair_topics

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

SCHEMA = ", ".join(f"{name} {kind}" for name, kind in ENTRY_KINDS.items())
START = datetime(2026, 1, 1)
SIDES: tuple[SideName, SideName] = ("left", "right")
Row = dict[str, object]
# Kind, id or key, offset on the left side, cause.
Found = tuple[str, object, int | None, str | None]


def record(event: str | None, offset: int | None, **others: object) -> Row:
    """Return an entry of partition 0, with its offset as its position and its seconds."""
    row: Row = {
        "id": event,
        "label": event,
        "content": 1,
        "key_hash": 5,
        "partition": None if offset is None else 0,
        "offset": offset,
        "position": offset,
        "timestamp": None if offset is None else START + timedelta(seconds=offset),
        "is_optional": False,
        "is_tombstone": False,
        "is_superseded": False,
        "producer_id": 7,
        "producer_epoch": 0,
        "sequence": offset,
        "base_sequence": offset,
        "is_transactional": False,
        "timestamp_type": 0,
    }
    return row | others


def entries(events: Sequence[str | None], first: int = 0, **others: object) -> list[Row]:
    """Return entries with these ids at the offsets from first on."""
    return [record(event, first + at, **others) for at, event in enumerate(events)]


@dataclass(frozen=True)
class Bounds:
    """Start and end of partition 0, the end of its cleaned part, and its first open transaction."""

    start: int = 0
    end: int = 100
    cleaned: int = 0
    first_open: int | None = None


@dataclass(frozen=True)
class Case:
    """The entries of both sides, and the expected findings."""

    left: Sequence[Row]
    right: Sequence[Row]
    expected: set[Found]
    left_bounds: Bounds = Bounds()
    right_bounds: Bounds = Bounds()


def bounds_of(cases: Mapping[str, Bounds]) -> SideBounds:
    partitions = tuple(LogBounds(topic, 0, one.start, one.cleaned) for topic, one in cases.items())
    opens = {(topic, 0): one.first_open for topic, one in cases.items() if one.first_open is not None}
    return SideBounds(partitions, {(topic, 0): one.end for topic, one in cases.items()}, opens)


def compare(
    spark: SparkSession, cases: Mapping[str, Case], matching: Matching, table: SideBounds | None = None
) -> dict[str, set[Found]]:
    """Return the findings of each case. table: the bounds of the right side, if that is a table."""
    frames: list[DataFrame] = []
    for side in ("left", "right"):
        rows = [
            row | {"topic": name, "is_left": side == "left"}
            for name, case in cases.items()
            for row in (case.left if side == "left" else case.right)
        ]
        frames.append(spark.createDataFrame([tuple(row.get(name) for name in ENTRY_KINDS) for row in rows], SCHEMA))
    left_bounds = bounds_of({name: case.left_bounds for name, case in cases.items()})
    right_bounds = table or bounds_of({name: case.right_bounds for name, case in cases.items()})
    sides = ReadSides(
        frames[0],
        frames[1],
        left_bounds,
        right_bounds,
        tuple(cases),
        is_right_log=table is None,
        has_content=True,
    )
    findings, _ = find_differences(spark, sides, matching)
    results: dict[str, set[Found]] = {name: set() for name in cases}
    for row in findings.collect():
        one = (row["kind"], row["event_id"], row["offset"], row["cause"])
        assert one not in results[row["topic"]]
        results[row["topic"]].add(one)
    return results


def assert_found(
    spark: SparkSession, cases: Mapping[str, Case], matching: Matching, table: SideBounds | None = None
) -> None:
    """Compare the findings of all cases with the expected ones; fails with the names of the cases that differ."""
    results = compare(spark, cases, matching, table)

    assert results == {name: case.expected for name, case in cases.items()}


def keyed(key: str, *contents: int, first: int = 0) -> list[Row]:
    """Return records of a key with these contents."""
    return [
        record(None, first + at, label=key, content=content, key_hash=hash(key)) for at, content in enumerate(contents)
    ]


def keyless(*contents: int) -> list[Row]:
    return [record(None, at, label=None, content=content, key_hash=None) for at, content in enumerate(contents)]


def at_offsets(*offsets: int) -> list[Row]:
    return [record(f"0/{offset}", offset) for offset in offsets]


def later(rows: list[Row], seconds: float, at: int = -1) -> list[Row]:
    """Return the rows, one of them with a later time."""
    rows[at]["timestamp"] = START + timedelta(seconds=seconds)
    return rows


COMPACTED = Bounds(cleaned=10)
LOGS_BY_ID = {
    "behind the last record that arrived": Case(
        entries("abcd"), entries("ac"), {("lost", "b", 1, None), ("pending", "d", 3, None)}
    ),
    "a partition of which nothing arrived": Case(
        [*entries("abc"), *later(entries(["old", "x", "new"], partition=1), 3600)],
        entries("abc"),
        {
            ("lost", "old", 0, "partition_absent"),
            ("lost", "x", 1, "partition_absent"),
            ("pending", "new", 2, None),
        },
    ),
    "nothing arrived": Case(
        entries("ab"), [], {("lost", "a", 0, "partition_absent"), ("lost", "b", 1, "partition_absent")}
    ),
    "retention on the right side": Case(
        entries("abcde"),
        entries("ce", first=50, timestamp=START),
        {("expired", "a", 0, "retention"), ("expired", "b", 1, "retention"), ("lost", "d", 3, None)},
        right_bounds=Bounds(start=50),
    ),
    "retention on the left side": Case(
        entries("cd", first=50),
        entries("abcxd"),
        {("expired", "a", None, "retention"), ("expired", "b", None, "retention"), ("extra", "x", None, None)},
        left_bounds=Bounds(start=50),
    ),
    "a compacted right side has the last record of a key": Case(
        [
            record("a1", 0, key_hash=1),
            record("b1", 1, key_hash=2),
            record("a2", 2, key_hash=1),
            record("c1", 3, key_hash=3),
            record("c2", 4, key_hash=3, is_tombstone=True),
            record("d1", 5, key_hash=4),
        ],
        [record("a2", 0, key_hash=1), record("d1", 1, key_hash=4)],
        {
            ("expired", "a1", 0, "compaction"),
            ("lost", "b1", 1, None),
            ("expired", "c1", 3, "compaction"),
            ("expired", "c2", 4, "compaction"),
        },
        right_bounds=COMPACTED,
    ),
    "a compacted left side": Case(
        [record("a2", 5, key_hash=1)],
        [record("a1", 0, key_hash=1), record("a2", 1, key_hash=1), record("b1", 2, key_hash=2)],
        {("expired", "a1", None, "compaction"), ("extra", "b1", None, None)},
        left_bounds=COMPACTED,
    ),
    "optional records need not arrive and may": Case(
        [record("a", 0), record("b", 1, is_optional=True), record("c", 2, is_optional=True), record("d", 3)],
        entries("acd"),
        set(),
    ),
    "a lost tombstone": Case(
        [record("a", 0, is_tombstone=True), record("b", 1)], entries("b"), {("lost", "a", 0, "tombstone")}
    ),
    "copies on the left side, all on the right": Case(entries("aab"), entries("aab"), set()),
    "copies on the left side, one on the right": Case(entries("aab"), entries("ab"), set()),
    "one more copy than on the left side": Case(
        entries("aab"), entries("aaab"), {("duplicated", "a", 0, "sent_again")}
    ),
    "the producer of a copy": Case(
        entries("ab"),
        [*entries("ab"), record("a", 2, producer_id=8), record("b", 3)],
        {("duplicated", "a", 0, "producer_restarted"), ("duplicated", "b", 1, "sent_again")},
    ),
    "records without an id": Case(
        entries(["a", None, None]),
        entries(["a", None]),
        {("no_event_id", None, 1, None), ("no_event_id", None, None, None)},
    ),
    "overtaken by a record of the key, and by one of another key": Case(
        [record("a", 0), record("b", 1), record("c", 2, key_hash=9)],
        [record("c", 0, key_hash=9), record("b", 1), record("a", 2)],
        {("reordered", "a", 0, None)},
    ),
    "one position for several records on the right": Case(
        entries("abcdefgh"),
        [record(event, at, position=9, timestamp=START) for at, event in enumerate("hbgfcdea")],
        set(),
    ),
    "overtaken by records of an earlier position only": Case(
        entries("abc"),
        [record("c", 0, position=1), record("a", 1, position=2), record("b", 2, position=2)],
        {("reordered", "a", 0, None), ("reordered", "b", 1, None)},
    ),
    "another content": Case(
        entries("ab"), entries("ab", content=2), {("changed", "a", 0, None), ("changed", "b", 1, None)}
    ),
    "a copy with another content": Case(
        entries("ab"), [*entries("ab"), record("a", 2, content=2)], {("duplicated", "a", 0, "sent_again")}
    ),
    "exactly as late as allowed": Case(entries("ab"), later(entries("ab"), 6), set()),
    "later than allowed": Case(entries("ab"), later(entries("ab"), 6.001), {("late", "b", 1, None)}),
}
TABLES_BY_ID = {
    "an upserted table": Case(
        [record("a1", 0, key_hash=1), record("a2", 1, key_hash=1), record("b1", 2, key_hash=2), record("z", 3)],
        [record("a2", None), record("z", None)],
        {("expired", "a1", 0, "compaction"), ("lost", "b1", 2, None)},
    ),
    "the offset columns of a copy": Case(
        entries("ab"),
        [record(event, None, origin=origin) for event, origin in [("a", 1), ("a", 1), ("b", 2), ("b", 3)]],
        {("duplicated", "a", 0, "written_twice"), ("duplicated", "b", 1, "sent_twice")},
    ),
    "rows without an order": Case(entries("abc"), [record(event, None) for event in "cba"], set()),
    "rows that may be older than the log": Case(
        entries("a", first=50),
        [record("a", None), record("b", None), record("c", None, timestamp=START), *later([record("d", None)], 99)],
        {("expired", "b", None, "retention"), ("expired", "c", None, "retention"), ("extra", "d", None, None)},
        left_bounds=Bounds(start=50),
    ),
}
TABLES_BY_OFFSETS = {
    "older than the log, absent in it, and behind its end": Case(
        at_offsets(50, 51),
        at_offsets(49, 50, 51, 60, 90, 100),
        {
            ("expired", "0/49", 49, "retention"),
            ("extra", "0/60", 60, None),
            ("extra", "0/90", 90, "open_transaction"),
            ("extra", "0/100", 100, "beyond_end"),
        },
        left_bounds=Bounds(start=50, first_open=90),
    ),
    "cleaned on the left side": Case(
        at_offsets(5), at_offsets(3, 5), {("expired", "0/3", 3, "compaction")}, left_bounds=COMPACTED
    ),
    "written twice": Case(at_offsets(1, 2), at_offsets(1, 1, 2), {("duplicated", "0/1", 1, "written_twice")}),
}
BY_POSITION = {
    "equal contents, and what is between them": Case(
        keyed("k", 1, 2, 3, 4, 5),
        keyed("k", 1, 9, 3, 5, 5),
        {("changed", "k", 1, None), ("lost", "k", 3, None), ("duplicated", "k", 4, "sent_again")},
    ),
    "equal contents are counted": Case(keyed("k", 1, 1, 1, 2), keyed("k", 1, 1, 2), {("lost", "k", 2, None)}),
    "positions of different keys": Case(
        [*keyed("k", 1), *keyed("m", 2, first=5)],
        [*keyed("m", 2), *keyed("k", 2, first=5)],
        {("changed", "k", 0, None)},
    ),
    "records without a key": Case(
        keyless(1, 2, 3, 4),
        keyless(4, 3, 9, 1, 1),
        {("lost", None, 1, None), ("extra", None, None, None), ("duplicated", None, 0, "sent_again")},
    ),
}
ONE_TO_MANY = {
    "only records with equal content are copies": Case(
        entries("a"),
        [record("a", at, content=content) for at, content in enumerate([1, 2, 2, 3])],
        {("duplicated", "a", 0, "sent_again")},
    ),
}
CAUGHT_UP = {
    "nothing is pending": Case(entries("abc"), entries("a"), {("lost", "b", 1, None), ("lost", "c", 2, None)}),
}


def test_two_logs_by_event_id(spark: SparkSession) -> None:
    assert_found(spark, LOGS_BY_ID, Matching("event-id", late_after_ms=5000))


def test_a_table_by_event_id(spark: SparkSession) -> None:
    assert_found(spark, TABLES_BY_ID, Matching("event-id"), SideBounds(is_compacted=True))


def test_a_table_by_offsets(spark: SparkSession) -> None:
    assert_found(spark, TABLES_BY_OFFSETS, Matching("offsets"), SideBounds())


def test_two_logs_by_position(spark: SparkSession) -> None:
    assert_found(spark, BY_POSITION, Matching("position"))


def test_one_to_many(spark: SparkSession) -> None:
    assert_found(spark, ONE_TO_MANY, Matching("event-id", "one-to-many"))


def test_a_right_side_that_has_caught_up(spark: SparkSession) -> None:
    assert_found(spark, CAUGHT_UP, Matching("event-id", is_caught_up=True))


def test_the_topics_of_a_table_are_mapped_as_those_of_a_log(spark: SparkSession) -> None:
    columns = Columns(offsets=("topic", "partition", "offset"))
    left, right = (TableSide(name, "sink", "parquet", {}, "sink", columns) for name in SIDES)
    topic_map = parse_topic_map(["orders=bought", "*-v1=*-v2", "a.*=b.*"])
    names = ["orders", "bought", "x-v1", "x-v2", "-v2", "a.c", "b.c", "b.", "other"]

    pairs = pair_topics(left, right, (None, None), topic_map)
    table = spark.createDataFrame([(name,) for name in [*names, None]], "topic string")
    mapped = table.where(pairs.condition(right)).select("topic", pairs.column(right).alias("name")).collect()

    expected = [(name, topic_map.left_of(name)) for name in names if topic_map.has_right(name)]
    assert [tuple(row) for row in mapped] == [*expected, (None, None)]
    assert table.where(pairs.condition(left)).count() == len(names) + 1
