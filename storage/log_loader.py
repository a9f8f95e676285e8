"""Loads a partition's log from its folder, and recovers it where it was not stopped cleanly (Kafka: LogLoader).

Every segment that may hold bytes that were not safe is read as a whole, cut at its first damaged batch, and its indexes
are written anew; what lies behind a cut is dropped. The producers come from the newest snapshot that can be read and
the batches behind it. Unlike Kafka, the end of the last segment is looked at after a clean stop as well: Kafka goes on
behind what is torn there, and serves it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from .file_systems.file_system import FileSystem
from .leader_epoch_cache import LeaderEpochCache
from .log_config import LogConfig
from .log_folder import finish_what_was_begun, load_leader_epochs, segment_base_offsets, store_leader_epochs
from .producers.emulated_version import EmulatedVersion
from .producers.producer_replay import replay_batch
from .producers.producer_snapshots import NO_OFFSET, ProducerSnapshots
from .producers.producer_state_manager import ProducerStateManager
from .segments.batch_scan import ScannedBatch
from .segments.log_segment import LogSegment
from .segments.log_segments import LogSegments


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where a log lives, and whose producer rules it follows."""

    file_system: FileSystem
    topic_name: str
    partition: int
    emulated_version: EmulatedVersion


@dataclass(frozen=True, slots=True)
class LoadState:
    """What is known of a log before its folder is read.

    is_clean: whether the clean-shutdown mark was there.
    recovery_point: the offset up to which everything was safe on disk.
    log_start_offset: as checkpointed; the log may begin later, never earlier.
    is_recovery_point_known: whether it was checkpointed; then no segment behind it was ever compacted.
    """

    is_clean: bool = False
    recovery_point: int = 0
    log_start_offset: int = 0
    is_recovery_point_known: bool = False


# How a log is found that nobody has written to.
NEW_LOG = LoadState(is_clean=True)


@dataclass(slots=True)
class LoadedLog:
    """The parts of a log that was loaded.

    cut_bytes: how much of it was damaged and is gone.
    is_as_left: whether its files are those of a clean stop, and nothing had to be done to them.
    """

    segments: LogSegments
    leader_epochs: LeaderEpochCache
    producers: ProducerStateManager
    snapshots: ProducerSnapshots
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    cut_bytes: int
    is_as_left: bool


