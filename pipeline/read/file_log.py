"""Segment files as a log: start and end places, and splits between them, for batch and streaming queries.

A place is a segment and a position in it, so that a stream returns each batch and each damaged range once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from ...storage.log_files import INDEX_SUFFIX, PartitionName
from ..bad_option import BadOption
from ..decode.row_source import OFFSET_MAX, RowSource
from .committed import FirstBatch, OpenTransactions, aborted_from
from .file_splits import FileSplit, split_segment
from .log_starts import log_starts_of_files
from .options import EARLIEST, LATEST, LogOptions, OffsetChoice, check_record_found
from .segment_files import PartitionSegments, Segment
from .segment_search import find_offset_at, position_at, position_behind
from .segment_walk import PlacedBatch, has_right_crc, indexed_position, read_index, walk_headers
from .stored_listing import segments_of
from .stores import Store

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in bytes in the segment with that base offset."""

    base_offset: int
    position: int


Places = dict[PartitionName, Place]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The end of the whole batches of a partition, and its last segment when they were read."""

    end: Place
    segment: Segment


@dataclass(frozen=True, slots=True)
class _Range:
    """The wanted bytes of a segment, to be cut into splits."""

    segment: Segment
    source: RowSource
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Offsets:
    """The wanted offsets of a partition, from start up to, not including, end."""

    name: PartitionName
    start: int
    end: int


class FileLog:
    """The segment files that the options select."""

    def __init__(self, options: LogOptions) -> None:
        """options: with path. Reads no file."""
        self._options = options
        # The end of the whole batches of each partition at the last call of ends(), where the next call begins.
        self._seen: dict[PartitionName, _Seen] = {}
        self._open: dict[PartitionName, OpenTransactions] = {}

    def splits(self) -> list[FileSplit]:
        """Return the splits of a batch query: all selected bytes, including a batch cut off at the end of a file."""
        found = self.segments()
        ends = self._for_each(self._end_of_files, found)
        wanted = self._for_each(self._offsets, found)
        return self._cut(
            [part for name in found for part in self._ranges_of(wanted[name], found[name], None, ends[name])]
        )

    def beginnings(self) -> Places:
        """Return the start of a stream."""
        return self._for_each(self._beginning, self.segments())

    def ends(self) -> Places:
        """Return the end of each partition's last whole batch, or with read_committed its earliest open transaction."""
        return self._for_each(self._end, self.segments())

    def whole_range(self) -> tuple[dict[PartitionName, int], dict[PartitionName, int]]:
        """Return the base offsets of the first segments, and the ends of the whole batches."""
        found = self.segments()
        starts = {name: segments[0].base_offset for name, segments in found.items()}
        return starts, self._for_each(lambda _, segments: self._end_offset(segments), found)

    def chosen_range(self) -> tuple[dict[PartitionName, int], dict[PartitionName, int]]:
        """Return the starts and the ends of a batch query, OFFSET_MAX for the end of the files."""
        wanted = self._for_each(self._offsets, self.segments()).values()
        return {one.name: one.start for one in wanted}, {one.name: one.end for one in wanted}

    def open_transaction_offsets(self) -> dict[PartitionName, int]:
        """Return the first offset of each partition's earliest open transaction; none with read_uncommitted."""
        first = self._for_each(self._first_open, self.segments())
        return {name: batch.offset for name, batch in first.items() if batch is not None}

    def splits_between(self, starts: Places, ends: Places) -> list[FileSplit]:
        """Return the splits from starts to ends. A partition without a start is read from its beginning."""
        found = self.segments()
        ranges: list[_Range] = []
        for name, segments in found.items():
            if name not in ends:
                continue
            start = starts.get(name)
            if start is not None:
                self._check_loss(name, segments, start)
            # The place of the start is that of EARLIEST and LATEST, but only the segment of an offset.
            wanted = Offsets(name, max(self._options.starting.of(*name), 0), OFFSET_MAX)
            ranges += self._ranges_of(wanted, segments, start, ends[name])
        return self._cut(ranges)

    def _for_each(
        self, find: Callable[[PartitionName, list[Segment]], Result], found: PartitionSegments
    ) -> dict[PartitionName, Result]:
        """Return what find returns for each partition, of the segments that are still there."""
        stores = [segment.store for segments in found.values() for segment in segments]
        return dict(zip(found, _map(lambda name: _of_present(find, name, found[name]), found, stores), strict=True))

    def _cut(self, ranges: list[_Range]) -> list[FileSplit]:
        if self._options.is_committed and any(part.segment.is_tiered for part in ranges):
            raise BadOption("isolationLevel: must be read_uncommitted for a remote tier, not read_committed")
        stores = [part.segment.store for part in ranges]
        return [split for splits in _map(self._splits_of, ranges, stores) for split in splits]

    def segments(self) -> PartitionSegments:
        """Return the present segments of the selected topics. Raises BadOption."""
        options = self._options
        assert options.path is not None, "open_log creates a FileLog for a path"
        found = segments_of(options)
        missing = sorted((options.topics or frozenset()) - {name.topic_name for name in found})
        if missing:
            raise BadOption(f"topics: {options.path} has no topic {missing[0]}")
        return found

    def _ranges_of(self, wanted: Offsets, segments: list[Segment], start: Place | None, end: Place) -> list[_Range]:
        next_offsets = [segment.base_offset for segment in segments[1:]] + [OFFSET_MAX]
        # Segments of a tier and of a log directory can overlap.
        is_cut = any(segment.is_tiered for segment in segments)
        ranges: list[_Range] = []
        for segment, next_offset in zip(segments, next_offsets, strict=True):
            is_wanted = next_offset > wanted.start and segment.base_offset < wanted.end
            if not is_wanted or segment.base_offset > end.base_offset:
                continue
            if start is not None and segment.base_offset < start.base_offset:
                continue
            first = start.position if start is not None and segment.base_offset == start.base_offset else 0
            last = end.position if segment.base_offset == end.base_offset else segment.size
            # Of a file that was deleted since it was listed, any range will do.
            with suppress(FileNotFoundError):
                if segment.base_offset < wanted.start:
                    first = max(first, position_at(segment, wanted.start))
                if next_offset > wanted.end:
                    last = min(last, position_behind(segment, wanted.end))
            end_offset = min(wanted.end, next_offset) if is_cut else wanted.end
            source = RowSource(
                *wanted.name, segment.path, 0, segment.base_offset, start_offset=wanted.start, end_offset=end_offset
            )
            ranges.append(_Range(segment, source, first, last))
        return ranges

    def _splits_of(self, part: _Range) -> list[FileSplit]:
        segment = part.segment
        aborted = aborted_from(segment) if self._options.is_committed else None
        try:
            ranges = split_segment(segment, part.start, part.end, self._options.split_bytes)
        except FileNotFoundError:
            # Its task finds no file.
            ranges = [(part.start, part.end)]
        return [
            FileSplit(
                replace(part.source, position=start),
                segment.path,
                start,
                end,
                segment.store,
                aborted,
                has_index=segment.may_have(INDEX_SUFFIX),
            )
            for start, end in ranges
        ]

    def _check_loss(self, name: PartitionName, segments: list[Segment], start: Place) -> None:
        is_there = any(segment.base_offset == start.base_offset for segment in segments)
        if self._options.is_loss_failure and not is_there:
            raise BadOption(
                f"{name.topic_name}-{name.partition}: the segment {start.base_offset:020d}.log was deleted before it "
                "was read to its end; failOnDataLoss=false continues without it"
            )

    def _offsets(self, name: PartitionName, segments: list[Segment]) -> Offsets:
        start = self._chosen(name, segments, self._options.starting)
        end = self._chosen(name, segments, self._options.ending)
        if start == LATEST:
            start = self._end_offset(segments)
        return Offsets(name, max(start, 0), OFFSET_MAX if end == LATEST else end)

    def _chosen(self, name: PartitionName, segments: list[Segment], choice: OffsetChoice) -> int:
        """Return the offset of a choice, EARLIEST or LATEST. Raises BadOption."""
        if choice.timestamp is None:
            return choice.of(*name)
        log_start = log_starts_of_files({name: segments})[name]
        offset = find_offset_at(segments, choice.timestamp, log_start)
        first_open = self._first_open(name, segments)
        if offset is None or (first_open is not None and offset >= first_open.offset):
            offset = LATEST
        check_record_found(choice, {name: offset})
        return offset

    def _beginning(self, name: PartitionName, segments: list[Segment]) -> Place:
        start = self._chosen(name, segments, self._options.starting)
        if start == LATEST:
            return self._end(name, segments)
        if start == EARLIEST:
            return Place(segments[0].base_offset, 0)
        earlier = [segment.base_offset for segment in segments if segment.base_offset <= start]
        return Place(max(earlier, default=segments[0].base_offset), 0)

    def _first_open(self, name: PartitionName, segments: list[Segment]) -> FirstBatch | None:
        """Return the first batch of the earliest open transaction; None with read_uncommitted."""
        if not self._options.is_committed:
            return None
        return self._open.setdefault(name, OpenTransactions()).update(segments)

    def _end_of_files(self, name: PartitionName, segments: list[Segment]) -> Place:
        """Return the end of a batch query: the end of the last file, or the earliest open transaction."""
        first_open = self._first_open(name, segments)
        if first_open is not None:
            return Place(first_open.segment, first_open.position)
        return Place(segments[-1].base_offset, segments[-1].size)

    def _end(self, name: PartitionName, segments: list[Segment]) -> Place:
        first_open = self._first_open(name, segments)
        if first_open is not None:
            return Place(first_open.segment, first_open.position)
        segment = segments[-1]
        seen = self._seen.get(name)
        if seen is not None and seen.segment == segment and segment.neighbours is not None:
            # An object is only ever replaced, and this one has not been. A preallocated file keeps its size.
            return seen.end
        start = seen.end.position if seen is not None and seen.end.base_offset == segment.base_offset else 0
        last = _last_batch(segment, start)
        end = Place(segment.base_offset, start if last is None else last.position + last.header.size)
        self._seen[name] = _Seen(end, segment)
        return end

    def _end_offset(self, segments: list[Segment]) -> int:
        """Return the offset behind the last whole batch, without one whose header can be damaged."""
        segment = segments[-1]
        end = segment.base_offset
        with segment.store.open(segment.path) as file:
            start = indexed_position(file, segment, read_index(segment), segment.size) or 0
            for batch in walk_headers(file, segment, start):
                header = batch.header
                is_next = header.base_offset == end and header.records_count == header.last_offset_delta + 1
                if is_next or has_right_crc(file, batch):
                    end = header.last_offset + 1
        return end


def _last_batch(segment: Segment, start: int) -> PlacedBatch | None:
    """Return the last whole batch at or behind the position start; None if there is none.

    Walks from the last entry of the offset index if start is 0.
    """
    last: PlacedBatch | None = None
    with segment.store.open(segment.path) as file:
        if not start:
            start = indexed_position(file, segment, read_index(segment), segment.size) or 0
        for batch in walk_headers(file, segment, start):
            last = batch
    return last


def _of_present(
    find: Callable[[PartitionName, list[Segment]], Result], name: PartitionName, segments: list[Segment]
) -> Result:
    """Return what find returns without the segments that were deleted since they were listed. Raises OSError."""
    while True:
        try:
            return find(name, segments)
        except FileNotFoundError as error:
            present = [segment for segment in segments if segment.path != error.filename]
            if not present or len(present) == len(segments):
                raise
            segments = present


def _map(call: Callable[[Item], Result], items: Iterable[Item], stores: Iterable[Store]) -> list[Result]:
    """Return the results of the calls in order, made by as many threads as the stores have use for."""
    threads = max((store.threads for store in stores), default=1)
    if threads == 1:
        return [call(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(call, items))
