"""A log segment: consecutive batches in one .log file, with an offset, a time and a transaction index.

* The .log file is authoritative. Indexes have no checksum; an offset index entry counts only if the batch at its
  position has the last offset that the entry names.
* The file may be longer than `size`: a failed write can leave a torn tail. It is truncated before the segment is left.
* A batch gets index entries when more than index.interval.bytes were appended since the last ones. If the entries
  cannot be written, the batch stays in the log and a later batch gets them.
* The index files of an active segment exist as in Kafka. A new or loaded log has both. A roll creates the time index,
  and the first batch the offset index (in Kafka the second batch).
* Finishing a segment, at a roll, at recovery or at close, adds a last time index entry and truncates the indexes.
* `first_batch_timestamp` and `largest_timestamp` are on the broker's clock, because they are compared with it
  (moved_timestamps). `max_timestamp` is as stored.
* Batches before `_trusted_from` were written by an earlier process and not read at loading: header_checks checks them
  when they are read.
Source: LogSegment, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from struct import Struct
from typing import Final

from ...protocol.batches.record_batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_V2,
    NO_TIMESTAMP,
    BatchHeader,
    TimestampType,
    parse_header,
)
from ..corrupt_file import CorruptFileError
from ..file_systems.file_system import File, FileSystem
from ..log_config import LONG_MAX, LogConfig
from ..log_files import (
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    LOG_SUFFIX,
    RELATIVE_OFFSET_MAX,
    SEGMENT_SUFFIXES,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    segment_path,
)
from .batch_scan import ScannedBatch, scan_batches
from .header_checks import Damage, HeaderChecks, next_begins_within
from .moved_timestamps import MovedTimestamps, on_brokers_clock
from .offset_index import IndexedBatch, OffsetIndex
from .time_index import TimeIndex
from .transaction_index import TransactionIndex
from .whole_batches import last_offset_in

logger = logging.getLogger(__name__)

# base_offset, length and last_offset_delta of a batch header, for the search by offset.
_SEARCHED = Struct(">qi11xi")
# As an int that compiled code need not look up.
_RELATIVE_OFFSET_MAX: Final[int] = RELATIVE_OFFSET_MAX
# One read of this search: about the distance between two index entries.
_SEARCH_BYTES = 8 * 1024


@dataclass(frozen=True, slots=True)
class BatchPosition:
    """The position of a batch in its segment, and its size."""

    position: int
    size: int


@dataclass(frozen=True, slots=True)
class OffsetLimits:
    """The offsets that batches of a segment can have at recovery. The CRC does not cover the base offset.

    last_offset_max: the offset before the next segment.
    contiguous_from: from this offset on, no offset is missing between two batches, and none at the segment's start.
    """

    last_offset_max: int = LONG_MAX
    contiguous_from: int = LONG_MAX


NO_LIMITS = OffsetLimits()


class LogSegment:
    """One segment and its files."""

    __slots__ = (
        "_bytes_since_index_entry",
        "_file",
        "_file_system",
        "_folder",
        "_header_checks",
        "_index_interval_bytes",
        "_is_compacted",
        "_is_gap_reported",
        "_is_index_full",
        "_last_found",
        "_moved_timestamps",
        "_offset_index",
        "_time_index",
        "_trusted_from",
        "base_offset",
        "created_ms",
        "first_batch_timestamp",
        "last_offset",
        "max_timestamp",
        "modified_ms",
        "offset_of_max_timestamp",
        "size",
        "transaction_index",
    )

    def __init__(
        self, file_system: FileSystem, folder: str, base_offset: int, config: LogConfig, created_ms: int
    ) -> None:
        """Open or create the segment of folder at base_offset.

        created_ms: for rolling by segment.ms, if the first batch has no timestamp.
        The last offset of an existing segment is set by find_end, recover or the caller.
        """
        self._file_system = file_system
        self._folder = folder
        self.base_offset = base_offset
        self.last_offset = base_offset - 1
        self._index_interval_bytes: int = config.index_interval_bytes
        self._file: File = file_system.open(self._path(LOG_SUFFIX))
        index_bytes = config.segment_index_bytes
        self._offset_index = OffsetIndex(file_system, self._path(INDEX_SUFFIX), base_offset, index_bytes)
        self._time_index = TimeIndex(file_system, self._path(TIME_INDEX_SUFFIX), base_offset, index_bytes)
        self.transaction_index = TransactionIndex(file_system, self._path(TRANSACTION_INDEX_SUFFIX))
        self.size: int = self._file.size
        self.created_ms = created_ms
        self.modified_ms: int = file_system.modified_ms(self._path(LOG_SUFFIX)) if self.size else created_ms
        self._bytes_since_index_entry = 0
        has_batch = self.size >= HEADER_SIZE
        self.first_batch_timestamp = parse_header(self._file.read(0, HEADER_SIZE)).max_timestamp if has_batch else -1
        self._is_index_full: bool = self._offset_index.is_full or self._time_index.is_full
        self.max_timestamp: int
        self.offset_of_max_timestamp: int
        self.max_timestamp, self.offset_of_max_timestamp = self._time_index.last_entry or (NO_TIMESTAMP, base_offset)
        # None until a batch is appended whose timestamps are not on the broker's clock.
        self._moved_timestamps: MovedTimestamps | None = None
        # The base offset and position of the batch found last, where the next sequential read starts its search.
        self._last_found = (base_offset, 0)
        # More than the size of an empty file: a segment before the last one is never empty.
        self._trusted_from = max(1, self.size)
        self._header_checks: HeaderChecks | None = None
        self._is_compacted = config.is_compacted
        self._is_gap_reported = False

    def _path(self, suffix: str) -> str:
        return segment_path(self._folder, self.base_offset, suffix)

    def append(
        self, head: bytes, body: memoryview | bytes, last_offset: int, max_timestamp: int, ahead_ms: int = 0
    ) -> None:
        """Append the batch head + body, then its index entries if they are due.

        ahead_ms: added to max_timestamp on the broker's clock.
        Source: LogSegment.append, Kafka 4.3.0.
        """
        position: int = self._file.append(head, body)
        self._appended(position, len(head) + len(body), last_offset, max_timestamp, ahead_ms)

    def append_stored(self, batch: memoryview, last_offset: int, max_timestamp: int, source: LogSegment | None) -> None:
        """Append a batch as it is stored, from the end of the same segment of another replica.

        source: that segment, whose memory is shared where possible.
        """
        position, file = self.size, self._file
        if source is None or file.size != position or not file.append_shared(source._file, position + len(batch)):
            position = file.append(b"", batch)
        self._appended(position, len(batch), last_offset, max_timestamp, 0)

    def _appended(self, position: int, size: int, last_offset: int, max_timestamp: int, ahead_ms: int) -> None:
        if ahead_ms or self._moved_timestamps is not None:
            moved = self._moved_timestamps or MovedTimestamps(0 if position else ahead_ms, self.max_timestamp)
            self._moved_timestamps = moved.after(max_timestamp, ahead_ms)
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.offset_of_max_timestamp = last_offset
        is_due = self._bytes_since_index_entry > self._index_interval_bytes
        if is_due and self._has_index_entries(last_offset, position):
            self._bytes_since_index_entry = size
        else:
            self._bytes_since_index_entry += size
        if not position:
            self.first_batch_timestamp = on_brokers_clock(max_timestamp, ahead_ms)
            self.create_index_files()
            self._trusted_from = 0
        self.size = position + size
        self.last_offset = last_offset

    def assume_ahead(self, ahead_ms: int) -> None:
        """Note that the batches may have been appended with ahead_ms; for a loaded segment, which does not have it.

        Batches with LogAppendTime are on the broker's clock.
        """
        if self.size < HEADER_SIZE:
            return
        if parse_header(self._file.read(0, HEADER_SIZE)).timestamp_type is TimestampType.LOG_APPEND_TIME:
            return
        self._moved_timestamps = MovedTimestamps(ahead_ms, on_brokers_clock(self.max_timestamp, ahead_ms))
        self.first_batch_timestamp = on_brokers_clock(self.first_batch_timestamp, ahead_ms)
        # The time of loading. That of the file is on the machine's clock.
        self.modified_ms = self.created_ms

    def continue_times_of(self, replaced: Sequence[LogSegment]) -> None:
        """Take over from the segments that this one replaces what the files do not have. replaced: in order."""
        self.last_offset, self.modified_ms = replaced[-1].last_offset, replaced[-1].modified_ms
        if any(segment._moved_timestamps is not None for segment in replaced):
            largest_timestamp = max(segment.largest_timestamp for segment in replaced)
            self._moved_timestamps = MovedTimestamps(max(each.ahead_ms for each in replaced), largest_timestamp)
            self.first_batch_timestamp = replaced[0].first_batch_timestamp

    def _has_index_entries(self, last_offset: int, position: int) -> bool:
        """Append the index entries of a batch. Returns False after an OSError; the next batch then gets the entries."""
        try:
            self._append_index_entries(last_offset, position)
        except OSError:
            return False
        return True

    def _append_index_entries(self, last_offset: int, position: int) -> None:
        self._offset_index.append(last_offset, position)
        self._time_index.append(self.max_timestamp, self.offset_of_max_timestamp)
        self._is_index_full = self._offset_index.is_full or self._time_index.is_full

    def create_index_files(self, *, is_rolled: bool = False) -> None:
        """Create the index files of an active segment, or after a roll the first of them.

        An error does not matter: the first entry, or the end of the segment, creates the file.
        """
        if self._file_system.is_persistent:
            with suppress(OSError):
                self._time_index.file.create()
                if not is_rolled:
                    self._offset_index.file.create()

    @property
    def largest_timestamp(self) -> int:
        """The greatest timestamp of the records on the broker's clock; the time of the last write if they have none."""
        moved = self._moved_timestamps
        largest = self.max_timestamp if moved is None else moved.largest_timestamp
        return largest if largest >= 0 else self.modified_ms

    @property
    def ahead_ms(self) -> int:
        """The greatest ahead_ms of the batches."""
        return 0 if self._moved_timestamps is None else self._moved_timestamps.ahead_ms

    @property
    def offset_index_bytes(self) -> int:
        """The bytes of the offset index's entries."""
        return self._offset_index.file.size

    @property
    def time_index_bytes(self) -> int:
        """The bytes of the time index's entries."""
        return self._time_index.file.size

    def should_roll(self, size: int, last_offset: int, max_timestamp: int, config: LogConfig, now_ms: int) -> bool:
        """Whether a batch of size bytes up to last_offset must go to a new segment.

        max_timestamp: of the batch, on the broker's clock.
        Source: LogSegment.shouldRoll, Kafka 4.3.0.
        """
        segment_size = self.size
        if not segment_size:
            return False
        first = self.first_batch_timestamp
        # The age counts by the timestamps of the batches, or by the broker's clock if they have none.
        waited_ms = max_timestamp - first if first >= 0 else now_ms - self.created_ms
        segment_bytes: int = config.segment_bytes
        segment_ms: int = config.segment_ms
        return (
            segment_size > segment_bytes - size
            or waited_ms > segment_ms
            or last_offset - self.base_offset > _RELATIVE_OFFSET_MAX
            or self._is_index_full
        )

    def finish(self) -> None:
        """Write the last time index entry and truncate the indexes to their entries.

        Source: LogSegment.onBecomeInactiveSegment, Kafka 4.3.0.
        """
        if self.size:
            self._time_index.append(self.max_timestamp, self.offset_of_max_timestamp)
        self._offset_index.file.seal()
        self._time_index.file.seal()

    def find_end(self, limits: OffsetLimits = NO_LIMITS) -> bool:
        """Set the last offset by a scan from the last index entry; return whether the file is undamaged from there on.

        Checks the CRCs too, because a wrong clean-shutdown mark leaves damage at the end.
        """
        indexed = self._offset_index.last_entry
        end = start = self._indexed_position(indexed)
        if start and indexed is not None:
            # The index confirms the offsets of this batch, so that no gap before it is missed.
            self.last_offset = parse_header(self._file.read(start, HEADER_SIZE)).base_offset - 1
        for header, position, _ in self.scan(start, is_crc_checked=True):
            if not self._is_next(header, position, limits):
                break
            self.last_offset = header.last_offset
            end = position + header.size
        self._trusted_from = start
        return end == self.size

    def has_whole_indexes(self) -> bool:
        """Whether the offset index exists and the transaction index is valid, or the segment is empty."""
        if not self.size:
            return True
        if not self._file_system.exists(self._path(INDEX_SUFFIX)):
            return False
        try:
            self.transaction_index.check(self.base_offset)
        except CorruptFileError:
            return False
        return True

    def has_newest_timestamp(self) -> bool:
        """Whether no batch has a greater timestamp than the last time index entry; scans from its batch on."""
        position = self._indexed_position(self._offset_index.find(self.offset_of_max_timestamp))
        headers = (header for header, _, _ in self.scan(position, is_crc_checked=False))
        return all(header.max_timestamp <= self.max_timestamp for header in headers)

    def recover(self, on_batch: Callable[[ScannedBatch], None], limits: OffsetLimits = NO_LIMITS) -> int:
        """Read every batch, rebuild the indexes, and end the segment before the first damaged batch.

        on_batch: called with each undamaged batch. limits: a batch with offsets beyond them is damaged.
        Returns the number of damaged bytes, which truncate_tail removes from the file.
        Source: LogSegment.recover, Kafka 4.3.0.
        """
        self._offset_index.file.clear()
        self._time_index.file.clear()
        self.transaction_index.clear()
        self.max_timestamp, self.offset_of_max_timestamp = NO_TIMESTAMP, self.base_offset
        self.last_offset = self.base_offset - 1
        end = indexed_position = 0
        for scanned in self.scan(0, is_crc_checked=True):
            header, position, _ = scanned
            if not self._is_next(header, position, limits):
                break
            on_batch(scanned)
            self.last_offset = header.last_offset
            if header.max_timestamp > self.max_timestamp:
                self.max_timestamp, self.offset_of_max_timestamp = header.max_timestamp, header.last_offset
            if position - indexed_position > self._index_interval_bytes:
                self._append_index_entries(header.last_offset, position)
                indexed_position = position
            end = position + header.size
        damaged_bytes = self.size - end
        self.size = end
        self._trusted_from = 0
        self.finish()
        return damaged_bytes

    def truncate_tail(self) -> None:
        """Truncate the file to the segment's size, which removes damaged batches and torn writes."""
        self._file.truncate(self.size)

    def _is_next(self, header: BatchHeader, position: int, limits: OffsetLimits) -> bool:
        """Whether the offsets of the batch at position may follow those of the last batch.

        Kafka accepts any base offset here.
        """
        last_offset = header.last_offset
        is_in_range = self.last_offset < header.base_offset and last_offset - self.base_offset <= RELATIVE_OFFSET_MAX
        if not is_in_range or header.last_offset_delta < 0 or last_offset > limits.last_offset_max:
            return False
        if header.base_offset == self.last_offset + 1:
            return True
        if last_offset >= limits.contiguous_from:
            return False
        skipped = range(self.last_offset + 1, last_offset + 1)
        return not next_begins_within(self._file, position + header.size, self.size, skipped)

    def scan(self, position: int, *, is_crc_checked: bool) -> Iterator[ScannedBatch]:
        """Yield the batches from position on, up to the first incomplete one or, if checked, the first wrong CRC."""
        return scan_batches(self._file, position, self.size, is_crc_checked=is_crc_checked)

    def sync_steps(self, *, is_written_again: bool = False) -> list[Callable[[], None]]:
        """Return the steps that sync the batches; each runs once, on any thread."""
        return [self._file.begin_sync(is_written_again=is_written_again)]

    def index_sync_steps(self) -> list[Callable[[], None]]:
        """Return the steps that sync the indexes of a finished segment."""
        return [
            *self._offset_index.file.sync_steps(),
            *self._time_index.file.sync_steps(),
            *self.transaction_index.sync_steps(),
        ]

    def close(self) -> None:
        """Close the files; the next use opens them again."""
        self._file.close()
        self._offset_index.file.close()
        self._time_index.file.close()
        self.transaction_index.close()

    def find_position(self, offset: int) -> BatchPosition | None:
        """Return the first batch whose last offset is at least offset; None if all end before it.

        Raises DamagedSegmentError if a batch on the way is damaged, or an index entry proves that batches are missing.
        """
        start = self._indexed_position(self._offset_index.find(offset))
        found_offset, found_position = self._last_found
        if found_offset <= offset and found_position > start:
            start = found_position
        position, size = start, self.size
        block, block_start = memoryview(b""), position
        found: BatchPosition | None = None
        found_offset = self.base_offset
        while position + _SEARCHED.size <= size:
            at = position - block_start
            if at + _SEARCHED.size > len(block):
                block = self._file.read(position, min(_SEARCH_BYTES, size - position))
                block_start, at = position, 0
            base_offset, length, last_offset_delta = _SEARCHED.unpack_from(block, at)
            batch_size = length + LOG_OVERHEAD
            if batch_size < HEADER_SIZE:
                break
            if base_offset + last_offset_delta >= offset:
                found, found_offset = BatchPosition(position, batch_size), base_offset
                break
            position += batch_size
        if start < self._trusted_from:
            self._check_search(start, offset, size if found is None else found.position + 1)
        if found is not None:
            self._last_found = (found_offset, found.position)
        return found

    def _check_search(self, start: int, offset: int, end: int) -> None:
        """Check the batches of a search from start to end; raises DamagedSegmentError.

        A segment that was truncated between two batches has index entries of the missing batches.
        """
        checks = self._checks()
        damage = checks.check(start, end, self.last_offset)
        if damage is None and end == self.size:
            last_offset = checks.last_offset_before(start)
            indexed, timed = self._offset_index.last_entry, self._time_index.last_entry
            indexed_offset = max(-1 if indexed is None else indexed.last_offset, -1 if timed is None else timed[1])
            if last_offset < offset <= indexed_offset:
                damage = Damage(
                    self.size, f"the file ends after offset {last_offset}, its index after offset {indexed_offset}"
                )
            elif last_offset < offset <= self.last_offset and not self._is_compacted and not self._is_gap_reported:
                self._is_gap_reported = True
                logger.warning(
                    "%s has no records from offset %d to %d", self._path(LOG_SUFFIX), last_offset + 1, self.last_offset
                )
        if damage is not None:
            raise checks.report(damage, self.last_offset + 1)

    def undamaged_size(self, position: int, size: int) -> int:
        """Return how many of size bytes from the batch at position come before the first damaged batch."""
        if position >= self._trusted_from:
            return size
        checks = self._checks()
        damage = checks.check(position, position + size, self.last_offset)
        if damage is None:
            return size
        checks.report(damage, self.last_offset + 1)
        return damage.position - position

    def _checks(self) -> HeaderChecks:
        if self._header_checks is None:
            self._header_checks = HeaderChecks(self._file, self._path(LOG_SUFFIX), self.base_offset)
        return self._header_checks

    def _indexed_position(self, indexed: IndexedBatch | None) -> int:
        """Return the position of an index entry, or 0 if it is None or does not match the batch at its position."""
        if indexed is None or not 0 <= indexed.position <= self.size - HEADER_SIZE:
            return 0
        header = parse_header(self._file.read(indexed.position, HEADER_SIZE))
        is_match = header.magic == MAGIC_V2 and header.last_offset == indexed.last_offset
        return indexed.position if is_match else 0

    def views(self, position: int, size: int) -> list[memoryview]:
        """Return size bytes from position without copying them."""
        return self._file.views(position, size)

    def last_offset_of(self, views: Sequence[memoryview], position: int, size: int) -> int:
        """Return the last offset of the whole batches that were read from position; NO_OFFSET without one.

        The index spares the walk through long views, but only if it is in memory: its file is not read for this.
        """
        if position + size == self.size:
            return self.last_offset
        indexed = self._offset_index.find_in_memory(position + size - HEADER_SIZE)
        if indexed is None or indexed.position <= position:
            return last_offset_in(views, None)
        return last_offset_in(views, indexed._replace(position=indexed.position - position))

    def batches_by_timestamp(self, timestamp: int, start_offset: int) -> Iterator[ScannedBatch]:
        """Yield the batches that may contain the first record at or after timestamp, from start_offset on.

        Raises DamagedSegmentError at a damaged batch.
        Source: LogSegment.findOffsetByTimestamp and FileRecords.searchForTimestamp, Kafka 4.3.0.
        """
        first_offset = max(self._time_index.lookup(timestamp), start_offset)
        for batch in self._scan_undamaged(self._indexed_position(self._offset_index.find(first_offset))):
            if batch.header.max_timestamp >= timestamp and batch.header.last_offset >= start_offset:
                yield batch

    def find_batch_of_max_timestamp(self) -> ScannedBatch | None:
        """Return the batch with the greatest timestamp of the segment. Raises DamagedSegmentError."""
        position = self._indexed_position(self._offset_index.find(self.offset_of_max_timestamp))
        for batch in self._scan_undamaged(position):
            if batch.header.max_timestamp == self.max_timestamp:
                return batch
        return None

    def _scan_undamaged(self, start: int) -> Iterator[ScannedBatch]:
        """Yield the batches from start on; raises DamagedSegmentError at a damaged one."""
        for batch in self.scan(start, is_crc_checked=False):
            if start < self._trusted_from:
                self._check_search(start, self.base_offset, batch.position + 1)
            yield batch
        if start < self._trusted_from:
            self._check_search(start, self.last_offset, self.size)

    def truncate_from(self, offset: int) -> None:
        """Truncate the file before the batch that contains offset. The segment must be loaded again then."""
        found = self.find_position(offset)
        if found is not None:
            self._file.truncate(found.position)

    def delete(self) -> None:
        """Delete the files; views that were read from them stay valid."""
        self.close()
        for path in self.paths():
            self._file_system.delete(path)

    def rename_for_deletion(self) -> list[str]:
        """Add .deleted to the file names, and return the new paths."""
        self.close()
        renamed: list[str] = []
        for path in self.paths():
            if self._file_system.exists(path):
                self._file_system.rename(path, path + DELETED_SUFFIX)
                renamed.append(path + DELETED_SUFFIX)
        return renamed

    def paths(self) -> list[str]:
        """Return the paths of the segment's files; some may not exist."""
        return [self._path(suffix) for suffix in SEGMENT_SUFFIXES]
