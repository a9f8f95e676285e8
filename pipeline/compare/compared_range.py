"""The part of both sides that is compared: the options --since and --until.

- Records that are matched by offsets have a range of offsets, if one of the sides is a log: that of its times, or the
  given offsets. All others have a range of times. A record is in it by its own time, an absent one by that of the other
  side. Without a time it is.
- Both sides are read from the start of the range to their present ends. A finding in the range is one; what is behind
  it says only how far the right side has come.
- A record right behind the start can have its counterpart in front of it, which is then looked up in what was not read.
  Positions in a key cannot be looked up: they need times that both sides have, as those of a mirror.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ..bad_option import BadOption
from ..checks.audited_range import AuditedRange, time_words
from ..checks.range_options import range_options
from ..option_time import find_milliseconds
from .matching import Matching
from .sides import LogSide, Side
from .topic_map import TopicMap

_OFFSETS_SCHEMA = "topic string, partition int, range_start bigint, range_end bigint"
_START, _END = "range_start", "range_end"


@dataclass(frozen=True, slots=True)
class WantedRange:
    """The range as a user sets it. options: of the data source. since_ms, until_ms: None for the given offsets."""

    options: dict[str, str] = field(default_factory=dict[str, str])
    since_ms: int | None = None
    until_ms: int | None = None

    @property
    def words(self) -> str:
        """The range in words, with a comma in front; empty for everything."""
        sides = (("since", "starting", self.since_ms), ("until", "ending", self.until_ms))
        given = [(name, ms) for name, prefix, ms in sides if any(one.startswith(prefix) for one in self.options)]
        return "".join(f", {name} {'the given offsets' if ms is None else time_words(ms)}" for name, ms in given)


def parse_range(since: str | None, until: str | None, now_ms: int) -> WantedRange:
    """Return the range. now_ms: the time from which a duration counts. Raises BadOption."""
    times = [None if text is None else find_milliseconds(text, now_ms) for text in (since, until)]
    return WantedRange(range_options(since, until, now_ms), *times)


def log_of_offsets(left: Side, right: Side, matching: Matching) -> LogSide | None:
    """Return the side whose offsets the range has; None for a range of times."""
    if matching.by != "offsets":
        return None
    return next((side for side in (left, right) if isinstance(side, LogSide)), None)


def check_range(wanted: WantedRange, left: Side, right: Side, matching: Matching) -> None:
    """Raise BadOption if a side has no times, or matching no offsets, for the range."""
    if not wanted.options or log_of_offsets(left, right, matching) is not None:
        return
    for name, prefix, ms in (("since", "starting", wanted.since_ms), ("until", "ending", wanted.until_ms)):
        if ms is None and any(one.startswith(prefix) for one in wanted.options):
            raise BadOption(f"{name}: must be a time; offsets are for records of a log that are matched by offsets")
    name = "since" if wanted.since_ms is not None else "until"
    for side in (left, right):
        if not isinstance(side, LogSide) and side.columns.time is None:
            raise BadOption(f"{name}: needs --{side.name}-time, the time of a row of {side.place}")


@dataclass(frozen=True, slots=True)
class ComparedRange:
    """The range, by times or by offsets.

    offsets: topic on the left side, partition, first offset, and the offset behind the last one; of each partition that
    has others.
    """

    since_ms: int | None = None
    until_ms: int | None = None
    offsets: tuple[tuple[str, int, int | None, int | None], ...] = ()

    @property
    def is_set(self) -> bool:
        """Whether a start or an end is set."""
        return self != ComparedRange()

    def from_start(self, spark: SparkSession, entries: DataFrame) -> DataFrame:
        """Return the entries from the start of the range on."""
        rows, is_kept = self._with_offsets(spark, entries, f.col("partition")), self._is_from_start()
        return rows.where(is_kept).drop(_START, _END)

    def before_start(self, entries: DataFrame) -> DataFrame:
        """Return the entries in front of a range of times."""
        return entries.where(~self._is_from_start())

    def before_end(self, spark: SparkSession, rows: DataFrame, *sides: str) -> DataFrame:
        """Return the rows in front of the end of the range.

        sides: the names of structs with a place, of which the first that is there counts. None: of the columns.
        """
        place = {name: _first(name, sides) for name in ("partition", "offset", "timestamp")}
        is_kept = f.lit(True)
        if self.until_ms is not None:
            is_kept = f.coalesce(place["timestamp"] < f.timestamp_millis(f.lit(self.until_ms)), f.lit(True))
        if self.offsets:
            is_kept &= f.coalesce(place["offset"] < f.col(_END), f.lit(True))
        return self._with_offsets(spark, rows, place["partition"]).where(is_kept).drop(_START, _END)

    def _is_from_start(self) -> Column:
        is_kept = f.lit(True)
        if self.since_ms is not None:
            is_kept = f.coalesce(f.col("timestamp") >= f.timestamp_millis(f.lit(self.since_ms)), f.lit(True))
        if self.offsets:
            is_kept &= f.coalesce(f.col("offset") >= f.col(_START), f.lit(True))
        return is_kept

    def _with_offsets(self, spark: SparkSession, rows: DataFrame, partition: Column) -> DataFrame:
        if not self.offsets:
            return rows
        # One small row for each partition.
        bounds = f.broadcast(spark.createDataFrame(list(self.offsets), _OFFSETS_SCHEMA))
        named = bounds.withColumnsRenamed({"topic": "range_topic", "partition": "range_partition"})
        is_same = (f.col("range_topic") == rows["topic"]) & (f.col("range_partition") == partition)
        return rows.join(named, is_same, "left").drop("range_topic", "range_partition")


def _first(name: str, sides: tuple[str, ...]) -> Column:
    return f.coalesce(*(f.col(f"{side}.{name}") for side in sides)) if sides else f.col(name)


def range_of(wanted: WantedRange, offsets: AuditedRange | None, topic_map: TopicMap) -> ComparedRange:
    """Return the range. offsets: of the log whose offsets it has; None for a range of times."""
    if offsets is None:
        return ComparedRange(wanted.since_ms, wanted.until_ms)
    cut = sorted(offsets.cut_starts | offsets.cut_ends)
    return ComparedRange(
        offsets=tuple(
            (
                topic_map.left_of(name.topic_name),
                name.partition,
                offsets.starts[name] if name in offsets.cut_starts else None,
                offsets.ends[name] if name in offsets.cut_ends else None,
            )
            for name in cut
        )
    )
