"""A part of both sides: the planted faults in it are found, and nothing else is, though its edges cut both sides."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.compare.compare_job import compare
from fauxka.pipeline.compare.compare_request import CompareRequest, check_request
from fauxka.pipeline.compare.compared_range import parse_range
from fauxka.pipeline.compare.matching import MatchedBy, Matching
from fauxka.pipeline.compare.sides import Columns, SideArguments, parse_side

from ..serving_process import run
from .compared_sides import (
    BATCHES,
    START_MS,
    TOPIC,
    USUAL_MS,
    Planted,
    Sent,
    Source,
    clean,
    make_source,
    plant,
    write_arrived,
)
from .test_compare_planted import LATE_AFTER_MS, SINK, Found, found_in, write_sink

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

EACH = 12
BATCH_MS = 10
# The topic has 4 seconds, and a record arrives one second after it was sent.
SINCE_MS = START_MS + BATCHES * BATCH_MS * 3 // 8
UNTIL_MS = START_MS + BATCHES * BATCH_MS * 6 // 8
HEADER_ID = "header:id"
COMPARE_SECONDS_MAX = 400
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")


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


def is_in_range(timestamp_ms: int) -> bool:
    return SINCE_MS <= timestamp_ms < UNTIL_MS


def in_range(source: Source, planted: Planted, times_of_extras: dict[str, int]) -> Found:
    """Return the expected findings that the range has. times_of_extras: by event id."""
    times: dict[object, int] = {one.place: one.timestamp_ms for one in source.records}
    times.update(times_of_extras)
    found = Counter({(kind, what): 1 for (kind, what) in planted.expected if is_in_range(times[what])})
    assert {kind for kind, _ in found} == {kind for kind, _ in planted.expected}, "each kind has faults in the range"
    assert sum(found.values()) < planted.expected.total()
    return found


def by_event_ids(planted: Planted) -> dict[str, Sent]:
    return {one.event_id: one for one in planted.arrived}


def findings(
    spark: SparkSession, sides: tuple[SideArguments, SideArguments], by: MatchedBy, since: str, until: str | None
) -> Found:
    register(spark)
    left, right = parse_side("left", sides[0]), parse_side("right", sides[1])
    matching = Matching(by, late_after_ms=LATE_AFTER_MS)
    request = CompareRequest(left, right, matching, wanted=parse_range(since, until, UNTIL_MS))
    return found_in(compare(spark, check_request(request)).findings)


def test_a_table_by_offset_columns(
    spark: SparkSession, source: tuple[Source, Path], planted: Planted, tmp_path: Path
) -> None:
    sink = SideArguments(write_sink(spark, planted, tmp_path), columns=replace(SINK, time="written_at"))
    arrived, aborted = by_event_ids(planted), {one.place: one.timestamp_ms for one in source[0].aborted}
    extras = [str(what) for kind, what in planted.expected if kind == "extra"]
    expected = in_range(source[0], planted, {one: aborted[arrived[one].place] for one in extras})

    found = findings(spark, (SideArguments(str(source[1])), sink), "offsets", str(SINCE_MS), str(UNTIL_MS))

    keys = {one: arrived[one].key for one in extras}
    assert found == Counter((kind, keys[str(what)] if kind == "extra" else what) for kind, what in expected)


def test_records_that_arrive_behind_both_ends(
    spark: SparkSession, source: tuple[Source, Path], planted: Planted, tmp_path: Path
) -> None:
    write_arrived(tmp_path, "copies", planted.arrived)
    arrived = by_event_ids(planted)
    extras = [str(what) for kind, what in planted.expected if kind == "extra"]
    by_id = Columns(event_id=HEADER_ID)
    sides = SideArguments(str(source[1]), columns=by_id), SideArguments(str(tmp_path), columns=by_id)

    found = findings(spark, sides, "event-id", str(SINCE_MS), str(UNTIL_MS))

    assert found == in_range(source[0], planted, {one: arrived[one].timestamp_ms for one in extras})


def test_a_mirror_by_position_with_the_times_of_its_source(
    spark: SparkSession, source: tuple[Source, Path], planted: Planted, tmp_path: Path
) -> None:
    times = {one.event_id: one.timestamp_ms for one in source[0].records}
    arrived = by_event_ids(planted)
    extras = {
        str(what): arrived[str(what)].timestamp_ms - USUAL_MS for kind, what in planted.expected if kind == "extra"
    }
    kept = [replace(one, timestamp_ms=(times | extras)[one.event_id]) for one in planted.arrived]
    write_arrived(tmp_path, "mirror", kept)
    expected = in_range(source[0], planted, extras)
    keys = {one: arrived[one].key for one in extras}

    sides = SideArguments(str(source[1])), SideArguments(str(tmp_path))
    found = findings(spark, sides, "position", str(SINCE_MS), str(UNTIL_MS))

    assert found == Counter(
        (kind, keys[str(what)] if kind == "extra" else what) for kind, what in expected if kind != "late"
    )


def test_given_offsets_of_a_copied_folder(spark: SparkSession, source: tuple[Source, Path], tmp_path: Path) -> None:
    copied = source[0]
    starts = {number: end // 2 for number, end in enumerate(copied.offsets)}
    (tmp_path / "offsets.json").write_text(json.dumps({TOPIC: {str(number): at for number, at in starts.items()}}))
    # Each partition lacks its first batch and the last two.
    for number, stored in copied.batches.items():
        path = tmp_path / "copy" / f"{TOPIC}-{number}" / f"{0:020d}.log"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(stored[1:-2]))
    sides = SideArguments(str(source[1])), SideArguments(str(tmp_path / "copy"))

    whole = findings(spark, sides, "offsets", "0", None)
    part = findings(spark, sides, "offsets", str(tmp_path / "offsets.json"), None)

    assert {kind for kind, _ in whole} == {"lost", "pending"}
    assert part == Counter({what: count for what, count in whole.items() if what[0] == "pending"})


def test_the_command_names_the_range(source: tuple[Source, Path], tmp_path: Path) -> None:
    arrived = [one for one in clean(source[0]).arrived if is_in_range(one.timestamp_ms - USUAL_MS)]
    write_arrived(tmp_path, "copies", arrived)

    ended = run(
        *("compare", *QUICK, str(source[1]), str(tmp_path), "--event-id", HEADER_ID),
        *("--since", str(SINCE_MS), "--until", str(UNTIL_MS)),
        seconds_max=COMPARE_SECONDS_MAX,
    )

    assert ended.exit_code == 0, ended.log + ended.output
    lines = ended.output.splitlines()
    assert lines[0] == (
        f"Comparison of {source[1]} with {tmp_path}: by header:id, since 2026-01-01T00:00:01.500Z,"
        " until 2026-01-01T00:00:03.000Z"
    )
    count = f"{len(arrived):,}"
    assert lines[1] == f"  orders: {count} records on the left side, {count} on the right side, {count} arrived"
