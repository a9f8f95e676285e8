"""The comparison of two sides as a function of a Spark session: reads both, and returns the findings.

The right side is read in front of the end of the left one is fixed, so that each of its records can have its own on the
left. Both are kept on the disk: each source is read once, and all steps see the same records.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ..bad_option import BadOption
from ..checks.audit_job import TASKS_MAX, shuffle_tasks
from ..checks.decoded_fields import with_decoded_fields
from ..checks.event_id_parts import COLUMN, parse_row_id
from ..checks.event_id_schemas import check_row_id
from ..checks.findings import all_findings
from ..checks.log_bounds import LogBounds
from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions
from .copies import audit_copies
from .coverage import SideBounds, with_coverage
from .entries import entries_of, with_superseded
from .matched import match_entries, with_aborted
from .matching import Matching
from .positions import with_position_ids
from .side_rows import OpenedLog, open_side, read_aborted_rows, read_rows
from .sides import Columns, LogSide, Side, TableSide
from .topic_map import TopicMap
from .topics import TopicPairs, pair_topics
from .verdicts import audit_matched, without_id

# The topics of a cluster that a MirrorMaker leaves out by default, its own among them.
# Source: DefaultTopicFilter.TOPICS_EXCLUDE_DEFAULT, Kafka 4.3.0.
_NOT_MIRRORED = re.compile(r"mm2.*\.internal|.*\.replica|__.*")
_OFFSETS_DEFAULT = ("topic", "partition", "offset")
_SHUFFLE_TASKS_KEY = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """The two sides, and how they are compared."""

    left: Side
    right: Side
    matching: Matching
    topic_map: TopicMap = field(default_factory=TopicMap)

    @property
    def words(self) -> str:
        """How records are matched, in words."""
        by = self.matching.by
        if by == "event-id":
            left, right = self.left.columns.event_id, self.right.columns.event_id
            return f"by {left}" if left == right else f"by {left} and {right}"
        return "by offsets" if by == "offsets" else "by the position in each key"


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A valid request. left, right: the logs when they were checked; None for a table."""

    request: CompareRequest
    pairs: TopicPairs
    left: OpenedLog | None
    right: OpenedLog | None


@dataclass(frozen=True, slots=True)
class Compared:
    """The findings, one row for each id (match_entries), and the left log as it was compared."""

    findings: DataFrame
    matched: DataFrame
    left: OpenedLog | None


def check_request(request: CompareRequest) -> CheckedRequest:
    """Check the request and open its logs. Does not use Spark. Raises BadOption."""
    request = _with_defaults(request)
    _check_columns(request)
    left, right = (open_side(side) if isinstance(side, LogSide) else None for side in (request.left, request.right))
    names = _topics_of(request.left, left), _topics_of(request.right, right)
    pairs = pair_topics(request.left, request.right, names, request.topic_map)
    return CheckedRequest(request, pairs, left, right)


def _topics_of(side: Side, opened: OpenedLog | None) -> set[str] | None:
    """Return the topics of a log that are compared; None for a table."""
    if opened is None:
        return None
    found = {one.topic for one in opened.bounds}
    is_named = isinstance(side, LogSide) and "topics" in side.options
    return found if is_named else {name for name in found if _NOT_MIRRORED.fullmatch(name) is None}


def _with_defaults(request: CompareRequest) -> CompareRequest:
    if request.matching.by != "offsets":
        return request
    sides = [_with_offsets(side) for side in (request.left, request.right)]
    return replace(request, left=sides[0], right=sides[1])


def _with_offsets(side: Side) -> Side:
    if isinstance(side, LogSide) or side.columns.offsets:
        return side
    return replace(side, columns=replace(side.columns, offsets=_OFFSETS_DEFAULT))


def _check_columns(request: CompareRequest) -> None:
    matching = request.matching
    for side in (request.left, request.right):
        _check_ids(side, matching)
        if isinstance(side, TableSide):
            _check_table(side, matching)
    if matching.schemas.is_set and not any(map(_has_decoded, (request.left.columns, request.right.columns))):
        raise BadOption("event-id: a schema of keys or values needs an event id such as avro:id")
    if matching.is_one_to_many and matching.by == "position":
        raise BadOption("expect: one-to-many needs --event-id or offset columns, because positions are one to one")


def _check_ids(side: Side, matching: Matching) -> None:
    text = side.columns.event_id
    if matching.by != "event-id":
        if text is not None:
            raise BadOption(f"{side.name}-event-id: is for records that are matched by event id, not by {matching.by}")
        return
    if text is None:
        raise BadOption(f"{side.name}-event-id: is missing; --event-id sets it for both sides")
    if isinstance(side, LogSide) and any(part.source == COLUMN for part in parse_row_id(text)):
        raise BadOption(f"{side.name}-event-id: column:NAME is for a table, and {side.place} is a log")
    check_row_id(text, _schemas_of(side.columns, matching.schemas))


def _check_table(side: TableSide, matching: Matching) -> None:
    if matching.late_after_ms is not None and side.columns.time is None:
        raise BadOption(f"late-after: needs --{side.name}-time, the time of a row of {side.place}")
    if matching.by != "position":
        return
    needed = {"key": side.columns.key, "value": side.columns.value, "order": side.columns.order}
    missing = next((name for name, text in needed.items() if text is None), None)
    if missing is not None:
        raise BadOption(f"{side.name}-{missing}: is missing; rows are matched by the position of a value in its key")


