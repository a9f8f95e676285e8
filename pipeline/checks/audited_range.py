"""The part of a log that is audited: the offsets of each partition, fixed at the start of the audit.

- A batch is of the range that has its base offset, a record of the one that has its offset. So the audits of two
  adjoining ranges report each batch and each record once.
- A partition is cut at its start or end if the log has earlier or later offsets than the range. Nothing is known about
  those: in the audit of a part of the log, events acknowledged outside of it are neither lost nor reordered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..read.fetch_log import FetchLog
from ..read.file_log import FileLog
from ..read.options import LogOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Offsets = Mapping[PartitionName, int]
# By topic and partition, as in the option startingOffsets.
OffsetsByTopic = dict[str, dict[str, int]]

# range_start: null where the log has no earlier offsets.
RANGE_SCHEMA = "topic string, partition int, range_start bigint, range_end bigint"

_START_OPTIONS = frozenset({"startingoffsets", "startingtimestamp", "startingoffsetsbytimestampstrategy"})
_END_OPTIONS = frozenset({"endingoffsets", "endingtimestamp"})
RANGE_OPTIONS = _START_OPTIONS | _END_OPTIONS


@dataclass(frozen=True, slots=True)
class AuditedRange:
    """The audited offsets of each partition, from starts up to, not including, ends.

    cut_starts, cut_ends: the partitions that have earlier or later offsets. deleted: the number of wanted offsets in
    front of the start that the log has deleted. unknown_topics: with a given start, but without a log.
    """

    starts: Offsets
    ends: Offsets
    cut_starts: frozenset[PartitionName] = frozenset()
    cut_ends: frozenset[PartitionName] = frozenset()
    deleted: Offsets = field(default_factory=dict[PartitionName, int])
    unknown_topics: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether the range is a part of the log."""
        return bool(self.cut_starts or self.cut_ends)

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the range of a part of the log as a frame of RANGE_SCHEMA, one small row for each partition."""
        rows = [
            (*name, start if name in self.cut_starts else None, self.ends[name]) for name, start in self.starts.items()
        ]
        return spark.createDataFrame(rows, RANGE_SCHEMA)

    def reading_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return options of the data source that read these offsets in every pass over the log.

        A start or an end that the options do not set is left out, except the ends on a broker: its log can grow.
        """
        given = {name.lower() for name in options}
        has_start, has_end = bool(given & _START_OPTIONS), bool(given & _END_OPTIONS)
        kept = {name: text for name, text in options.items() if name.lower() not in RANGE_OPTIONS}
        if has_start:
            kept["startingOffsets"] = json.dumps(by_topic(self.starts))
        if has_start or has_end or "bootstrap" in given:
            kept["endingOffsets"] = json.dumps(by_topic(self.ends))
        return kept

    def notes(self) -> Iterator[str]:
        """Yield a line for each partition with deleted offsets, and for each topic of the offsets that is not there."""
        for topic in self.unknown_topics:
            yield f"{topic} has offsets to start from, and the log has no such topic"
        for (topic, partition), count in sorted(self.deleted.items()):
            start = self.starts[PartitionName(topic, partition)]
            yield f"{topic}-{partition}: {count} offsets in front of {start} were deleted before this audit"


def find_range(log: FetchLog | FileLog, options: LogOptions) -> AuditedRange:
    """Return the range that the options select. Raises BadOption for a start behind the end of its log, BrokerError."""
    # In this order, so that a log that grows ends behind the chosen starts.
    chosen, ends = log.chosen_range()
    firsts, lasts = log.whole_range()
    starts: dict[PartitionName, int] = {}
    deleted: dict[PartitionName, int] = {}
    for name, first in firsts.items():
        start = chosen.get(name, first)
        if start > lasts[name]:
            raise BadOption(
                f"since: {name.topic_name}-{name.partition} ends at offset {lasts[name]}, in front of {start}:"
                " its log was truncated, or its topic created again"
            )
        if name in options.starting.offsets and 0 <= start < first:
            deleted[name] = first - start
        starts[name] = max(start, first)
    ends = {name: max(min(ends.get(name, last), last), starts[name]) for name, last in lasts.items()}
    has_end = bool(options.ending.offsets) or options.ending.timestamp is not None
    return AuditedRange(
        starts,
        ends,
        frozenset(name for name, start in starts.items() if start > firsts[name]),
        frozenset(name for name, end in ends.items() if has_end and end < lasts[name]),
        deleted,
        tuple(sorted(_topics_of(options.starting.offsets, options) - _topics_of(lasts, options))),
    )


def _topics_of(offsets: Iterable[tuple[str, int]], options: LogOptions) -> set[str]:
    return {topic for topic, _ in offsets if options.is_wanted(topic)}


def by_topic(offsets: Offsets) -> OffsetsByTopic:
    """Return offsets as the JSON of the option startingOffsets has them."""
    found: OffsetsByTopic = {}
    for name, offset in sorted(offsets.items()):
        found.setdefault(name.topic_name, {})[str(name.partition)] = offset
    return found


def range_words(options: LogOptions) -> str | None:
    """Return the wanted range in words, such as `since 2026-01-31T12:00:00Z`; None for the whole log."""
    words = [
        f"{side} {'the given offsets' if choice.timestamp is None else time_words(choice.timestamp)}"
        for side, choice in (("since", options.starting), ("until", options.ending))
        if choice.timestamp is not None or choice.offsets
    ]
    return ", ".join(words) or None


def time_words(timestamp: int) -> str:
    """Return milliseconds since 1970 as an ISO 8601 time."""
    return datetime.fromtimestamp(timestamp / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
