"""What is compared, and the checks of it before Spark starts. Its logs are opened here for the first time."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from ..bad_option import BadOption
from ..checks.event_id_parts import COLUMN, parse_row_id
from ..checks.event_id_schemas import check_row_id
from .compared_range import ComparedRange, WantedRange, check_range, log_of_offsets, range_of
from .matching import Matching
from .side_rows import OpenedLog, open_side
from .sides import LogSide, Side, TableSide
from .topic_map import TopicMap
from .topics import TopicPairs, pair_topics

# The topics of a cluster that a MirrorMaker leaves out by default, its own among them.
# Source: DefaultTopicFilter.TOPICS_EXCLUDE_DEFAULT, Kafka 4.3.0.
_NOT_MIRRORED = re.compile(r"mm2.*\.internal|.*\.replica|__.*")
_OFFSETS_DEFAULT = ("topic", "partition", "offset")


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """The two sides, and how they are compared."""

    left: Side
    right: Side
    matching: Matching
    topic_map: TopicMap = field(default_factory=TopicMap)
    wanted: WantedRange = field(default_factory=WantedRange)

    @property
    def words(self) -> str:
        """How records are matched and which of them, in words."""
        by = "by offsets" if self.matching.by == "offsets" else "by the position in each key"
        if self.matching.by == "event-id":
            left, right = self.left.columns.event_id, self.right.columns.event_id
            by = f"by {left}" if left == right else f"by {left} and {right}"
        return by + self.wanted.words

    def open(self, side: LogSide, topics: Collection[str] | None = None, *, is_whole: bool = False) -> OpenedLog:
        """Return a log with its present end. topics: default: all. is_whole: also what is in front of the range."""
        by_offsets = log_of_offsets(self.left, self.right, self.matching)
        has_range = not is_whole and (by_offsets is None or by_offsets is side)
        return open_side(side, topics, self.wanted.options if has_range else {})


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A valid request. left, right: the logs when they were checked; None for a table."""

    request: CompareRequest
    pairs: TopicPairs
    left: OpenedLog | None
    right: OpenedLog | None
    range: ComparedRange


def check_request(request: CompareRequest) -> CheckedRequest:
    """Check the request and open its logs. Does not use Spark. Raises BadOption."""
    request = _with_defaults(request)
    _check_columns(request)
    check_range(request.wanted, request.left, request.right, request.matching)
    sides = request.left, request.right
    left, right = (request.open(side) if isinstance(side, LogSide) else None for side in sides)
    names = _topics_of(request.left, left), _topics_of(request.right, right)
    pairs = pair_topics(request.left, request.right, names, request.topic_map)
    return CheckedRequest(request, pairs, left, right, _range_of(request, pairs, left, right))


def _range_of(
    request: CompareRequest, pairs: TopicPairs, left: OpenedLog | None, right: OpenedLog | None
) -> ComparedRange:
    side = log_of_offsets(request.left, request.right, request.matching)
    opened = None if side is None else left if side is request.left else right
    topic_map = pairs.topic_map if side is request.right else TopicMap()
    return range_of(request.wanted, None if opened is None else opened.audited, topic_map)


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
    try:
        check_row_id(text, side.columns.schemas)
    except BadOption as error:
        raise BadOption(f"{side.name}-{error}") from None


def _check_table(side: TableSide, matching: Matching) -> None:
    if matching.late_after_ms is not None and side.columns.time is None:
        raise BadOption(f"late-after: needs --{side.name}-time, the time of a row of {side.place}")
    if matching.by != "position":
        return
    needed = {"key": side.columns.key, "value": side.columns.value, "order": side.columns.order}
    missing = next((name for name, text in needed.items() if text is None), None)
    if missing is not None:
        raise BadOption(f"{side.name}-{missing}: is missing; rows are matched by the position of a value in its key")