def _schemas_of(columns: Columns, schemas: SchemaOptions) -> SchemaOptions:
    return schemas if _has_decoded(columns) else NO_SCHEMAS


def _has_decoded(columns: Columns) -> bool:
    return columns.event_id is not None and any(part.is_decoded for part in parse_row_id(columns.event_id))


AbortedIds = Callable[[], DataFrame | None]


@dataclass(frozen=True, slots=True)
class ReadSides:
    """The entries of both sides, with what is known of them. names: of all topics that are known, as on the left side.

    has_content: both sides have contents to compare. aborted_left, aborted_right: return topic and id of the records of
    aborted transactions; called if the other side has a record that this one lacks.
    """

    left: DataFrame
    right: DataFrame
    left_bounds: SideBounds
    right_bounds: SideBounds
    names: tuple[str, ...]
    is_right_log: bool
    has_content: bool
    aborted_left: AbortedIds = lambda: None
    aborted_right: AbortedIds = lambda: None


def compare(spark: SparkSession, checked: CheckedRequest) -> Compared:
    """Compare the sides. Raises BadOption."""
    request, pairs = checked.request, checked.pairs
    _set_tasks(spark, checked)
    right_log = open_side(request.right, pairs.right) if isinstance(request.right, LogSide) else None
    right = _read(spark, checked, request.right, right_log)
    left_log = open_side(request.left, pairs.left) if isinstance(request.left, LogSide) else None
    sides = ReadSides(
        left=_read(spark, checked, request.left, left_log),
        right=right,
        left_bounds=_bounds_of(request.left, left_log, TopicMap()),
        right_bounds=_bounds_of(request.right, right_log, pairs.topic_map),
        names=pairs.names,
        is_right_log=right_log is not None,
        has_content=_has_content(request),
        aborted_left=partial(_aborted_ids, spark, checked, request.left, left_log),
        aborted_right=partial(_aborted_ids, spark, checked, request.right, right_log),
    )
    findings, matched = find_differences(spark, sides, request.matching)
    return Compared(findings, matched, left_log)


def find_differences(spark: SparkSession, sides: ReadSides, matching: Matching) -> tuple[DataFrame, DataFrame]:
    """Return the findings, and one row for each id (match_entries), which is kept on the disk."""
    left, right = sides.left, sides.right
    if matching.by == "position":
        both = with_position_ids(left.unionByName(right)).persist(StorageLevel.DISK_ONLY)
        left, right = both.where("is_left"), both.where("not is_left")
    if sides.right_bounds.has_compaction:
        left = with_superseded(left)
    if sides.left_bounds.has_compaction:
        right = with_superseded(right)
    entries = left.unionByName(right)
    matched = match_entries(entries, is_one_to_many=matching.is_one_to_many).persist(StorageLevel.DISK_ONLY)
    absent = matched.agg(f.max(f.col("lefts") == 0).alias("left"), f.max(f.col("rights") == 0).alias("right")).first()
    assert absent is not None, "an aggregate returns one row"
    explained = with_aborted(
        matched,
        sides.aborted_left() if absent["left"] else None,
        sides.aborted_right() if absent["right"] else None,
    )
    covered = with_coverage(spark, explained, sides.names, sides.left_bounds, sides.right_bounds)
    found = all_findings(
        audit_matched(covered, matching, is_right_log=sides.is_right_log, has_content=sides.has_content),
        audit_copies(matched, right, matching, is_right_log=sides.is_right_log),
        without_id(entries),
    )
    return found, matched


def _set_tasks(spark: SparkSession, checked: CheckedRequest) -> None:
    """Use more tasks in shuffles for a large log than the session has; adaptive execution joins small ones."""
    size = max((log.size for log in (checked.left, checked.right) if log is not None), default=0)
    present = int(spark.conf.get(_SHUFFLE_TASKS_KEY) or 1)
    spark.conf.set(_SHUFFLE_TASKS_KEY, str(min(shuffle_tasks(size, present), TASKS_MAX)))


def _read(spark: SparkSession, checked: CheckedRequest, side: Side, opened: OpenedLog | None) -> DataFrame:
    """Return the entries of a side, which are read now and kept on the disk."""
    matching, pairs = checked.request.matching, checked.pairs
    rows = read_rows(spark, side, opened, _schemas_of(side.columns, matching.schemas))
    side = replace(side, columns=replace(side.columns, value=_value_of(side, matching)))
    has_content = side.columns.value is not None and (matching.is_one_to_many or _has_content(checked.request))
    entries = entries_of(rows.where(pairs.condition(side)), side, matching, pairs.column(side), has_content=has_content)
    kept = entries.persist(StorageLevel.DISK_ONLY)
    counted = kept.agg(f.count("*").alias("rows"), f.count("id").alias("ids")).first()
    assert counted is not None, "an aggregate returns one row"
    if matching.by != "position" and counted["rows"] and not counted["ids"]:
        what = f"has {side.columns.event_id}" if matching.by == "event-id" else "has an offset"
        raise BadOption(f"{side.name}: no record of {side.place} {what}")
    return kept


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
    if side.columns.event_id is not None:
        rows = with_decoded_fields(rows, side.columns.event_id, _schemas_of(side.columns, matching.schemas))
    return entries_of(rows, side, matching, checked.pairs.column(side), has_content=False).select("topic", "id")


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
