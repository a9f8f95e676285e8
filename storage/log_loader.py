"""Loads a partition's log from its folder, and recovers it where it was not stopped cleanly (Kafka: LogLoader).

Every segment that may hold bytes that were not safe is read as a whole, cut at its first damaged batch, and its indexes
are written anew; what lies behind a cut is dropped. The producers come from the newest snapshot that can be read and
the batches behind it. Unlike Kafka, the end of the last segment is looked at after a clean stop as well: Kafka goes on
behind what is torn there, and serves it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import partial

from .batch_scan import ScannedBatch
from .emulated_version import EmulatedVersion
from .file_system import FileSystem
from .leader_epoch_cache import LeaderEpochCache
from .log_config import LogConfig
from .log_folder import finish_what_was_begun, load_leader_epochs, segment_base_offsets, store_leader_epochs
from .log_segment import LogSegment
from .log_segments import LogSegments
from .producer_replay import replay_batch
from .producer_snapshots import NO_OFFSET, ProducerSnapshots
from .producer_state_manager import ProducerStateManager


@dataclass(frozen=True, slots=True)
class LoadState:
    """What is known of a log before its folder is read.

    is_clean: whether the clean-shutdown mark was there.
    recovery_point: the offset up to which everything was safe on disk.
    log_start_offset: as checkpointed; the log may begin later, never earlier.
    """

    is_clean: bool = False
    recovery_point: int = 0
    log_start_offset: int = 0


@dataclass(slots=True)
class LoadedLog:
    """The parts of a log that was loaded; cut_bytes is how much of it was damaged and is gone."""

    segments: LogSegments
    leader_epochs: LeaderEpochCache
    producers: ProducerStateManager
    snapshots: ProducerSnapshots
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    cut_bytes: int


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
        self._segments = [self._open_segment(base) for base in segment_base_offsets(file_system, folder) or [0]]
        self._cut_bytes = 0

    def load(self, state: LoadState) -> LoadedLog:
        """Return the log; raises OSError.

        Source: LogLoader.load, Kafka 4.3.0.
        """
        stored_epochs = self._leader_epochs.entries()
        first = self._first_to_recover(state)
        is_recovered = first < len(self._segments)
        if is_recovered:
            self._recover(first)
        log_end_offset = self._segments[-1].last_offset + 1
        if log_end_offset < state.log_start_offset:
            # Records were deleted up to the checkpoint, so that there were offsets up to it: none is given twice.
            log_end_offset = state.log_start_offset
            self._start_anew(log_end_offset)
        log_start_offset = max(state.log_start_offset, self._segments[0].base_offset)
        self._snapshots.remove_stray({segment.base_offset for segment in self._segments})
        self._snapshots.remove(lambda offset: offset > log_end_offset or offset <= log_start_offset)
        if not is_recovered:
            self._load_producers(log_start_offset, log_end_offset)
        self._snapshots.write(log_end_offset, self._producers.active_producers())
        self._leader_epochs.truncate_from_end(log_end_offset)
        self._leader_epochs.truncate_from_start(log_start_offset)
        if self._leader_epochs.entries() != stored_epochs:
            store_leader_epochs(self._file_system, self._folder, self._leader_epochs)
        self._segments[-1].prepare_to_append()
        return LoadedLog(
            LogSegments(self._file_system, self._folder, self._segments),
            self._leader_epochs,
            self._producers,
            self._snapshots,
            log_start_offset,
            log_end_offset,
            min(state.recovery_point, log_end_offset),
            self._cut_bytes,
        )

    def _open_segment(self, base_offset: int) -> LogSegment:
        return LogSegment(self._file_system, self._folder, base_offset, self._config, self._now_ms)

    def _start_anew(self, offset: int) -> None:
        for segment in self._segments:
            self._cut_bytes += segment.size
            segment.delete()
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
        return first

    def _recover(self, first: int) -> None:
        """Recover the segments from first on; what is behind a cut is deleted.

        Source: LogLoader.recoverLog and recoverSegment, Kafka 4.3.0.
        """
        start = self._segments[first].base_offset
        self._snapshots.remove(lambda offset: offset > start)
        self._replay(self._segments[:first], self._load_snapshot(start))
        for index in range(first, len(self._segments)):
            segment = self._segments[index]
            cut_bytes = segment.recover(partial(self._take, segment))
            self._snapshots.write(segment.last_offset + 1, self._producers.active_producers())
            if cut_bytes:
                self._cut_bytes += cut_bytes
                self._drop_behind(index)
                break
        # What is known now is what a snapshot at the end of the log holds, and no more.
        self._producers.remember_newest_only()
        self._producers.remove_expired(self._now_ms)

    def _take(self, segment: LogSegment, scanned: ScannedBatch) -> None:
        """Learn from a batch of a segment that is being recovered."""
        header = scanned.header
        self._leader_epochs.assign(header.partition_leader_epoch, header.base_offset)
        replay_batch(self._producers, scanned, self._batches_remembered, segment.transaction_index)

    def _drop_behind(self, index: int) -> None:
        for lost in self._segments[index + 1 :]:
            self._cut_bytes += lost.size
            lost.delete()
        del self._segments[index + 1 :]

    # -- producers

    def _load_producers(self, log_start_offset: int, log_end_offset: int) -> None:
        """Know the producers of a log that was stopped cleanly.

        Without any snapshot there are none, as in Kafka, which will not read a whole log for them then.
        Source: UnifiedLog.rebuildProducerState, Kafka 4.3.0.
        """
        newest_bases = [segment.base_offset for segment in self._segments[-2:]]
        if self._snapshots.latest_offset == NO_OFFSET:
            for base_offset in newest_bases:
                self._snapshots.write(base_offset, ())
            return
        offset = max(self._load_snapshot(log_end_offset), log_start_offset)
        for segment in self._segments:
            if segment.last_offset < offset:
                continue
            if segment.base_offset in newest_bases and segment.base_offset >= offset:
                self._snapshots.write(segment.base_offset, self._producers.active_producers())
            self._replay([segment], offset)

    def _load_snapshot(self, offset_max: int) -> int:
        """Know the producers of the newest snapshot up to offset_max, and return its offset; 0 where there is none."""
        snapshot = self._snapshots.load_newest(offset_max)
        if snapshot is None:
            return 0
        self._producers.reload(snapshot.entries, self._now_ms)
        return snapshot.offset

    def _replay(self, segments: list[LogSegment], offset: int) -> None:
        """Learn from the batches that begin at offset or later."""
        for segment in segments:
            found = segment.find_position(offset) if offset > segment.base_offset else None
            start = 0 if found is None else found.position
            if segment.last_offset < offset:
                continue
            for scanned in segment.scan(start, is_crc_checked=False):
                if scanned.header.base_offset >= offset:
                    replay_batch(self._producers, scanned, self._batches_remembered, None)
