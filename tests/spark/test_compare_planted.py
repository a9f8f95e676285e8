"""Faults that were planted between two sides are found, each with its kind and place, and nothing else is."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.compare.compare_job import compare
from fauxka.pipeline.compare.compare_request import CompareRequest, check_request
from fauxka.pipeline.compare.matching import MatchedBy, Matching
from fauxka.pipeline.compare.sides import Columns, SideArguments, parse_side

from .compared_sides import (
    SINK_SCHEMA,
    TOPIC,
    Planted,
    Source,
    clean,
    make_source,
    plant,
    rows_of,
    write_arrived,
)

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

EACH = 8
LATE_AFTER_MS = 3_600_000
HEADER_ID = "header:id"
SINK = Columns(
    offsets=("topic", "partition", "offset"),
    key="customer",
    value="payload",
    time="written_at",
    order="row_number",
)

Found = Counter[tuple[str, object]]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Source, Path]:
    seed = Random().randrange(2**32)
    print(f"seed {seed}")
    made = make_source(Random(seed))
    folder = tmp_path_factory.mktemp("source")
    made.write(folder)
    return made, folder


@pytest.fixture(scope="module")
def planted(source: tuple[Source, Path]) -> Planted:
    return plant(source[0], EACH)


def write_sink(spark: SparkSession, arrived: Planted, folder: Path) -> str:
    rows = [
        (*row[:6], datetime.fromtimestamp(int(str(row[6])) / 1000, UTC), row[7]) for row in rows_of(arrived.arrived)
    ]
    spark.createDataFrame(rows, SINK_SCHEMA).write.parquet(str(folder / "sink"))
    return str(folder / "sink")


def findings(spark: SparkSession, left: SideArguments, right: SideArguments, matching: Matching) -> DataFrame:
    register(spark)
    request = CompareRequest(parse_side("left", left), parse_side("right", right), matching)
    return compare(spark, check_request(request)).findings


def found_in(frame: DataFrame) -> Found:
    """Return the findings as the plants expect them: an extra record by its event id, all others by their place."""
    found: Found = Counter()
    for row in frame.collect():
        label = row["detail"] if row["kind"] == "extra" else (row["partition"], row["offset"])
        found[row["kind"], row["event_id"] if row["kind"] == "extra" and row["event_id"] else label] += 1
    return found


def matching(by: MatchedBy) -> Matching:
    return Matching(by, late_after_ms=LATE_AFTER_MS)


def log(folder: Path, **columns: str) -> SideArguments:
    return SideArguments(str(folder), columns=Columns(**columns))  # type: ignore[arg-type]


def by_keys(planted: Planted) -> Found:
    """Return the expected findings where an extra record is known by its key only."""
    keys = {one.event_id: one.key for one in planted.arrived}
    expected: Found = Counter()
    for (kind, what), count in planted.expected.items():
        expected[kind, keys[str(what)] if kind == "extra" else what] += count
    return expected


def test_a_table_by_offset_columns(
    spark: SparkSession, source: tuple[Source, Path], planted: Planted, tmp_path: Path
) -> None:
    sink = SideArguments(write_sink(spark, planted, tmp_path), columns=SINK)

    frame = findings(spark, log(source[1]), sink, matching("offsets"))

    assert found_in(frame) == by_keys(planted)
    assert {row["cause"] for row in frame.where("kind = 'duplicated'").collect()} == {"written_twice"}


@pytest.mark.parametrize("by", ["event-id", "position"])
def test_another_topic_with_other_partitions(
    spark: SparkSession, source: tuple[Source, Path], planted: Planted, tmp_path: Path, by: MatchedBy
) -> None:
    write_arrived(tmp_path, "copies", planted.arrived)
    ids = {"event_id": HEADER_ID} if by == "event-id" else {}

    frame = findings(spark, log(source[1], **ids), log(tmp_path, **ids), matching(by))

    assert found_in(frame) == (planted.expected if by == "event-id" else by_keys(planted))
    assert {row["cause"] for row in frame.where("kind = 'duplicated'").collect()} == {"sent_again"}


def test_nothing_is_found_where_all_has_arrived(
    spark: SparkSession, source: tuple[Source, Path], tmp_path: Path
) -> None:
    arrived = clean(source[0])
    write_arrived(tmp_path / "log", TOPIC, arrived.arrived)
    sink = SideArguments(write_sink(spark, arrived, tmp_path), columns=SINK)

    by_offsets = findings(spark, log(source[1]), sink, matching("offsets"))
    by_position = findings(spark, log(source[1]), log(tmp_path / "log"), matching("position"))

    assert found_in(by_offsets) == Counter()
    assert found_in(by_position) == Counter()
