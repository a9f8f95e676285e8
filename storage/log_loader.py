"""Loading and recovery of a partition's log from its folder (Kafka: LogLoader).

* Clean-up: interrupted deletions and segment swaps are finished first (log_folder).
* Recovery, after an unclean shutdown: every segment from the recovery point on is read with its CRCs, truncated at its
  first damaged batch, and its indexes are rebuilt. Later segments are deleted, newest first, before the damage is
  truncated. A second crash then finds the damage again, so no old segment can reappear after new batches.
* A segment with a missing or damaged index is recovered too, and so is everything after it.
* Unlike Kafka, the end of the last segment is checked after a clean shutdown as well. Kafka appends after torn bytes
  there, and serves them.
* Unlike Kafka, a gap between two recovered segments counts as damage, if the recovery point was checkpointed and the
  topic is not compacted. So does a gap between two batches from the recovery point on.
* Unlike Kafka, a base offset is not believed if it is at or after the next segment, or not before that of the next
  batch: the CRC does not cover it. Otherwise one wrong bit would decide which offsets the next records get.
* Producers: the newest readable snapshot at or before the log end, then the batches after it. Without any snapshot
  after a clean shutdown there are no producers, as in Kafka.
* The log end offset is at least the checkpointed log start: deleted offsets are never assigned again.
* Leader epochs: the checkpoint, plus the epochs of recovered batches, limited to the log start and the log end.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from .file_systems.file_system import FileSystem
from .leader_epoch_cache import LeaderEpochCache
from .log_config import LONG_MAX, LogConfig
from .log_folder import finish_interrupted_changes, load_leader_epochs, segment_base_offsets, store_leader_epochs
from .producers.emulated_version import EmulatedVersion
from .producers.producer_replay import replay_batch
from .producers.producer_snapshots import NO_OFFSET, ProducerSnapshots
from .producers.producer_state_manager import ProducerStateManager
from .segments.batch_scan import ScannedBatch
from .segments.log_segment import LogSegment, OffsetLimits
from .segments.log_segments import LogSegments

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LogLocation:
    """The file system and partition of a log, and the Kafka version whose producer rules it applies."""

    file_system: FileSystem
    topic_name: str
    partition: int
    emulated_version: EmulatedVersion


@dataclass(frozen=True, slots=True)
class LoadState:
    """The checkpoints of a log before its folder is read, and what its files do not have.

    is_clean: whether the clean-shutdown mark existed.
    recovery_point: everything before this offset was on disk.
    log_start_offset: the log may start later, never earlier.
    is_recovery_point_known: whether it was checkpointed; then no segment after it was ever compacted.
    ahead_ms: the most that the broker's clock was ahead of the clients' when the batches were appended, see
        moved_timestamps.
    is_truncated: whether the log was in use and its newest records were removed. No snapshot is written then: it would
        have only the last batch of each producer.
    """

    is_clean: bool = False
    recovery_point: int = 0
    log_start_offset: int = 0
    is_recovery_point_known: bool = False
    ahead_ms: int = 0
    is_truncated: bool = False


# The state of a log that was never written to.
NEW_LOG = LoadState(is_clean=True)


@dataclass(slots=True)
class LoadedLog:
    """The parts of a loaded log.

    truncated_bytes: the number of damaged bytes that were removed.
    is_unchanged: whether loading changed no file after a clean shutdown.
    """

    segments: LogSegments
    leader_epochs: LeaderEpochCache
    producers: ProducerStateManager
    snapshots: ProducerSnapshots
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    truncated_bytes: int
    is_unchanged: bool


class LogLoader:
    """Loads the log of one folder, once."""

    def __init__(
        self, file_system: FileSystem, folder: str, config: LogConfig, rules: EmulatedVersion, *, now_ms: int
    ) -> None:
        """Clean up the folder and open its segments; now_ms: for the expiry of producers. Raises OSError."""
        finish_interrupted_changes(file_system, folder)
        self._file_system = file_system
        self._folder = folder
        self._config = config
        self._batches_retained = rules.batches_retained
        self._now_ms = now_ms
        self._producers = ProducerStateManager(config.producer_id_expiration_ms)
        self._snapshots = ProducerSnapshots(file_system, folder)
        self._leader_epochs = load_leader_epochs(file_system, folder)
        base_offsets = segment_base_offsets(file_system, folder)
        self._is_new = not base_offsets
        self._segments = [self._open_segment(base) for base in base_offsets or [0]]
        self._truncated_bytes = 0

    def load(self, state: LoadState) -> LoadedLog:
        """Return the log; raises OSError.

        Source: LogLoader.load, Kafka 4.3.0.
        """
        self._producers.assume_ahead(state.ahead_ms)
        stored_epochs, stored_snapshot = self._leader_epochs.entries(), self._snapshots.latest_offset
        first = self._first_to_recover(state)
        is_unchanged = not self._is_new and first == len(self._segments)
        self._recover(first, state)
        log_end_offset = self._segments[-1].last_offset + 1
        if log_end_offset < state.log_start_offset:
            # Records were deleted up to the checkpoint, so the offsets before it must not be assigned again.
            log_end_offset = state.log_start_offset
            self._replace_all_segments(log_end_offset)
        log_start_offset = max(state.log_start_offset, self._segments[0].base_offset)
        self._snapshots.remove_stray({segment.base_offset for segment in self._segments})
        if state.is_clean and self._snapshots.latest_offset == NO_OFFSET:
            # Kafka does not read the whole log for its producers in this case.
            for segment in self._segments[-2:]:
                self._snapshots.write(segment.base_offset, ())
            self._snapshots.write(log_end_offset, self._producers.active_producers())
        else:
            self._rebuild_producers(self._segments, log_start_offset, log_end_offset)
            self._write_snapshot(log_end_offset, log_start_offset, state)
        self._segments[-1].create_index_files()
        if state.ahead_ms:
            for segment in self._segments:
                segment.assume_ahead(state.ahead_ms)
        self._leader_epochs.truncate_from_end(log_end_offset)
        self._leader_epochs.truncate_from_start(log_start_offset)
        is_unchanged = is_unchanged and stored_snapshot == self._snapshots.latest_offset
        if self._leader_epochs.entries() != stored_epochs:
            is_unchanged = False
            store_leader_epochs(self._file_system, self._folder, self._leader_epochs)
        return LoadedLog(
            LogSegments(self._file_system, self._folder, self._segments),
            self._leader_epochs,
            self._producers,
            self._snapshots,
            log_start_offset,
            log_end_offset,
            min(state.recovery_point, log_end_offset),
            self._truncated_bytes,
            is_unchanged,
        )

    def _open_segment(self, base_offset: int) -> LogSegment:
        return LogSegment(self._file_system, self._folder, base_offset, self._config, self._now_ms)

    def _replace_all_segments(self, offset: int) -> None:
        self._drop_from(0)
        self._snapshots.remove(lambda _: True)
        self._segments = [self._open_segment(offset)]

    # -- segments

    def _first_to_recover(self, state: LoadState) -> int:
        """Return the index of the first segment to recover; the number of segments if none."""
        segments = self._segments
        first = len(segments)
        if not state.is_clean:
            first = max(0, bisect_right([segment.base_offset for segment in segments], state.recovery_point) - 1)
        for index, segment in enumerate(segments[:first]):
            if not segment.has_whole_indexes():
                return index
            if index + 1 < len(segments):
                segment.last_offset = segments[index + 1].base_offset - 1
            elif not segment.find_end(self._limits_of(index, state)):
                return index
        # Rolling finished its indexes perhaps after the last flush, so they may not be on disk.
        if not state.is_clean and first > 0 and not segments[first - 1].has_newest_timestamp():
            return first - 1
        return first

    def _recover(self, first: int, state: LoadState) -> None:
        """Recover the segments from index first on.

        A gap before a segment, which compaction cannot have made, means that a power loss took the end of the segment
        before it.
        Source: LogLoader.recoverLog and recoverSegment, Kafka 4.3.0.
        """
        is_gap_damage = self._is_gap_damage(state)
        for index in range(first, len(self._segments)):
            segment = self._segments[index]
            if index > first and segment.base_offset > self._segments[index - 1].last_offset + 1:
                if is_gap_damage:
                    self._drop_from(index)
                    break
                self._log_gap(self._segments[index - 1], segment)
            self._rebuild_producers(self._segments[:index], state.log_start_offset, segment.base_offset)
            limits = self._limits_of(index, state)
            damaged_bytes = segment.recover(partial(self._replay_recovered, segment), limits)
            if damaged_bytes:
                self._truncated_bytes += damaged_bytes
                self._drop_from(index + 1)
                segment.truncate_tail()
            self._write_snapshot(segment.last_offset + 1, state.log_start_offset, state)
            if damaged_bytes:
                break

    def _write_snapshot(self, offset: int, log_start_offset: int, state: LoadState) -> None:
        if not state.is_truncated:
            self._snapshots.write(offset, self._producers.active_producers(), log_start_offset=log_start_offset)

    def _is_gap_damage(self, state: LoadState) -> bool:
        return state.is_recovery_point_known and not self._config.is_compacted

    def _log_gap(self, before: LogSegment, after: LogSegment) -> None:
        """Log that records are missing between two segments, unless compaction may have removed them."""
        if not self._config.is_compacted:
            logger.warning(
                "%s: no records from offset %d to %d", self._folder, before.last_offset + 1, after.base_offset - 1
            )

    def _limits_of(self, index: int, state: LoadState) -> OffsetLimits:
        """Return the offsets that the batches of a segment can have."""
        next_segments = self._segments[index + 1 : index + 2]
        return OffsetLimits(
            last_offset_max=next_segments[0].base_offset - 1 if next_segments else LONG_MAX,
            contiguous_from=state.recovery_point if self._is_gap_damage(state) else LONG_MAX,
        )

    def _replay_recovered(self, segment: LogSegment, scanned: ScannedBatch) -> None:
        header = scanned.header
        self._leader_epochs.assign(header.partition_leader_epoch, header.base_offset)
        replay_batch(self._producers, scanned, self._batches_retained, segment.transaction_index)

    def _drop_from(self, first: int) -> None:
        """Delete the segments from index first on, newest first, and sync the folder."""
        dropped = self._segments[first:]
        for segment in reversed(dropped):
            self._truncated_bytes += segment.size
            segment.delete()
        del self._segments[first:]
        if dropped:
            self._file_system.sync_folder(self._folder)

    # -- producers

    def _rebuild_producers(self, segments: Sequence[LogSegment], log_start_offset: int, end_offset: int) -> None:
        """Rebuild the producers at end_offset from the newest snapshot and the batches after it.

        segments: all segments before end_offset. Snapshots outside the two offsets are deleted.
        Source: UnifiedLog.rebuildProducerState and ProducerStateManager.truncateAndReload, Kafka 4.3.0.
        """
        self._producers = self._producers.new_for_replay()
        self._snapshots.remove(lambda offset: offset > end_offset or offset <= log_start_offset)
        snapshot = self._snapshots.load_newest(end_offset)
        start_offset = log_start_offset
        if snapshot is not None:
            self._producers.reload(snapshot.entries, self._now_ms)
            start_offset = snapshot.offset
        newest_bases = [segment.base_offset for segment in segments[-2:]]
        for segment in segments:
            if segment.last_offset < start_offset:
                continue
            if segment.base_offset in newest_bases and segment.base_offset > start_offset:
                self._snapshots.write(segment.base_offset, self._producers.active_producers())
            found = segment.find_position(start_offset)
            if found is not None:
                for scanned in segment.scan(found.position, is_crc_checked=False):
                    replay_batch(self._producers, scanned, self._batches_retained, None)
