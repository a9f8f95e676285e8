"""A piece of a log: batches back to back in one file, and two sparse indexes over them.

Source: LogSegment, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

from ..protocol.record_batch import HEADER_SIZE, LOG_OVERHEAD, NO_TIMESTAMP, BatchHeader, parse_header
from .file_system import File, FileSystem
from .log_config import LogConfig
from .log_files import INDEX_SUFFIX, LOG_SUFFIX, TIME_INDEX_SUFFIX, segment_path
from .offset_index import OffsetIndex
from .time_index import TimeIndex

# Offsets in the indexes are relative to the base and must fit Java's int.
_RELATIVE_OFFSET_MAX = 2**31 - 1

# base_offset, length and last_offset_delta of a batch header: all that a search by offset looks at.
_SEARCHED = Struct(">qi11xi")


@dataclass(frozen=True, slots=True)
class BatchPosition:
    """Where a batch is in its segment, and how large it is."""

    position: int
    size: int


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch of a segment: its header and where it begins."""

    header: BatchHeader
    position: int


class LogSegment:
    """One segment; its files are made when the first batch comes."""

    __slots__ = (
        "_bytes_since_index_entry",
        "_file",
        "_file_system",
        "_first_batch_timestamp",
        "_folder",
        "_hint",
        "_index_interval_bytes",
        "_is_index_full",
        "_offset_index",
        "_time_index",
        "base_offset",
        "created_ms",
        "last_offset",
        "max_timestamp",
        "modified_ms",
        "offset_of_max_timestamp",
        "size",
    )

    def __init__(
        self, file_system: FileSystem, folder: str, base_offset: int, config: LogConfig, created_ms: int
    ) -> None:
        """Open the segment of folder that begins at base_offset, which may be new.

        created_ms: when it was made; it rolls by that if its first batch has no timestamp.
        """
        self._file_system = file_system
        self._folder = folder
        self.base_offset = base_offset
        self.created_ms = self.modified_ms = created_ms
        self.last_offset = base_offset - 1
        self._index_interval_bytes = config.index_interval_bytes
        self._file: File = file_system.open(self._path(LOG_SUFFIX))
        index_bytes = config.segment_index_bytes
        self._offset_index = OffsetIndex(file_system, self._path(INDEX_SUFFIX), base_offset, index_bytes)
        self._time_index = TimeIndex(file_system, self._path(TIME_INDEX_SUFFIX), base_offset, index_bytes)
        self.size = self._file.size
        self._bytes_since_index_entry = 0
        self._first_batch_timestamp = parse_header(self._file.read(0, HEADER_SIZE)).max_timestamp if self.size else -1
        self._is_index_full = self._offset_index.is_full or self._time_index.is_full
        self.max_timestamp = NO_TIMESTAMP
        self.offset_of_max_timestamp = base_offset
        # The batch found last, by its first offset: who reads on from there need not search the index interval again.
        self._hint = (base_offset, 0)

    def _path(self, suffix: str) -> str:
        return segment_path(self._folder, self.base_offset, suffix)

    def append(self, head: bytes, body: memoryview | bytes, last_offset: int, max_timestamp: int) -> None:
        """Append one batch, which is head and body joined, then its index entries if they are due.

        Source: LogSegment.append, Kafka 4.3.0.
        """
        position = self._file.append(head, body)
        size = len(head) + len(body)
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.offset_of_max_timestamp = last_offset
        if self._bytes_since_index_entry > self._index_interval_bytes:
            self._append_index_entries(last_offset, position)
            self._bytes_since_index_entry = size
        else:
            self._bytes_since_index_entry += size
        if not position:
            self._first_batch_timestamp = max_timestamp
        self.size = position + size
        self.last_offset = last_offset

    def _append_index_entries(self, last_offset: int, position: int) -> None:
        self._offset_index.append(last_offset, position)
        self._time_index.append(self.max_timestamp, self.offset_of_max_timestamp)
        self._is_index_full = self._offset_index.is_full or self._time_index.is_full

    @property
    def largest_timestamp(self) -> int:
        """The greatest timestamp of the records, or when the segment was last written to if they have none."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms

    def should_roll(self, size: int, last_offset: int, max_timestamp: int, config: LogConfig, now_ms: int) -> bool:
        """Whether a batch of size bytes up to last_offset must go to a new segment.

        Source: LogSegment.shouldRoll, Kafka 4.3.0.
        """
        segment_size = self.size
        if not segment_size:
            return False
        first = self._first_batch_timestamp
        # The segment's age is by its batches' clock, or by ours if they have none.
        waited_ms = max_timestamp - first if first >= 0 else now_ms - self.created_ms
        return (
            segment_size > config.segment_bytes - size
            or waited_ms > config.segment_ms
            or last_offset - self.base_offset > _RELATIVE_OFFSET_MAX
            or self._is_index_full
        )

    def finish(self) -> None:
        """Write the last time index entry: the segment takes no more batches."""
        if self.size:
            self._time_index.append(self.max_timestamp, self.offset_of_max_timestamp)

    def find_position(self, offset: int) -> BatchPosition | None:
        """Return the first batch whose last offset is offset or above; None if all end before it."""
        position = self._offset_index.lookup(offset)
        hint_offset, hint_position = self._hint
        if hint_offset <= offset and hint_position > position:
            position = hint_position
        size = self.size
        while position < size:
            base_offset, length, last_offset_delta = _SEARCHED.unpack(self._file.read(position, _SEARCHED.size))
            if base_offset + last_offset_delta >= offset:
                self._hint = (base_offset, position)
                return BatchPosition(position, length + LOG_OVERHEAD)
            position += length + LOG_OVERHEAD
        return None

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position, uncopied."""
        return self._file.views(position, size)

    def read_batch(self, batch: StoredBatch) -> memoryview:
        """Return the bytes of a whole batch as one piece."""
        return self._file.read(batch.position, batch.header.size)

    def batches(self, position: int = 0) -> Iterator[StoredBatch]:
        """Yield the batches from the one that begins at position."""
        while position < self.size:
            header = parse_header(self._file.read(position, HEADER_SIZE))
            yield StoredBatch(header, position)
            position += header.size

    def batches_by_timestamp(self, timestamp: int, start_offset: int) -> Iterator[StoredBatch]:
        """Yield the batches that may hold the first record at or after timestamp, from start_offset on.

        Source: LogSegment.findOffsetByTimestamp and FileRecords.searchForTimestamp, Kafka 4.3.0.
        """
        known_offset = max(self._time_index.lookup(timestamp), start_offset)
        for batch in self.batches(self._offset_index.lookup(known_offset)):
            if batch.header.max_timestamp >= timestamp and batch.header.last_offset >= start_offset:
                yield batch

    def find_batch_of_max_timestamp(self) -> StoredBatch | None:
        """Return the batch that holds the greatest timestamp of the segment."""
        position = self._offset_index.lookup(self.offset_of_max_timestamp)
        for batch in self.batches(position):
            if batch.header.max_timestamp == self.max_timestamp:
                return batch
        return None

    def delete(self) -> None:
        """Delete the files; what was read from them stays readable."""
        self._file.close()
        for suffix in (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            self._file_system.delete(self._path(suffix))
