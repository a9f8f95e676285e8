"""The segments of a log: roll, read, look up by timestamp, remove (Kafka: LocalLog, LogSegments).

There is at least one segment, in the order of base offsets. Only the last one, the active segment, is appended to.
Rolling finishes the active segment before the new one gets a file, so after an error the old one is still active.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from ...protocol.batches import records
from ...protocol.batches.record_batch import NO_PRODUCER_ID
from ..file_systems.file_system import FileSystem
from ..log_config import LogConfig
from ..log_files import SEGMENT_SUFFIXES, segment_path
from .batch_scan import ScannedBatch
from .header_checks import DamagedSegmentError
from .log_segment import LogSegment
from .transaction_index import AbortedTransaction
from .whole_batches import NO_OFFSET


@dataclass(slots=True)
class FetchedRecords:
    """Views of the batches of a log, of which the last may be cut; size: the bytes of all views.

    last_offset: of the last whole batch; NO_OFFSET without one.
    """

    views: list[memoryview]
    size: int
    last_offset: int = NO_OFFSET


@dataclass(frozen=True, slots=True)
class TimestampOffset:
    """The timestamp and offset of a record, and the leader epoch of its batch."""

    timestamp: int
    offset: int
    leader_epoch: int


class LogSegments:
    """The segments of one log."""

    __slots__ = ("_base_offsets", "_file_system", "_folder", "_segments", "active")

    def __init__(self, file_system: FileSystem, folder: str, segments: Sequence[LogSegment]) -> None:
        """segments: at least one, in the order of their offsets."""
        self._file_system = file_system
        self._folder = folder
        self.active = segments[-1]
        self._segments = list(segments)
        self._base_offsets = [segment.base_offset for segment in segments]

    def __iter__(self) -> Iterator[LogSegment]:
        """Yield the segments, oldest first."""
        return iter(self._segments)

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self._segments)

    @property
    def first_base_offset(self) -> int:
        """The base offset of the oldest segment."""
        return self._base_offsets[0]

    @property
    def size_bytes(self) -> int:
        """The bytes of all batches."""
        return sum(segment.size for segment in self._segments)

    def roll(self, base_offset: int, config: LogConfig, now_ms: int) -> None:
        """Start a new active segment at base_offset, the log end. After OSError the old segment is still active.

        Files and links with the names of its files are deleted before. An empty active segment stays.
        Source: LocalLog.roll, Kafka 4.3.0, which creates an empty segment again.
        """
        if base_offset == self.active.base_offset:
            assert not self.active.size, f"a segment at {base_offset} has batches"
            return
        # Loading would take a torn tail for damage and drop all later segments.
        self.active.truncate_tail()
        self.active.finish()
        for path in [segment_path(self._folder, base_offset, suffix) for suffix in SEGMENT_SUFFIXES]:
            if self._file_system.exists(path):
                self._file_system.delete(path)
        self.active = LogSegment(self._file_system, self._folder, base_offset, config, now_ms)
        self.active.create_index_files(is_rolled=True)
        self._segments.append(self.active)
        self._base_offsets.append(base_offset)

    def read(self, offset: int, max_bytes: int, *, upper_offset: int, min_one_batch: bool) -> FetchedRecords:
        """Return the batches of one segment from the one that contains offset, up to max_bytes and upper_offset.

        min_one_batch: whether a first batch larger than max_bytes is returned whole instead of nothing.
        The batches end before a damaged one. Raises DamagedSegmentError if the batch with offset is damaged.
        Source: LocalLog.read and LogSegment.read, Kafka 4.3.0, and ReplicaManager.readFromLog, which drops a first
        batch that is cut.
        """
        index = bisect_right(self._base_offsets, offset) - 1
        while 0 <= index < len(self._segments):
            segment = self._segments[index]
            first = segment.find_position(offset)
            if first is not None:
                end = self._end_position(index, upper_offset)
                room = max(max_bytes, first.size) if min_one_batch else max_bytes
                size = min(end - first.position, room)
                if room < first.size or size <= 0:
                    break
                size = segment.undamaged_size(first.position, size)
                views = segment.views(first.position, size)
                return FetchedRecords(views, size, segment.last_offset_of(views, first.position, size))
            index += 1
        return FetchedRecords([], 0)

    def aborted_transactions(self, offset: int, upper_offset: int) -> list[AbortedTransaction]:
        """Return the aborted transactions of the segment that read(offset) reads, from offset on.

        Source: LocalLog.addAbortedTransactions, Kafka 4.3.0, which bounds them by the offset index.
        """
        index = max(bisect_right(self._base_offsets, offset) - 1, 0)
        while index + 1 < len(self._segments) and self._segments[index].last_offset < offset:
            # Compaction removed everything from offset on, so read continues in the next segment.
            index += 1
        if index + 1 < len(self._segments):
            upper_offset = min(upper_offset, self._base_offsets[index + 1])
        found: list[AbortedTransaction] = []
        # The marker of a transaction may be in any later segment.
        for segment in islice(self._segments, index, None):
            if segment.transaction_index.count:
                collected = segment.transaction_index.collect(offset, upper_offset)
                found += collected.transactions
                if collected.is_complete:
                    break
        return found

    def _end_position(self, index: int, upper_offset: int) -> int:
        """Return the position in a segment where the batches before upper_offset end."""
        segment = self._segments[index]
        is_next_visible = index + 1 < len(self._segments) and self._base_offsets[index + 1] <= upper_offset
        if is_next_visible or upper_offset > segment.last_offset:
            return segment.size
        try:
            bound = segment.find_position(upper_offset)
        except DamagedSegmentError as damage:
            return damage.position
        return segment.size if bound is None else bound.position

    def find_by_timestamp(
        self, timestamp: int, start_offset: int, *, is_on_brokers_clock: bool = False
    ) -> TimestampOffset | None:
        """Return the first record from start_offset on whose timestamp is timestamp or later.

        is_on_brokers_clock: whether timestamp is on the broker's clock. If that was moved between two batches of one
        segment, the earlier ones count as if they were written after that too.
        Source: UnifiedLog.searchOffsetInLocalLog, Kafka 4.3.0.
        """
        for segment in self._segments:
            wanted = timestamp - segment.ahead_ms if is_on_brokers_clock else timestamp
            if segment.max_timestamp < wanted:
                continue
            for batch in segment.batches_by_timestamp(wanted, start_offset):
                found = _first_record(batch, partial(_is_at_or_after, wanted, start_offset))
                if found is not None:
                    return found
            return None
        return None

    def find_max_timestamp(self) -> TimestampOffset | None:
        """Return the first record that has the greatest timestamp; None if no record has a timestamp.

        Source: UnifiedLog.fetchOffsetByTimestamp for MAX_TIMESTAMP, Kafka 4.3.0.
        """
        segment = max(self._segments, key=lambda candidate: candidate.max_timestamp)
        timestamp = segment.max_timestamp
        batch = segment.find_batch_of_max_timestamp()
        if batch is None or timestamp < 0:
            return None
        return _first_record(batch, lambda record: record.timestamp == timestamp)

    def oldest(self, count: int) -> list[LogSegment]:
        """Return the count oldest segments."""
        assert count <= len(self._segments), f"{count} of {len(self._segments)} segments"
        return self._segments[:count]

    def remove_oldest(self) -> None:
        """Remove the oldest segment from the list; it must not be the active one."""
        assert self._segments[0] is not self.active, "the active segment cannot be removed"
        del self._segments[0], self._base_offsets[0]

    def replace(self, old: Sequence[LogSegment], new: Sequence[LogSegment]) -> None:
        """Replace consecutive segments before the active one."""
        first = self._segments.index(old[0])
        assert self._segments[first : first + len(old)] == list(old), "the replaced segments are not consecutive"
        self._segments[first : first + len(old)] = new
        self._base_offsets = [segment.base_offset for segment in self._segments]

    def from_offset(self, offset: int) -> list[LogSegment]:
        """Return the segment that contains offset and all later ones."""
        return self._segments[max(0, bisect_right(self._base_offsets, offset) - 1) :]

    def highest_producer_id(self) -> int:
        """Return the greatest producer id in any batch header, -1 without batches; reads the whole log."""
        batches = (batch for segment in self._segments for batch in segment.scan(0, is_crc_checked=False))
        return max((batch.header.producer_id for batch in batches), default=NO_PRODUCER_ID)

    def close(self) -> None:
        """Close the files of all segments."""
        for segment in self._segments:
            segment.close()


def _is_at_or_after(timestamp: int, offset: int, record: records.RecordFields) -> bool:
    return record.timestamp >= timestamp and record.offset >= offset


def _first_record(batch: ScannedBatch, is_wanted: Callable[[records.RecordFields], bool]) -> TimestampOffset | None:
    header = batch.header
    data, position = records.records_data(header, batch.batch)
    for record in records.iterate_fields(header, data, position):
        if is_wanted(record):
            return TimestampOffset(record.timestamp, record.offset, header.partition_leader_epoch)
    return None
