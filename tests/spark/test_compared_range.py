"""The options --since and --until of a comparison: which sides and ways to match they are for."""

from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audited_range import AuditedRange
from fauxka.pipeline.compare.compared_range import (
    ComparedRange,
    WantedRange,
    check_range,
    log_of_offsets,
    parse_range,
    range_of,
)
from fauxka.pipeline.compare.matching import MatchedBy, Matching
from fauxka.pipeline.compare.sides import Columns, LogSide, Side, TableSide
from fauxka.pipeline.compare.topic_map import TopicMap, parse_topic_map
from fauxka.storage.log_files import PartitionName

# Plain functions of modules that import pyspark.
pytestmark = [pytest.mark.spark, pytest.mark.slice]

DAY_MS = 86_400_000
NOON_MS = 1_767_268_800_000
LOG = LogSide("left", "topic://h:1/a", {})
OTHER_LOG = LogSide("right", "topic://h:1/b", {})
TABLE = TableSide("right", "sink", "parquet", {}, "sink")
TABLE_WITH_TIME = TableSide("right", "sink", "parquet", {}, "sink", Columns(time="written_at"))


def test_a_range_of_times_in_words() -> None:
    wanted = parse_range("1d", "2026-01-01T12:00:00Z", NOON_MS + DAY_MS // 2)

    assert (wanted.since_ms, wanted.until_ms) == (NOON_MS - DAY_MS // 2, NOON_MS)
    assert wanted.words == ", since 2026-01-01T00:00:00.000Z, until 2026-01-01T12:00:00.000Z"


def test_a_range_of_given_offsets(tmp_path: Path) -> None:
    (tmp_path / "offsets.json").write_text('{"a": {"0": 5}}')

    wanted = parse_range(str(tmp_path / "offsets.json"), None, NOON_MS)

    assert wanted == WantedRange({"startingOffsets": '{"a": {"0": 5}}'})
    assert wanted.words == ", since the given offsets"


def test_without_a_range_there_are_no_words() -> None:
    assert parse_range(None, None, NOON_MS) == WantedRange()
    assert WantedRange().words == ""


@pytest.mark.parametrize(
    ("left", "right", "by", "expected"),
    [
        (LOG, TABLE, "offsets", LOG),
        (TABLE, OTHER_LOG, "offsets", OTHER_LOG),
        (LOG, OTHER_LOG, "offsets", LOG),
        (TABLE, TABLE, "offsets", None),
        (LOG, TABLE, "event-id", None),
        (LOG, OTHER_LOG, "position", None),
    ],
)
def test_a_range_has_the_offsets_of_a_log_where_records_are_matched_by_them(
    left: Side, right: Side, by: MatchedBy, expected: Side | None
) -> None:
    assert log_of_offsets(left, right, Matching(by)) is expected


TIMES = WantedRange({"startingTimestamp": "5", "endingTimestamp": "9"}, 5, 9)
UNTIL = WantedRange({"endingTimestamp": "9"}, None, 9)
OFFSETS = WantedRange({"startingOffsets": "{}"})


@pytest.mark.parametrize(
    ("wanted", "right", "by"),
    [
        (TIMES, TABLE, "offsets"),
        (OFFSETS, TABLE, "offsets"),
        (TIMES, TABLE_WITH_TIME, "event-id"),
        (TIMES, OTHER_LOG, "position"),
        (WantedRange(), TABLE, "event-id"),
    ],
)
def test_a_valid_range(wanted: WantedRange, right: Side, by: MatchedBy) -> None:
    check_range(wanted, LOG, right, Matching(by))


@pytest.mark.parametrize(
    ("wanted", "left", "right", "by", "words"),
    [
        (TIMES, LOG, TABLE, "event-id", "since: needs --right-time, the time of a row of sink"),
        (UNTIL, LOG, TABLE, "position", "until: needs --right-time, the time of a row of sink"),
        (OFFSETS, LOG, OTHER_LOG, "event-id", "since: must be a time; offsets are for records of a log that are"),
        (OFFSETS, LOG, OTHER_LOG, "position", "since: must be a time; offsets are for records of a log that are"),
        (OFFSETS, TABLE, TABLE, "offsets", "since: must be a time; offsets are for records of a log that are"),
    ],
)
def test_an_invalid_range_is_one_line(wanted: WantedRange, left: Side, right: Side, by: MatchedBy, words: str) -> None:
    with pytest.raises(BadOption) as raised:
        check_range(wanted, left, right, Matching(by))

    assert str(raised.value).startswith(words)


def test_only_partitions_with_other_offsets_have_bounds() -> None:
    whole, cut, begun = (PartitionName("source.a", number) for number in range(3))
    audited = AuditedRange(
        {whole: 0, cut: 5, begun: 7}, {whole: 9, cut: 8, begun: 9}, frozenset({cut, begun}), frozenset({cut})
    )

    found = range_of(TIMES, audited, parse_topic_map(["*=source.*"]))

    assert found == ComparedRange(offsets=(("a", 1, 5, 8), ("a", 2, 7, None)))
    assert range_of(TIMES, None, TopicMap()) == ComparedRange(5, 9)
    assert not range_of(WantedRange(), None, TopicMap()).is_set
