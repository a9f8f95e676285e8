"""The segments of a log in a row: roll, read, look up by time, let go of the oldest (Kafka: LocalLog, LogSegments)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ...protocol.batches import records
from ...protocol.batches.record_batch import NO_PRODUCER_ID
from ..file_systems.file_system import FileSystem
from ..log_config import LogConfig
from .log_segment import LogSegment, StoredBatch
from .transaction_index import AbortedTransaction


@dataclass(slots=True)
class FetchedRecords:
    """Bytes of a log, uncopied: whole batches, of which the last may be cut; size is that of all views."""

    views: list[memoryview]
    size: int


@dataclass(frozen=True, slots=True)
class TimestampOffset:
    """A record by its timestamp and offset, and the leader epoch of its batch."""

    timestamp: int
    offset: int
    leader_epoch: int


class LogSegments:
    """One segment or more; the last one is active, which means that batches are appended to it."""

    __slots__ = ("_base_offsets", "_file_system", "_folder", "_segments", "active")

    def __init__(self, file_system: FileSystem, folder: str, segments: Sequence[LogSegment]) -> None:
        """Take the segments of a folder, at least one, in the order of their offsets."""
        self._file_system = file_system
        self._folder = folder
        self.active = segments[-1]
        self._segments = list(segments)
        self._base_offsets = [segment.base_offset for segment in segments]

    def __iter__(self) -> Iterator[LogSegment]:
        """Yield the segments, oldest first."""
        return iter(self._segments)

    def __len__(self) -> int:
        """Return how many segments there are."""
        return len(self._segments)

    @property
    def first_base_offset(self) -> int:
        """Where the oldest segment begins."""
        return self._base_offsets[0]

    @property
    def size_bytes(self) -> int:
        """The bytes of all segments' batches."""
        return sum(segment.size for segment in self._segments)

    def roll(self, base_offset: int, config: LogConfig, now_ms: int) -> None:
        """Begin a new active segment at base_offset, the log's end.

        Raises OSError; the active segment is then the one it was, and takes batches. There must be no file of another
        one yet: it would be in the way of those batches.
        """
        # The next start would take the tail for damage, and drop all segments behind it.
        self.active.cut_tail()
        self.active.finish()
        following = LogSegment(self._file_system, self._folder, base_offset, config, now_ms)
        self.active = following
        self._segments.append(following)
        self._base_offsets.append(base_offset)

    def read(self, offset: int, max_bytes: int, *, upper_offset: int, min_one_batch: bool) -> FetchedRecords:
        """Return the batches of one segment from the one that holds offset, up to max_bytes and upper_offset.

        min_one_batch: the first batch is returned whole even if it is larger than max_bytes; else it is left out then.
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
                return FetchedRecords(segment.views(first.position, size), size)
            index += 1
        return FetchedRecords([], 0)

    def aborted_transactions(self, offset: int, upper_offset: int) -> list[AbortedTransaction]:
        """Return the aborted transactions of what read returns from offset on; perhaps of more of that segment.

        Source: LocalLog.addAbortedTransactions, Kafka 4.3.0, which bounds them by the offset index.
        """
        index = max(bisect_right(self._base_offsets, offset) - 1, 0)
        while index + 1 < len(self._segments) and self._segments[index].last_offset < offset:
            # Compaction left nothing from offset on: read goes on to the next segment.
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
        """Return up to which position a segment may be read by those who see the log up to upper_offset."""
        segment = self._segments[index]
        is_next_seen = index + 1 < len(self._segments) and self._base_offsets[index + 1] <= upper_offset
        if is_next_seen or upper_offset > segment.last_offset:
            return segment.size
        bound = segment.find_position(upper_offset)
        return segment.size if bound is None else bound.position

    def find_by_timestamp(self, timestamp: int, start_offset: int) -> TimestampOffset | None:
        """Return the first record from start_offset on whose timestamp is timestamp or later.

        Source: UnifiedLog.searchOffsetInLocalLog, Kafka 4.3.0.
        """
        for segment in self._segments:
            if segment.max_timestamp < timestamp:
                continue
            for batch in segment.batches_by_timestamp(timestamp, start_offset):
                found = _first_record(
                    segment, batch, lambda record: record.timestamp >= timestamp and record.offset >= start_offset
                )
                if found is not None:
                    return found
            return None
        return None

    def find_max_timestamp(self) -> TimestampOffset | None:
        """Return the first record that has the greatest timestamp; None if no record has one.

        Source: UnifiedLog.fetchOffsetByTimestamp for MAX_TIMESTAMP, Kafka 4.3.0.
        """
        segment = max(self._segments, key=lambda candidate: candidate.max_timestamp)
        timestamp = segment.max_timestamp
        batch = segment.find_batch_of_max_timestamp()
        if batch is None or timestamp < 0:
            return None
        return _first_record(segment, batch, lambda record: record.timestamp == timestamp)

    def oldest(self, count: int) -> list[LogSegment]:
        """Return the oldest segments, so many."""
        assert count <= len(self._segments), f"{count} of {len(self._segments)} segments"
        return self._segments[:count]

    def remove_oldest(self) -> None:
        """Take the oldest segment out of the row; the active one must stay."""
        assert self._segments[0] is not self.active, "the active segment cannot be removed"
        del self._segments[0], self._base_offsets[0]

    def replace(self, old: Sequence[LogSegment], new: Sequence[LogSegment]) -> None:
        """Put new segments in the place of old ones, which lie in a row and before the active one."""
        first = self._segments.index(old[0])
        assert self._segments[first : first + len(old)] == list(old), "segments that are not in a row"
        self._segments[first : first + len(old)] = new
        self._base_offsets = [segment.base_offset for segment in self._segments]

    def from_offset(self, offset: int) -> list[LogSegment]:
        """Return the segments that hold offset or more."""
        return self._segments[max(0, bisect_right(self._base_offsets, offset) - 1) :]

    def highest_producer_id(self) -> int:
        """Return the greatest producer id in any batch header; -1 if there is none. Reads everything."""
        batches = (batch for segment in self._segments for batch in segment.batches())
        return max((batch.header.producer_id for batch in batches), default=NO_PRODUCER_ID)

    def close(self) -> None:
        """Give back what the open files cost."""
        for segment in self._segments:
            segment.close()


def _first_record(
    segment: LogSegment, batch: StoredBatch, is_wanted: Callable[[records.RecordFields], bool]
) -> TimestampOffset | None:
    header = batch.header
    data, position = records.records_data(header, segment.read_batch(batch))
    for record in records.iterate_fields(header, data, position):
        if is_wanted(record):
            return TimestampOffset(record.timestamp, record.offset, header.partition_leader_epoch)
    return None
