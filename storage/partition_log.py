"""The log of a partition (Kafka: UnifiedLog): append, read, offset lookup, retention, flush.

Append: the batch is validated and its producer checked before a byte is written; the producer entry is committed after
the write. A refused batch leaves the log unchanged, except that it may have started a new segment. Received bytes are
never written to: base offset and leader epoch go to a copy of the first bytes of the header.
Offsets: log start offset <= last stable offset <= high watermark <= log end offset. Records before the log start are
not readable, even if their segment still exists. The high watermark is the replicated offset, which the log's replica
sets, or the log end without other replicas; with flush.messages=1 it is at most the recovery point. The last stable
offset is the first offset of the earliest open transaction, or the high watermark without one.
Flush: see log_flush. Recovery at start-up: see log_loader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..protocol.batches.record_batch import (
    HEADER_SIZE,
    PREFIX_SIZE,
    BatchHeader,
    TimestampType,
    parse_header,
    rewritten_header,
    stamped_prefix,
)
from ..protocol.error_codes import ErrorCode, KafkaError
from ..protocol.release_rules import ReleaseRules
from ..protocol.sequences import MAX_SEQUENCE
from .append_refused import AppendRefused
from .append_result import AppendResult
from .coordinator_batch import CoordinatorBatch, first_offset_of
from .decompressed_limit import validator_of
from .deleted_files import DeletedFiles
from .deleted_records import DeletedRecords, DeletionCause, Deletions
from .leader_epoch_cache import EpochEndOffset, LeaderEpochCache
from .log_config import LogConfig
from .log_files import partition_folder
from .log_flush import Flush, FlushState
from .log_folder import store_leader_epochs
from .log_loader import NEW_LOG, LoadState, LogLoader, LogLocation
from .log_retention import count_before_log_start, count_expired, count_over_size, requested_log_start
from .log_validator import LogValidator, ValidatedBatch
from .producers.producer_append_info import check_producer, duplicate_result, entry_after, is_next_in_order
from .producers.producer_replay import aborted_transaction, replay_batch
from .producers.producer_state_entry import CachedBatch, ProducerStateEntry
from .producers.producer_state_manager import ProducerStateManager
from .segments.batch_scan import ScannedBatch
from .segments.log_segment import LogSegment
from .segments.log_segments import FetchedRecords, LogSegments, TimestampOffset

_NO_LOG_APPEND_TIME: Final = -1

# A snapshot of more producers than this (1 us each) would block the appending thread; the next flush writes it.
_PRODUCERS_WRITTEN_AT_ONCE_MAX = 10_000


class PartitionLog:
    """The log of one partition on its leader; not thread-safe."""

    def __init__(self, location: LogLocation, config: LogConfig, *, now_ms: int, state: LoadState = NEW_LOG) -> None:
        """Load the log from its folder, and recover it if necessary; a folder without files is an empty log.

        now_ms: for the expiry of producers, and the age of a new segment whose batches have no timestamps.
        state: the checkpoints of the log. Raises OSError.
        """
        self._version = location.emulated_version
        self._batches_retained: int = location.emulated_version.batches_retained
        self.topic_partition = partition_folder(location.topic_name, location.partition)
        self._file_system = location.file_system
        self._config = config
        self._validator: LogValidator = validator_of(self.topic_partition, config, rules=self.rules)
        self._is_append_time: bool = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        loader = LogLoader(location.file_system, self.topic_partition, config, location.emulated_version, now_ms=now_ms)
        loaded = loader.load(state)
        self.producers: ProducerStateManager = loaded.producers
        self.leader_epochs: LeaderEpochCache = loaded.leader_epochs
        self._snapshots = loaded.snapshots
        self.segments: LogSegments = loaded.segments
        self.log_start_offset: int = loaded.log_start_offset
        self.log_end_offset: int = loaded.log_end_offset
        self.truncated_bytes = loaded.truncated_bytes
        self._are_epochs_stored = self._is_latest_epoch_stored = True
        self.flushes = FlushState(
            location.file_system,
            self.topic_partition,
            loaded.segments,
            loaded.snapshots,
            recovery_point=loaded.recovery_point,
            may_have_failed=not state.is_clean and loaded.recovery_point < loaded.log_end_offset,
            are_names_synced=loaded.is_unchanged,
        )
        self._loaded_end_offset = loaded.log_end_offset
        self.deleted_files = DeletedFiles(location.file_system, loaded.snapshots, self.flushes)
        self.is_being_cleaned = False
        self.deletions = Deletions()
        # The offset up to which the in-sync replicas have the log; None without other replicas.
        self.replicated_offset: int | None = None
        self.flushes.apply_config(config, loaded.log_end_offset)
        self._remove_deleted_producers()

    @property
    def rules(self) -> ReleaseRules:
        """The rules of the release that the log follows."""
        return self._version.rules

    @property
    def config(self) -> LogConfig:
        """The configuration; a new one applies from the next append."""
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self._validator = validator_of(self.topic_partition, config, rules=self.rules)
        self._is_append_time = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        self.producers.expiration_ms = config.producer_id_expiration_ms
        self.flushes.apply_config(config, self.log_end_offset)

    @property
    def high_watermark(self) -> int:
        """The offset up to which consumers may read: every in-sync replica has the records before it.

        With flush.messages=1 they are flushed too, because Kafka flushes before it responds.
        """
        visible_offset, replicated_offset = self.flushes.visible_offset, self.replicated_offset
        end_offset = self.log_end_offset if replicated_offset is None else replicated_offset
        return end_offset if visible_offset is None else min(end_offset, max(visible_offset, self.recovery_point))

    @property
    def last_stable_offset(self) -> int:
        """The offset before which every transaction has ended, with its marker below the high watermark."""
        return max(self.log_start_offset, self.producers.last_stable_offset(self.high_watermark))

    @property
    def size_bytes(self) -> int:
        """The bytes of all segments, including batches before the log start in the first one."""
        return self.segments.size_bytes

    def validate_in_thread(
        self, records: memoryview, now_ms: int, pause: Callable[[], None], *, ahead_ms: int = 0
    ) -> ValidatedBatch:
        """Return a validated batch for `append`, which has raised LongValidation for it. Raises AppendRefused.

        now_ms, ahead_ms: as for append.
        It is the one method that a thread may call: it depends on the configs of the log, and on nothing that changes.
        pause: lets other threads run.
        """
        validator = validator_of(self.topic_partition, self._config, pause, rules=self.rules)
        timestamps_ahead_ms = 0 if self._is_append_time else ahead_ms
        return validator.validate(records, now_ms - timestamps_ahead_ms, self.log_start_offset)

    def append(
        self,
        records: bytes | memoryview,
        *,
        now_ms: int,
        leader_epoch: int,
        ahead_ms: int = 0,
        validated: ValidatedBatch | None = None,
    ) -> AppendResult:
        """Append one v2 record batch and return its offsets.

        records: exactly one batch, as received; never written to.
        now_ms: milliseconds since the epoch, for LogAppendTime, the timestamp bounds and the age of the segment.
        ahead_ms: now_ms minus the time of the client's clock, see moved_timestamps. validated: from validate_in_thread.
        A duplicate of one of the producer's last five batches is not written; the original's offsets are returned.
        Raises AppendRefused; KAFKA_STORAGE_ERROR if a write fails, after which the batch may be sent again. Raises
        LongValidation for a batch that must be validated in a thread first.
        Source: UnifiedLog.append, Kafka 4.3.0.
        """
        if self.flushes.has_failed:
            raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, f"the last flush of {self.topic_partition} failed")
        log_start_offset = self.log_start_offset
        ahead_ms = 0 if self._is_append_time else ahead_ms
        validated = validated or self._validator.validate(records, now_ms - ahead_ms, log_start_offset)
        header, batch, max_timestamp, _ = validated
        last_offset_delta, producer_id = header.last_offset_delta, header.producer_id
        size = len(batch)
        if size > self._config.segment_bytes:
            raise self._refusal_of_size(size)
        base_offset = self.log_end_offset
        last_offset = base_offset + last_offset_delta
        self._roll_if_due(size, last_offset, max_timestamp + ahead_ms, now_ms)
        cached: tuple[CachedBatch, ...] = ()
        if producer_id < 0:
            self._write(validated, last_offset, now_ms, leader_epoch, ahead_ms)
        else:
            base_sequence = header.base_sequence
            last_sequence = (base_sequence + last_offset_delta) & MAX_SEQUENCE
            producers = self.producers
            entry = producers.find(producer_id)
            if entry is None or producers.unverified.is_any or not is_next_in_order(entry, header):
                duplicate = self._check_producer(entry, header, last_sequence)
                if duplicate is not None:
                    return duplicate_result(header, duplicate, entry, log_start_offset)
            self._write(validated, last_offset, now_ms, leader_epoch, ahead_ms)
            written = CachedBatch(base_sequence, last_sequence, base_offset, last_offset, max_timestamp)
            producers.commit(entry_after(entry, header, written, self._batches_retained), ahead_ms)
            cached = entry.batches if entry is not None else ()
        log_append_time_ms = now_ms if self._is_append_time else _NO_LOG_APPEND_TIME
        return AppendResult((base_offset, last_offset), log_append_time_ms, log_start_offset, header, cached)

    def _refusal_of_size(self, size: int) -> AppendRefused:
        limit = self._config.segment_bytes
        return AppendRefused(ErrorCode.RECORD_LIST_TOO_LARGE, f"a batch of {size} bytes, segment.bytes is {limit}")

    def append_coordinated(self, coordinated: CoordinatorBatch, *, now_ms: int, leader_epoch: int) -> AppendResult:
        """Append a coordinator's batch, such as a transaction marker, and return its offsets.

        Raises AppendRefused: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, KAFKA_STORAGE_ERROR.
        """
        if self.flushes.has_failed:
            raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, f"the last flush of {self.topic_partition} failed")
        producers, base_offset = self.producers, self.log_end_offset
        entry = producers.find(coordinated.producer_id)
        coordinated.check(entry)
        batch = memoryview(coordinated.as_batch(now_ms))
        header = parse_header(batch).replaced(base_offset=base_offset)
        last_offset, timestamp = header.last_offset, now_ms if self._is_append_time else header.max_timestamp
        try:
            if self.segments.active.should_roll(len(batch), last_offset, timestamp, self._config, now_ms):
                self._roll(now_ms)
            index = self.segments.active.transaction_index
            index.add_before_marker(base_offset, aborted_transaction(producers, coordinated.aborts_from(entry), header))
        except OSError as error:
            raise self._storage_error(error) from error
        try:
            self._write((header, batch, timestamp, self._is_append_time), last_offset, now_ms, leader_epoch)
        except AppendRefused:
            index.remove_unwritten(base_offset)
            raise
        after = coordinated.entry_after(entry, header, self._batches_retained)
        # A coordinator sets the timestamps by the broker's clock.
        producers.commit(after, ahead_ms=0)
        if header.is_control:
            producers.unverified.discard_ended(header)
        if first_offset_of(after) is None:
            self._delay_stable_offset(first_offset_of(entry), last_offset)
        log_append_time_ms = now_ms if self._is_append_time else _NO_LOG_APPEND_TIME
        return AppendResult((base_offset, last_offset), log_append_time_ms, self.log_start_offset, header, ())

    def append_replicated(self, batch: memoryview, *, now_ms: int, source: PartitionLog | None = None) -> None:
        """Append a batch of the leader's log as it is: with its offsets, its leader epoch and no check.

        batch: must begin at the log end, or after it where the leader's log was compacted. now_ms: the time for the age
        of the segment. source: the leader's log if the batch is its last one, to share its memory.
        Raises AppendRefused KAFKA_STORAGE_ERROR.
        Source: UnifiedLog.appendAsFollower, Kafka 4.3.0.
        """
        header = parse_header(batch)
        end_offset = self.log_end_offset
        assert header.base_offset >= end_offset, f"{header.base_offset} is before the end {end_offset}"
        last_offset, max_timestamp = header.last_offset, header.max_timestamp
        self._roll_if_due(len(batch), last_offset, max_timestamp, now_ms)
        segment, epoch = self.segments.active, header.partition_leader_epoch
        position, index = segment.size, segment.transaction_index
        shared = None if source is None else source.segments.active
        try:
            if epoch < self.leader_epochs.latest_epoch:
                self._drop_unused_epochs(header.base_offset)
            if epoch != self.leader_epochs.latest_epoch or not self._is_latest_epoch_stored:
                self._assign_leader_epoch(epoch, header.base_offset)
            is_same = shared is not None and shared.base_offset == segment.base_offset
            segment.append_stored(batch, last_offset, max_timestamp, shared if is_same else None)
        except OSError as error:
            raise self._storage_error(error) from error
        segment.modified_ms = now_ms
        self.log_end_offset = last_offset + 1
        ended_offset = first_offset_of(self.producers.find(header.producer_id)) if header.is_control else None
        replay_batch(self.producers, ScannedBatch(header, position, batch), self._batches_retained, index)
        self._delay_stable_offset(ended_offset, last_offset)

    def _delay_stable_offset(self, first_offset: int | None, marker_offset: int) -> None:
        """Keep a transaction that has just ended unstable until its marker is below the high watermark."""
        is_visible_later = self.flushes.visible_offset is not None or self.replicated_offset is not None
        if first_offset is not None and is_visible_later:
            self.producers.delay_stable_offset(first_offset, marker_offset)

    def _roll_if_due(self, size: int, last_offset: int, timestamp: int, now_ms: int) -> None:
        """Start a new active segment if a batch must go there, see LogSegment.should_roll. Raises AppendRefused."""
        active: LogSegment = self.segments.active
        if active.should_roll(size, last_offset, timestamp, self._config, now_ms):
            self._roll_for_append(now_ms)

    def _roll_for_append(self, now_ms: int) -> None:
        """Start a new active segment. Raises AppendRefused KAFKA_STORAGE_ERROR."""
        try:
            self._roll(now_ms)
        except OSError as error:
            raise self._storage_error(error) from error

    def finish_active_segment(self, now_ms: int) -> None:
        """Start a new active segment unless the present one is empty, as segment.ms does. Raises AppendRefused."""
        if self.segments.active.size:
            self._roll_for_append(now_ms)

    def _roll(self, now_ms: int) -> None:
        """Start a new active segment at the log end, and write the producer snapshot of that offset."""
        offset = self.log_end_offset
        entries = self.producers.active_producers()
        if len(entries) <= _PRODUCERS_WRITTEN_AT_ONCE_MAX:
            self._snapshots.write(offset, entries, log_start_offset=self.log_start_offset)
        else:
            self.flushes.defer_snapshot(offset, list(entries))
        self.segments.roll(offset, self._config, now_ms)
        self.flushes.note_changed_names()

    def _check_producer(
        self, entry: ProducerStateEntry | None, header: BatchHeader, last_sequence: int
    ) -> CachedBatch | None:
        """Return the cached batch that this one repeats, or None; raises AppendRefused."""
        unverified = self.producers.unverified.find(header.producer_id)
        is_empty = not self.log_end_offset
        try:
            return check_producer(entry, header, last_sequence, self._version, unverified, is_log_empty=is_empty)
        except AppendRefused as refused:
            refused.log_start_offset = self.log_start_offset
            raise

    def _write(
        self, validated: ValidatedBatch, last_offset: int, now_ms: int, leader_epoch: int, ahead_ms: int = 0
    ) -> None:
        """Write the batch to the active segment with its base offset and leader epoch set."""
        header, batch, max_timestamp, is_rewritten = validated
        base_offset = self.log_end_offset
        if is_rewritten:
            body = batch[HEADER_SIZE:]
            head = rewritten_header(
                header,
                body,
                base_offset=base_offset,
                partition_leader_epoch=leader_epoch,
                timestamp_type=self._config.message_timestamp_type,
                max_timestamp=max_timestamp,
            )
        else:
            head = stamped_prefix(base_offset, header.length, leader_epoch)
            if isinstance(batch, bytes):
                # A small batch: one write costs less than two.
                head, body = head + batch[PREFIX_SIZE:], b""
            else:
                body = batch[PREFIX_SIZE:]
        segment: LogSegment = self.segments.active
        try:
            if leader_epoch != self.leader_epochs.latest_epoch or not self._is_latest_epoch_stored:
                self.assign_leader_epoch(leader_epoch)
            segment.append(head, body, last_offset, max_timestamp, ahead_ms)
        except OSError as error:
            raise self._storage_error(error) from error
        segment.modified_ms = now_ms
        self.log_end_offset = last_offset + 1

    def _storage_error(self, error: OSError) -> AppendRefused:
        return AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.topic_partition}: {error}")

    def read(self, offset: int, max_bytes: int, *, upper_offset: int, min_one_batch: bool) -> FetchedRecords:
        """Return views of the batches from the one that contains offset, up to max_bytes and before upper_offset.

        min_one_batch: whether the first batch is returned whole even if it is larger than max_bytes.
        The last batch may be cut. Only one segment is read, as in Kafka.
        Raises KafkaError OFFSET_OUT_OF_RANGE below the log start and above the log end.
        """
        self.check_offset(offset)
        if offset >= upper_offset:
            return FetchedRecords([], 0)
        return self.segments.read(offset, max_bytes, upper_offset=upper_offset, min_one_batch=min_one_batch)

    def check_offset(self, offset: int) -> None:
        """Raise KafkaError OFFSET_OUT_OF_RANGE below the log start and above the log end."""
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.topic_partition} is not within "
                f"{self.log_start_offset}..{self.log_end_offset}",
            )

    def offset_for_timestamp(self, timestamp_ms: int, *, is_on_brokers_clock: bool = False) -> TimestampOffset | None:
        """Return the first record with a timestamp of at least timestamp_ms. See LogSegments.find_by_timestamp."""
        return self.segments.find_by_timestamp(
            timestamp_ms, self.log_start_offset, is_on_brokers_clock=is_on_brokers_clock
        )

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """Return the first record that has the greatest timestamp of the log."""
        return self.segments.find_max_timestamp()

    def assign_leader_epoch(self, leader_epoch: int) -> None:
        """Start a leader epoch at the log end and store it; raises OSError."""
        self._assign_leader_epoch(leader_epoch, self.log_end_offset)

    def _assign_leader_epoch(self, leader_epoch: int, start_offset: int) -> None:
        if self.leader_epochs.assign(leader_epoch, start_offset):
            self._are_epochs_stored = self._is_latest_epoch_stored = False
        self._store_leader_epochs()

    def _drop_unused_epochs(self, offset: int) -> None:
        """Drop the epochs that start at an offset where records of an earlier one are fetched.

        This replica was the leader then, or had records of these epochs that were truncated.
        Source: LeaderEpochFileCache.maybeTruncateNonMonotonicEntries, Kafka 4.3.0.
        """
        self.leader_epochs.truncate_from_end(offset - 1)
        self._are_epochs_stored = self._is_latest_epoch_stored = False

    def _store_leader_epochs(self) -> None:
        if not self._are_epochs_stored:
            store_leader_epochs(self._file_system, self.topic_partition, self.leader_epochs)
            self._are_epochs_stored = self._is_latest_epoch_stored = True
            self.flushes.note_changed_names()

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEndOffset:
        """Return where the epoch ended; -1 and -1 for an epoch after the latest."""
        return self.leader_epochs.end_offset_for(leader_epoch, self.log_end_offset)

    def delete_records_before(self, offset: int) -> int:
        """Move the log start forward to offset, and return the log start; it never moves back.

        offset: DELETE_UP_TO_HIGH_WATERMARK for all records. The next enforce_retention deletes the segments.
        Raises KafkaError: POLICY_VIOLATION on a topic without cleanup.policy=delete, OFFSET_OUT_OF_RANGE.
        Source: Partition.deleteRecordsOnLeader, Kafka 4.3.0.
        """
        requested = requested_log_start(offset, self.high_watermark, self._config, self.topic_partition)
        self._advance_log_start(requested, DeletionCause.DELETE_RECORDS, requested)
        return self.log_start_offset

    def follow_log_start(self, offset: int) -> None:
        """Move the log start forward to that of the leader."""
        self._advance_log_start(offset, DeletionCause.DELETE_RECORDS, offset)

    def _advance_log_start(self, offset: int, cause: DeletionCause, limit: int) -> None:
        if offset > self.log_start_offset:
            self.deletions.add(DeletedRecords(self.log_start_offset, offset, cause, limit))
            self.log_start_offset = offset
            # Not stored here, to save a sync: loading drops the same epochs again.
            if self.leader_epochs.truncate_from_start(offset):
                self._are_epochs_stored = False
            self._remove_deleted_producers()

    def _remove_deleted_producers(self) -> None:
        """Remove the producers whose batches are deleted, in a release that does not keep them."""
        if not self._version.keeps_deleted_producers:
            self.producers.remove_before(self.log_start_offset)

    def discard_records(self) -> None:
        """Delete all records below the high watermark, for Records.DISCARDED; see delete_records_before."""
        self._advance_log_start(self.high_watermark, DeletionCause.DISCARDED, 0)

    def enforce_retention(self, now_ms: int) -> int:
        """Delete the oldest segments by log start, retention.bytes and retention.ms, and return their number.

        Does nothing while the log is being cleaned.
        Source: UnifiedLog.deleteOldSegments, Kafka 4.3.0.
        """
        if self.is_being_cleaned:
            return 0
        config, log_start_offset = self._config, self.log_start_offset
        # Their records were deleted before.
        count = count_before_log_start(self.segments, log_start_offset)
        deleted = self._delete_oldest(count, now_ms, DeletionCause.DELETE_RECORDS, log_start_offset)
        if config.is_deleting:
            count = count_over_size(self.segments, config)
            deleted += self._delete_oldest(count, now_ms, DeletionCause.RETENTION_BYTES, config.retention_bytes)
            count = count_expired(self.segments, config, now_ms)
            deleted += self._delete_oldest(count, now_ms, DeletionCause.RETENTION_MS, config.retention_ms)
        return deleted

    def _delete_oldest(self, count: int, now_ms: int, cause: DeletionCause, limit: int) -> int:
        if count == len(self.segments):
            # A log always has an active segment.
            self._roll(now_ms)
        if count:
            *oldest, kept = self.segments.oldest(count + 1)
            # Before the deletion, so that no reader gets the segments even if the deletion fails.
            self._advance_log_start(kept.base_offset, cause, limit)
            for segment in oldest:
                self.delete_segment(segment, now_ms)
                self.segments.remove_oldest()
        return count

    def delete_segment(self, segment: LogSegment, now_ms: int, *, is_replaced: bool = False) -> None:
        """Rename the files of a segment that is no longer read; they are deleted after file.delete.delay.ms."""
        self.deleted_files.add_segment(segment, now_ms + self._config.file_delete_delay_ms, is_replaced=is_replaced)

    # -- flush and close

    @property
    def recovery_point(self) -> int:
        """The first offset that may be lost in a crash of the machine."""
        return self.flushes.recovery_point

    @property
    def is_flush_due(self) -> bool:
        """Whether flush.messages requires a flush before the newest batches are acknowledged."""
        return self.log_end_offset - self.recovery_point >= self._config.flush_messages

    @property
    def has_unflushed_segments(self) -> bool:
        """Whether a segment before the active one is not flushed yet."""
        return self.segments.active.base_offset > self.recovery_point

    def begin_flush(self) -> Flush:
        """Return a flush of all current batches; after its run, call finish_flush or fail_flush."""
        return self.flushes.begin(self.log_end_offset, self._config)

    def finish_flush(self, flush: Flush) -> None:
        """Advance the recovery point to the end of a flush that has run; appends are accepted again."""
        self.flushes.finish(flush)

    def fail_flush(self) -> None:
        """Refuse all appends until a later flush succeeds, because the unflushed batches may be lost."""
        self.flushes.has_failed = True

    def close(self) -> None:
        """Cut the indexes, write the producer snapshot, sync everything and close the files. Raises OSError.

        Source: UnifiedLog.close, Kafka 4.3.0.
        """
        self.segments.active.truncate_tail()
        self.segments.active.finish()
        self._store_leader_epochs()
        latest_snapshot = self._snapshots.latest_offset
        self._snapshots.write(
            self.log_end_offset, self.producers.active_producers(), log_start_offset=self.log_start_offset
        )
        if self._snapshots.latest_offset != latest_snapshot:
            self.flushes.note_changed_names()
        # Without a write since loading there is nothing to sync.
        if self.log_end_offset != self._loaded_end_offset or self.flushes.has_unsynced_names:
            flush = self.begin_flush()
            flush.run()
            for step in self.segments.active.index_sync_steps():
                step()
            self.finish_flush(flush)
        self.segments.close()

    def cut(self, end_offset: int) -> None:
        """Truncate the files to the records before end_offset, and close them. The log must be loaded again.

        Newer segments go first: a crash in between leaves a log without a gap.
        Source: UnifiedLog.truncateTo, Kafka 4.3.0.
        """
        first, *others = self.segments
        for segment in reversed(others):
            if segment.base_offset >= end_offset:
                segment.delete()
            else:
                segment.truncate_from(end_offset)
        first.truncate_from(end_offset)
        self.segments.close()

    def abandon(self) -> None:
        """Close the files without a flush, for a deleted log or a simulated crash of the broker."""
        self.segments.close()
