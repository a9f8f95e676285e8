"""The screening of a ledger: it selects all events with a finding, and few others."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.checks import ledger_audit
from fauxka.pipeline.checks.ledger_audit import audit_ledger
from fauxka.pipeline.checks.ledger_screening import entries_in_doubt
from fauxka.pipeline.checks.sent_ledger import SENT_KINDS, SENT_SCHEMA

from .frames import batches, marker, record, records, transactional

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

# Many small random logs and ledgers, so that all combinations of faults among a few events occur.
WORLDS = 400
EVENTS_MAX = 4
# All records of this partition are in an aborted transaction.
ABORTED_PARTITION = 2
# Kinds that occur hundreds of times.
KINDS = {"lost", "ambiguous_success", "offset_differs", "unknown_event", "reordered"}

Line = tuple[str, str | None, int | None, str | None, int | None, int | None, str | None]


class Worlds:
    """Random records, and random lines of a ledger."""

    def __init__(self, seed: int) -> None:
        self.generator = random.Random(seed)
        self.lines: list[Line] = []
        self.rows: list[dict[str, object]] = []
        self.ends = [0, 0, 0]
        for world in range(WORLDS):
            self.draw(world)

    def draw(self, world: int) -> None:
        draw = self.generator
        events = [f"{world}-{number}" for number in range(draw.randint(1, EVENTS_MAX))]
        # Mostly one record an event, as in any log.
        copies = [event for event in events for _ in range(draw.choice((0, 1, 1, 1, 1, 1, 2)))]
        if draw.random() < 0.3:
            draw.shuffle(copies)
        places: dict[str, list[tuple[int, int]]] = {event: [] for event in events}
        home = draw.randint(0, 1)
        for event in copies:
            partition = home if draw.random() < 0.8 else draw.randint(0, ABORTED_PARTITION)
            places[event].append((partition, self.ends[partition]))
            self.rows.append(record(self.ends[partition], event, partition=partition))
            self.ends[partition] += 1
        for ordinal, event in enumerate(events):
            for _ in range(draw.choice((0, 1, 1, 1, 1, 1, 1, 2))):
                self.lines.append(self.line(world, event, ordinal, places[event]))

    def line(self, world: int, event: str, ordinal: int, places: list[tuple[int, int]]) -> Line:
        draw = self.generator
        key = draw.choice((f"key {world}", f"key {world}", f"key {world}", f"other key {world}", None))
        partition: int | None
        offset: int | None
        partition, offset = draw.choice(places) if places else (0, draw.randint(0, 9))
        if draw.random() < 0.2:
            partition, offset = draw.choice(((None, None), (0, None), (None, 3), (0, draw.randint(0, 9))))
        told = None if draw.random() < 0.2 else ordinal
        return event, key, told, "t", partition, offset, "REQUEST_TIMED_OUT" if draw.random() < 0.1 else None

    def frames(self, spark: SparkSession) -> tuple[DataFrame, DataFrame, DataFrame]:
        """Return the records, the ledger and the batches; an offset of the aborted partition is a batch."""
        aborted = {"partition": ABORTED_PARTITION}
        count = self.ends[ABORTED_PARTITION]
        of_log = [transactional(offset, offset, 1, **aborted) for offset in range(count)]
        return (
            records(spark, *self.rows),
            spark.createDataFrame(self.lines, SENT_SCHEMA),
            batches(spark, *of_log, marker(count, "abort", **aborted)),
        )


def everything(entries: DataFrame, place: Sequence[str]) -> DataFrame:
    assert place
    return entries


def found(frames: tuple[DataFrame, DataFrame, DataFrame]) -> Counter[Row]:
    log, sent, log_batches = frames
    return Counter(audit_ledger(log, sent, f.col("key").cast("string"), log_batches).collect())


@pytest.mark.parametrize("has_topics", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_screening_does_not_change_the_findings(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, seed: int, has_topics: bool
) -> None:
    log, sent, log_batches = Worlds(seed).frames(spark)
    frames = log, sent if has_topics else sent.drop("topic"), log_batches

    screened = found(frames)

    monkeypatch.setattr(ledger_audit, "entries_in_doubt", everything)
    thorough = found(frames)
    assert screened == thorough
    assert {row["kind"] for row in thorough} == KINDS


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_screening_of_a_part_of_the_log_does_not_change_the_findings(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    log, sent, log_batches = Worlds(seed).frames(spark)
    frames = log, sent.withColumn("is_audited", f.xxhash64(f.lit(seed), "event_id") % 3 != 0), log_batches

    screened = found(frames)

    monkeypatch.setattr(ledger_audit, "entries_in_doubt", everything)
    thorough = found(frames)
    assert screened == thorough
    assert {row["kind"] for row in thorough} >= {"lost", "reordered"}


def entries(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    """Entries as ledger_audit makes them: stored ones of the log, all others acknowledged ones of the ledger."""
    names = [*SENT_KINDS, "is_stored", "is_acked", "is_acked_elsewhere"]
    kinds = {**SENT_KINDS, "is_stored": "boolean", "is_acked": "boolean", "is_acked_elsewhere": "boolean"}
    defaults = {"topic": "t", "partition": 0, "is_stored": False, "is_acked": True, "is_acked_elsewhere": False}
    schema = ", ".join(f"{name} {kinds[name]}" for name in names)
    return spark.createDataFrame([tuple((defaults | row).get(name) for name in names) for row in rows], schema)


def stored(event: str, offset: int, **others: object) -> dict[str, object]:
    return {"event_id": event, "offset": offset, "is_stored": True, "is_acked": None} | others


def sent(event: str, offset: int, ordinal: int, key: str = "k", **others: object) -> dict[str, object]:
    return {"event_id": event, "offset": offset, "ordinal": ordinal, "key": key} | others


def in_doubt(frame: DataFrame) -> set[str]:
    return {row["event_id"] for row in entries_in_doubt(frame, ("topic", "partition", "offset")).collect()}


def test_an_event_stored_once_at_its_acknowledged_offset_is_not_selected(spark: SparkSession) -> None:
    frame = entries(spark, stored("a", 0), sent("a", 0, 0), stored("b", 1), sent("b", 1, 1))

    assert in_doubt(frame) == set()


def test_a_copy_in_the_same_partition_selects_only_its_event(spark: SparkSession) -> None:
    frame = entries(spark, stored("a", 0), stored("a", 2), sent("a", 0, 0), stored("b", 1), sent("b", 1, 1))

    assert in_doubt(frame) == {"a"}


def test_a_reordered_event_selects_the_latest_event_in_front(spark: SparkSession) -> None:
    ordinals = {"a": 1, "b": 3, "c": 0, "d": 4}
    of_key = [
        entry
        for offset, (event, ordinal) in enumerate(ordinals.items())
        for entry in (stored(event, offset), sent(event, offset, ordinal))
    ]
    of_other = [stored("x", 4), sent("x", 4, 0, "other"), stored("y", 5), sent("y", 5, 1, "other")]

    assert in_doubt(entries(spark, *of_key, *of_other)) == {"b", "c"}


def test_an_event_in_another_partition_is_not_in_front(spark: SparkSession) -> None:
    of_key = [stored("a", 0, partition=1), sent("a", 0, 1, partition=1), stored("b", 1), sent("b", 1, 0)]

    assert in_doubt(entries(spark, *of_key)) == set()


def test_a_copy_in_another_partition_selects_all_events_of_its_key(spark: SparkSession) -> None:
    copies = [stored("a", 0), stored("a", 7, partition=1), sent("a", 0, 0)]

    assert in_doubt(entries(spark, *copies, stored("b", 1), sent("b", 1, 1))) == {"a", "b"}