class LogLoader:
    """Loads the log of one folder, once."""

    def __init__(
        self, file_system: FileSystem, folder: str, config: LogConfig, rules: EmulatedVersion, *, now_ms: int
    ) -> None:
        """Put the files in order; now_ms is the time by which producers expire. Raises OSError."""
        finish_what_was_begun(file_system, folder)
        self._file_system = file_system
        self._folder = folder
        self._config = config
        self._batches_remembered = rules.batches_remembered
        self._now_ms = now_ms
        self._producers = ProducerStateManager(config.producer_id_expiration_ms)
        self._snapshots = ProducerSnapshots(file_system, folder)
        self._leader_epochs = load_leader_epochs(file_system, folder)
        base_offsets = segment_base_offsets(file_system, folder)
        self._is_new = not base_offsets
        self._segments = [self._open_segment(base) for base in base_offsets or [0]]
        self._cut_bytes = 0

    def load(self, state: LoadState) -> LoadedLog:
        """Return the log; raises OSError.

        Source: LogLoader.load, Kafka 4.3.0.
        """
        stored_epochs, stored_snapshot = self._leader_epochs.entries(), self._snapshots.latest_offset
        first = self._first_to_recover(state)
        is_as_left = not self._is_new and first == len(self._segments)
        self._recover(first, state)
        log_end_offset = self._segments[-1].last_offset + 1
        if log_end_offset < state.log_start_offset:
            # Records were deleted up to the checkpoint, so that there were offsets up to it: none is given twice.
            log_end_offset = state.log_start_offset
            self._start_anew(log_end_offset)
        log_start_offset = max(state.log_start_offset, self._segments[0].base_offset)
        self._snapshots.remove_stray({segment.base_offset for segment in self._segments})
        if state.is_clean and self._snapshots.latest_offset == NO_OFFSET:
            # Kafka will not read a whole log for its producers then: there are none.
            for segment in self._segments[-2:]:
                self._snapshots.write(segment.base_offset, ())
        else:
            self._rebuild_producers(self._segments, log_start_offset, log_end_offset)
        self._snapshots.write(log_end_offset, self._producers.active_producers())
        self._leader_epochs.truncate_from_end(log_end_offset)
        self._leader_epochs.truncate_from_start(log_start_offset)
        is_as_left = is_as_left and stored_snapshot == self._snapshots.latest_offset
        if self._leader_epochs.entries() != stored_epochs:
            is_as_left = False
            store_leader_epochs(self._file_system, self._folder, self._leader_epochs)
        return LoadedLog(
            LogSegments(self._file_system, self._folder, self._segments),
            self._leader_epochs,
            self._producers,
            self._snapshots,
            log_start_offset,
            log_end_offset,
            min(state.recovery_point, log_end_offset),
            self._cut_bytes,
            is_as_left,
        )

    def _open_segment(self, base_offset: int) -> LogSegment:
        return LogSegment(self._file_system, self._folder, base_offset, self._config, self._now_ms)

    def _start_anew(self, offset: int) -> None:
        self._drop_from(0)
        self._snapshots.remove(lambda _: True)
        self._segments = [self._open_segment(offset)]

    # -- segments

    def _first_to_recover(self, state: LoadState) -> int:
        """Return from which segment on the log has to be recovered; their number if none has to."""
        segments = self._segments
        first = len(segments)
        if not state.is_clean:
            first = max(0, bisect_right([segment.base_offset for segment in segments], state.recovery_point) - 1)
        for index, segment in enumerate(segments[:first]):
            if not segment.has_whole_indexes():
                return index
            if index + 1 < len(segments):
                segment.last_offset = segments[index + 1].base_offset - 1
            elif not segment.find_end():
                return index
        # Its indexes may have been finished when it was left, after the last flush, and not be safe.
        if not state.is_clean and first > 0 and not segments[first - 1].has_newest_timestamp():
            return first - 1
        return first

    def _recover(self, first: int, state: LoadState) -> None:
        """Recover the segments from first on; what is behind damage is deleted, and only then is the damage cut off.

        Unlike Kafka, which goes on behind a gap, a segment that does not begin where the one before ends is damage too
        where compaction has not made the gap: the end of the one before was lost with the power, and its own was not.
        Source: LogLoader.recoverLog and recoverSegment, Kafka 4.3.0.
        """
        is_gap_damage = state.is_recovery_point_known and not self._config.is_compacted
        for index in range(first, len(self._segments)):
            segment = self._segments[index]
            if is_gap_damage and index > first and segment.base_offset > self._segments[index - 1].last_offset + 1:
                self._drop_from(index)
                break
            self._rebuild_producers(self._segments[:index], state.log_start_offset, segment.base_offset)
            damaged_bytes = segment.recover(partial(self._take, segment))
            if damaged_bytes:
                self._cut_bytes += damaged_bytes
                self._drop_from(index + 1)
                segment.cut_tail()
            self._snapshots.write(segment.last_offset + 1, self._producers.active_producers())
            if damaged_bytes:
                break

    def _take(self, segment: LogSegment, scanned: ScannedBatch) -> None:
        """Learn from a batch of a segment that is being recovered."""
        header = scanned.header
        self._leader_epochs.assign(header.partition_leader_epoch, header.base_offset)
        replay_batch(self._producers, scanned, self._batches_remembered, segment.transaction_index)

    def _drop_from(self, first: int) -> None:
        """Delete the segments from first on, the newest first, and safely.

        Whatever a crash leaves of them lies right behind what the next start finds damaged, and goes then. One that
        came back later would lie behind other batches, at offsets that have been given again.
        """
        lost = self._segments[first:]
        for segment in reversed(lost):
            self._cut_bytes += segment.size
            segment.delete()
        del self._segments[first:]
        if lost:
            self._file_system.sync_folder(self._folder)

    # -- producers

    def _rebuild_producers(self, segments: Sequence[LogSegment], log_start_offset: int, end_offset: int) -> None:
        """Know the producers up to end_offset: those of the newest snapshot, and what the batches behind it say.

        segments: up to end_offset. Snapshots that are not between the two offsets are deleted.
        Source: UnifiedLog.rebuildProducerState and ProducerStateManager.truncateAndReload, Kafka 4.3.0.
        """
        self._producers = ProducerStateManager(self._config.producer_id_expiration_ms)
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
            self._replay(segment, start_offset)

    def _replay(self, segment: LogSegment, offset: int) -> None:
        """Learn from the batches of a segment, from the one that holds offset on."""
        found = segment.find_position(offset)
        if found is None:
            return
        for scanned in segment.scan(found.position, is_crc_checked=False):
            replay_batch(self._producers, scanned, self._batches_remembered, None)
