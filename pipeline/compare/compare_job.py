"""The comparison of two sides as a function of a Spark session: reads both, and returns the findings.

The right side is read before the end of the left one is fixed, so that each of its records can have its own on the
left. The records of both are decoded once and kept on the disk, so that all steps see the same ones. Read again are:

- the headers of batches of segment files, for aborted transactions that the folder does not list;
- a log in which ids without a counterpart are looked up: in its aborted transactions, and in front of a range of times.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ..bad_option import BadOption
from ..checks.findings import all_findings
from ..checks.log_bounds import LogBounds
from ..checks.task_sizes import SHUFFLE_TASKS_KEY, shuffle_tasks
from ..cluster.spark_errors import failure_reason
from .compare_request import CheckedRequest, CompareRequest
from .compared_range import ComparedRange
from .copies import audit_copies
from .coverage import SideBounds, with_coverage
from .entries import entries_of, with_superseded
from .matched import match_entries, with_aborted, without_earlier
from .matching import Matching
from .order import with_overtaker
from .positions import with_position_ids
from .side_columns import place_columns
from .side_rows import OpenedLog, read_aborted_rows, read_rows, with_fields
from .sides import LogSide, Side
from .topic_map import TopicMap
from .verdicts import audit_matched, without_id

# A row for each partition is on the driver. A column of a table that is no partition would have a row for each record.
PARTITIONS_MAX = 200_000


@dataclass(frozen=True, slots=True)
class Compared:
    """The findings, one row for each id (match_entries), and the logs as they were compared; None for a table."""

    findings: DataFrame
    matched: DataFrame
    left: OpenedLog | None
    right: OpenedLog | None


Ids = Callable[[], DataFrame | None]


@dataclass(frozen=True, slots=True)
class ReadSides:
    """The entries of both sides, with what is known of them. names: of all topics that are known, as on the left side.

    has_content: both sides have contents to compare. aborted_left, aborted_right: return topic and id of the records of
    aborted transactions; earlier_left, earlier_right: of those in front of the range. All are called if the other side
    has a record that this one lacks.
    """

    left: DataFrame
    right: DataFrame
    left_bounds: SideBounds
    right_bounds: SideBounds
    names: tuple[str, ...]
    is_right_log: bool
    has_content: bool
    range: ComparedRange = field(default_factory=ComparedRange)
    aborted_left: Ids = lambda: None
    aborted_right: Ids = lambda: None
    earlier_left: Ids = lambda: None
    earlier_right: Ids = lambda: None


def compare(spark: SparkSession, checked: CheckedRequest) -> Compared:
    """Compare the sides. Raises BadOption."""
    request, pairs = checked.request, checked.pairs
    right_log = request.open(request.right, pairs.right) if isinstance(request.right, LogSide) else None
    right = _read(spark, checked, request.right, right_log)
    left_log = request.open(request.left, pairs.left) if isinstance(request.left, LogSide) else None
    sides = ReadSides(
        left=_read(spark, checked, request.left, left_log),
        right=right,
        left_bounds=_bounds_of(request.left, left_log, TopicMap()),
        right_bounds=_bounds_of(request.right, right_log, pairs.topic_map),
        names=pairs.names,
        is_right_log=right_log is not None,
        has_content=_has_content(request),
        range=checked.range,
        aborted_left=partial(_aborted_ids, spark, checked, request.left, left_log),
        aborted_right=partial(_aborted_ids, spark, checked, request.right, right_log),
        earlier_left=partial(_earlier_ids, spark, checked, request.left, pairs.left),
        earlier_right=partial(_earlier_ids, spark, checked, request.right, pairs.right),
    )
    findings, matched = find_differences(spark, sides, request.matching)
    return Compared(findings, matched, left_log, right_log)


def set_tasks(spark: SparkSession, checked: CheckedRequest) -> None:
    """Use more tasks in shuffles for a large log than the session has; adaptive execution joins small ones."""
    size = max((log.size for log in (checked.left, checked.right) if log is not None), default=0)
    present = int(spark.conf.get(SHUFFLE_TASKS_KEY) or 1)
    spark.conf.set(SHUFFLE_TASKS_KEY, str(shuffle_tasks(size, present)))


def find_differences(spark: SparkSession, sides: ReadSides, matching: Matching) -> tuple[DataFrame, DataFrame]:
    """Return the findings, and one row for each id in the range (match_entries), which is kept on the disk."""
    left, right = sides.left, sides.right
    if matching.by == "position":
        both = with_position_ids(left.unionByName(right)).persist(StorageLevel.DISK_ONLY)
        left, right = both.where("is_left"), both.where("not is_left")
    if sides.right_bounds.has_compaction:
        left = with_superseded(left)
    if sides.left_bounds.has_compaction:
        right = with_superseded(right)
    entries = left.unionByName(right)
    every = match_entries(entries, is_one_to_many=matching.is_one_to_many).persist(StorageLevel.DISK_ONLY)
    covered = with_overtaker(with_coverage(spark, every, sides.names, sides.left_bounds, sides.right_bounds))
    explained = _explained(spark, sides, every, covered)
    matched = explained.select(*every.columns) if sides.range.is_set else every
    found = all_findings(
        audit_matched(explained, matching, is_right_log=sides.is_right_log, has_content=sides.has_content),
        audit_copies(matched, right, matching, is_right_log=sides.is_right_log),
        without_id(sides.range.before_end(spark, entries)),
    )
    return found, matched


def _explained(spark: SparkSession, sides: ReadSides, every: DataFrame, covered: DataFrame) -> DataFrame:
    """Return the covered rows of the range, with is_aborted.

    An id is left out if the side without it has it in front of the range.

    every: from match_entries. With a range the result is kept on the disk, because each lookup reads a log.
    """
    in_range = sides.range.before_end(spark, every, "left", "right")
    absent = in_range.agg(f.max(f.col("lefts") == 0).alias("left"), f.max(f.col("rights") == 0).alias("right")).first()
    assert absent is not None, "an aggregate returns one row"
    rows = sides.range.before_end(spark, covered, "left", "right")
    rows = with_aborted(
        rows,
        sides.aborted_left() if absent["left"] else None,
        sides.aborted_right() if absent["right"] else None,
    )
    if not sides.range.is_set:
        return rows
    earlier = (
        sides.earlier_left() if absent["left"] else None,
        sides.earlier_right() if absent["right"] else None,
    )
    return without_earlier(rows, *earlier).persist(StorageLevel.DISK_ONLY)


def _read(spark: SparkSession, checked: CheckedRequest, side: Side, opened: OpenedLog | None) -> DataFrame:
    """Return the entries of a side from the start of the range, which are read now and kept on the disk."""
    matching = checked.request.matching
    value = _value_of(side, matching)
    has_content = value is not None and (matching.is_one_to_many or _has_content(checked.request))
    side = replace(side, columns=replace(side.columns, value=value))
    entries = _entries(checked, side, read_rows(spark, side, opened), has_content=has_content)
    kept = checked.range.from_start(spark, entries).persist(StorageLevel.DISK_ONLY)
    counted = kept.agg(
        f.count("*").alias("rows"),
        f.count("id").alias("ids"),
        f.min("problem").alias("problem"),
        f.approx_count_distinct(f.xxhash64("topic", "partition")).alias("partitions"),
    ).first()
    assert counted is not None, "an aggregate returns one row"
    if counted["partitions"] > PARTITIONS_MAX:
        raise BadOption(
            f"{side.name}-offset-columns: {side.place} has about {counted['partitions']} partitions of topics,"
            f" and at most {PARTITIONS_MAX} are supported: is one of the columns another one?"
        )
    if matching.by != "position" and counted["rows"] and not counted["ids"]:
        what = f"has {side.columns.event_id}" if matching.by == "event-id" else "has an offset"
        why = "" if counted["problem"] is None else f": {counted['problem']}"
        raise BadOption(f"{side.name}: no record of {side.place} {what}{why}")
    return kept


def _entries(checked: CheckedRequest, side: Side, rows: DataFrame, *, has_content: bool = False) -> DataFrame:
    pairs = checked.pairs
    # Checks the column of the topic, which the condition uses.
    place_columns(rows, side)
    compared = rows.where(pairs.condition(side))
    try:
        return entries_of(compared, side, checked.request.matching, pairs.column(side), has_content=has_content)
    except PySparkException as error:
        # Expressions that are valid alone, and not together: one of them is an aggregate.
        raise BadOption(f"{side.name}: {failure_reason(error)}") from error


def _earlier_ids(
    spark: SparkSession, checked: CheckedRequest, side: Side, topics: Collection[str] | None
) -> DataFrame | None:
    """Return topic and id of the records in front of a range of times; None without one, and by position."""
    if checked.range.since_ms is None or checked.request.matching.by == "position":
        return None
    opened = checked.request.open(side, topics, is_whole=True) if isinstance(side, LogSide) else None
    entries = _entries(checked, side, read_rows(spark, side, opened))
    return checked.range.before_start(entries).select("topic", "id")


def _aborted_ids(
    spark: SparkSession, checked: CheckedRequest, side: Side, opened: OpenedLog | None
) -> DataFrame | None:
    """Return topic and id of the records of aborted transactions; None for a table, and by position."""
    matching = checked.request.matching
    if opened is None or matching.by == "position":
        return None
    rows = read_aborted_rows(spark, opened)
    if rows is None:
        return None
    return _entries(checked, side, with_fields(rows, side)).select("topic", "id")


def _value_of(side: Side, matching: Matching) -> str | None:
    """Return the expression of the content of a side; None if it has none."""
    if matching.is_one_to_many:
        # Only records of the right side are compared, with each other.
        if side.name == "left":
            return None
        return side.columns.value or ("value" if isinstance(side, LogSide) else "*")
    return side.columns.value or ("value" if isinstance(side, LogSide) else None)


def _has_content(request: CompareRequest) -> bool:
    return all(_value_of(side, request.matching) is not None for side in (request.left, request.right))


def _bounds_of(side: Side, opened: OpenedLog | None, topic_map: TopicMap) -> SideBounds:
    if opened is None:
        return SideBounds(is_compacted=side.columns.is_compacted)
    bounds = tuple(LogBounds(topic_map.left_of(one.topic), *one[1:]) for one in opened.bounds)
    ends = {(topic_map.left_of(name.topic_name), name.partition): end for name, end in opened.ends.items()}
    opens = {(topic_map.left_of(name.topic_name), name.partition): first for name, first in opened.first_open.items()}
    return SideBounds(bounds, ends, opens, is_compacted=side.columns.is_compacted)
