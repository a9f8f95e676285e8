"""One cleaning of one log, in steps between which the log stays usable.

* The constructor, commit and abandon run on the thread that owns the log, and are short.
* run runs on any thread. It reads only finished segments and writes only .cleaned files.
* The first run maps the keys of the dirty part to their greatest offsets. Each following run writes one cleaned segment
  for a group of segments, and the commit after it swaps it in. The last run syncs the folder.
* Retention does not delete segments of the log until the cleaning is done.
Source: Cleaner, Kafka 4.3.0. Unlike Kafka, the CRC of each batch is checked, so damage never gets a new CRC.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum

from ...protocol.batches.record_batch import parse_header
from ...protocol.batches.records import iterate_fields, key_of, records_data
from ..corrupt_file import CorruptFileError
from ..file_systems.file_system import FileSystem
from ..log_config import LogConfig
from ..log_files import RELATIVE_OFFSET_MAX
from ..partition_log import PartitionLog
from ..segments.batch_scan import ScannedBatch
from ..segments.header_checks import DamagedSegmentError
from ..segments.log_segment import LogSegment
from ..segments.transaction_index import AbortedTransaction
from .cleanable_range import CleanableRange, segments_between
from .cleaned_segment import CleanedSegment, SegmentSwap, create_cleaned_segment, delete_cleaned_segment
from .cleaned_transactions import CleanedTransactions
from .cleaning_rules import CleaningRules
from .key_offset_map import KeyOffsetMap


class _Stage(Enum):
    MAP_KEYS = "map the keys"
    CLEAN = "clean a group of segments"
    SYNC = "sync the folder"


class LogCleaning:
    """A cleaning in progress: call run and commit in turns until is_done, or abandon after an error of run."""

    def __init__(
        self, file_system: FileSystem, log: PartitionLog, cleanable: CleanableRange, offsets: KeyOffsetMap, now_ms: int
    ) -> None:
        """Plan the cleaning and stop retention of the log; offsets: empty; now_ms: for delete horizons."""
        self.log = log
        self.is_done = False
        self.is_cancelled = False
        self._swap: SegmentSwap | None = None
        self.error: Exception | None = None
        self.first_dirty_offset = cleanable.first_dirty_offset
        self.bytes_before = self.bytes_after = 0
        self.records_before = self.records_after = 0
        # By which the log has fewer segments.
        self.merged_segments = 0
        self._file_system = file_system
        self._config = log.config
        self.now_ms = now_ms
        self._offsets = offsets
        self._end_offset = cleanable.first_uncleanable_offset
        self._segments = segments_between(list(log.segments), -1, self._end_offset)
        self._dirty_position = self._position_of_dirty()
        self._aborts = self._aborts_of_log()
        self._stage = _Stage.MAP_KEYS
        self._groups: deque[list[LogSegment]] = deque()
        self._cleaned: CleanedSegment | None = None
        self._rules = CleaningRules(log, offsets, self._aborts, end_offset=self._end_offset, now_ms=now_ms)
        log.is_being_cleaned = True

    def _position_of_dirty(self) -> int:
        dirty = segments_between(self._segments, self.first_dirty_offset, self._end_offset)
        try:
            found = dirty[0].find_position(self.first_dirty_offset) if dirty else None
        except DamagedSegmentError:
            # The first run meets the damage too, and ends the cleaning.
            return 0
        return 0 if found is None else found.position

    def _aborts_of_log(self) -> list[AbortedTransaction]:
        """Return the aborted transactions that may have batches in the range; their markers may follow it."""
        return [
            abort
            for segment in self.log.segments
            for abort in segment.transaction_index.entries()
            if abort.first_offset < self._end_offset
        ]

    @property
    def cleaned_offset(self) -> int:
        """The end of the clean part of the log after the cleaning."""
        return self._offsets.latest_offset + 1

    @property
    def is_swapping(self) -> bool:
        """Whether a commit was interrupted in its swap; it must be repeated and cannot be abandoned."""
        return self._swap is not None

    def cancel(self) -> None:
        """End the cleaning with the current run and the commit after it; swapped-in segments stay."""
        self.is_cancelled = True

    # -- on any thread

    def run(self) -> None:
        """Execute the next step, which may take long; an exception is stored in error."""
        try:
            self._run()
        except Exception as error:
            self.error = error

    def _run(self) -> None:
        if self._stage is _Stage.MAP_KEYS:
            self._fill_offsets()
        elif self._stage is _Stage.SYNC:
            self._file_system.sync_folder(self.log.topic_partition)
        elif self._cleaned is not None:
            self._clean(self._groups[0], self._cleaned)

    def _fill_offsets(self) -> None:
        """Map the keys of the dirty part to their greatest offsets until the map is full.

        Source: Cleaner.buildOffsetMap, Kafka 4.3.0.
        """
        transactions = CleanedTransactions()
        start = self.first_dirty_offset
        transactions.add_aborts(abort for abort in self._aborts if abort.last_offset >= start)
        position = self._dirty_position
        dirty = segments_between(self._segments, start, self._end_offset)
        following = [*(segment.base_offset for segment in dirty[1:]), self._end_offset]
        for segment, next_base_offset in zip(dirty, following, strict=True):
            for scanned in _scan(segment, position):
                if self.is_cancelled or not self._map_batch(scanned, transactions):
                    return
            # Offsets without a batch count as mapped.
            self._offsets.latest_offset = next_base_offset - 1
            position = 0

    def _map_batch(self, scanned: ScannedBatch, transactions: CleanedTransactions) -> bool:
        """Map the keys of a batch; return whether the map had room for all of them."""
        header, offsets, start = scanned.header, self._offsets, self.first_dirty_offset
        if header.is_control:
            transactions.on_control_batch_read(header, scanned.batch)
        elif not transactions.on_batch_read(header):
            data, position = records_data(header, scanned.batch)
            for fields in iterate_fields(header, data, position):
                key = key_of(fields, data)
                if key is not None and fields.offset >= start:
                    if offsets.is_full:
                        return False
                    offsets.put(key, fields.offset)
        if header.last_offset >= start:
            offsets.latest_offset = header.last_offset
        return True

    def _clean(self, group: Sequence[LogSegment], cleaned: CleanedSegment) -> None:
        """Write the kept batches of a group of segments.

        Source: Cleaner.cleanSegments and cleanInto, Kafka 4.3.0.
        """
        for segment in group:
            for header, _, batch in _scan(segment, 0):
                if self.is_cancelled:
                    return
                kept = self._rules.filter_batch(header, batch)
                self.records_before += header.records_count
                if kept is not None:
                    kept_header = parse_header(kept)
                    self.records_after += kept_header.records_count
                    cleaned.append(b"", kept, kept_header.last_offset, kept_header.max_timestamp)
                for abort in self._rules.take_retained_aborts():
                    cleaned.transaction_index.append(abort)
            self.bytes_before += segment.size
        self.bytes_after += cleaned.size
        cleaned.seal_and_sync()

    # -- on the thread that owns the log

    def commit(self) -> None:
        """Apply the result of the last run, and prepare the next one unless is_done.

        After OSError it may be called again; if is_swapping, it must be called until it succeeds.
        """
        if self.is_cancelled and not self.is_swapping:
            self.abandon()
            return
        if self._stage is _Stage.MAP_KEYS:
            segments = segments_between(self._segments, -1, self.cleaned_offset)
            self._groups.extend(group_segments(segments, self._config, self._end_offset))
            self._stage = _Stage.CLEAN
        elif self._stage is _Stage.SYNC:
            self._finish()
            return
        elif self._cleaned is not None:
            self._swap = self._swap or SegmentSwap(self._file_system, self.log, self._cleaned, self._groups[0])
            self._swap.finish(self.now_ms)
            self._swap = self._cleaned = None
            self.merged_segments += len(self._groups.popleft()) - 1
        self._begin_group()

    def _begin_group(self) -> None:
        if not self._groups:
            self._stage = _Stage.SYNC
            return
        self._cleaned = create_cleaned_segment(
            self._file_system,
            self.log.topic_partition,
            self._groups[0][0].base_offset,
            self._config,
            has_aborts=bool(self._aborts),
        )

    def abandon(self) -> None:
        """End the cleaning; swapped-in segments stay and the log is complete. Raises OSError."""
        cleaned, self._cleaned, self._swap = self._cleaned, None, None
        self.is_cancelled = True
        self._finish()
        if cleaned is not None:
            cleaned.close()
            delete_cleaned_segment(self._file_system, self.log.topic_partition, cleaned.base_offset)

    def _finish(self) -> None:
        self.is_done = True
        self.log.is_being_cleaned = False
        self._offsets.close()


def group_segments(
    segments: Sequence[LogSegment], config: LogConfig, first_uncleanable_offset: int
) -> list[list[LogSegment]]:
    """Return consecutive segments in groups that fit into one segment each, even if no record is removed.

    first_uncleanable_offset: the base offset of the segment after the last one.
    Source: Cleaner.groupSegmentsBySize, Kafka 4.3.0.
    """
    groups: list[list[LogSegment]] = []
    following = [*(segment.base_offset for segment in segments[1:]), first_uncleanable_offset]
    for segment, next_base_offset in zip(segments, following, strict=True):
        if groups and _has_room(groups[-1], segment, next_base_offset - 1, config):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _has_room(group: Sequence[LogSegment], segment: LogSegment, last_offset: int, config: LogConfig) -> bool:
    together = [*group, segment]
    # An empty segment adds no offsets.
    is_in_range = not segment.size or last_offset - group[0].base_offset <= RELATIVE_OFFSET_MAX
    return (
        is_in_range
        and sum(each.size for each in together) <= config.segment_bytes
        and sum(each.offset_index_bytes for each in together) <= config.segment_index_bytes
        and sum(each.time_index_bytes for each in together) <= config.segment_index_bytes
    )


def _scan(segment: LogSegment, position: int) -> Iterator[ScannedBatch]:
    """Yield the batches of a segment; raises CorruptFileError if they do not end at its size."""
    for scanned in segment.scan(position, is_crc_checked=True):
        position = scanned.position + scanned.header.size
        yield scanned
    if position != segment.size:
        raise CorruptFileError(f"the batch at byte {position} of the segment at {segment.base_offset} is damaged")
