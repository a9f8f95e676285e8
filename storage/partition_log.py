"""A partition's log: validate, assign offsets, append; read, look up, let go of what is old (Kafka: UnifiedLog).

A batch is checked as a whole before a byte of it is written, and its producer is committed after. Received bytes are
never written to.
"""

from __future__ import annotations

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
from ..protocol.sequences import MAX_SEQUENCE
from .append_refused import AppendRefused
from .append_result import AppendResult, append_result
from .coordinator_batch import CoordinatorBatch
from .deleted_files import DeletedFiles
from .leader_epoch_cache import EpochEndOffset
from .log_config import LogConfig
from .log_files import partition_folder
from .log_flush import Flush, FlushState
from .log_folder import store_leader_epochs
from .log_loader import NEW_LOG, LoadState, LogLoader, LogPlace
from .log_retention import count_before, count_too_many_bytes, count_too_old, start_asked_for
from .log_validator import LogValidator, ValidatedBatch
from .producers.producer_append_info import check_producer, entry_after, is_next_in_order, repeated_result
from .producers.producer_replay import aborted_transaction
from .producers.producer_state_entry import CachedBatch, ProducerStateEntry, cached_batch
from .segments.log_segment import LogSegment
from .segments.log_segments import FetchedRecords, TimestampOffset

_NO_LOG_APPEND_TIME = -1

# A snapshot of more producers than this is written with the next flush, off the thread that appends: it takes longer
# than a batch may (1 us a producer).
_PRODUCERS_WRITTEN_AT_ONCE_MAX = 10_000


class PartitionLog:
    """The log of one partition on its leader; not safe for threads."""

    def __init__(self, place: LogPlace, config: LogConfig, *, now_ms: int, state: LoadState = NEW_LOG) -> None:
        """Load the log from its folder, and recover it where that is needed; a folder without files is an empty log.

        now_ms: when; producers expire by it, and a new segment counts from there if its batches have no timestamps.
        state: what is known of how the log was left. Raises OSError.
        """
        self._rules = place.emulated_version
        self._batches_remembered = place.emulated_version.batches_remembered
        self.topic_partition = partition_folder(place.topic_name, place.partition)
        self._file_system = place.file_system
        self._config = config
        self._validator = LogValidator(self.topic_partition, config)
        self._is_append_time = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        loader = LogLoader(place.file_system, self.topic_partition, config, place.emulated_version, now_ms=now_ms)
        loaded = loader.load(state)
        self.producers = loaded.producers
        self.leader_epochs = loaded.leader_epochs
        self._snapshots = loaded.snapshots
        self.segments = loaded.segments
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.cut_bytes = loaded.cut_bytes
        self._are_epochs_stored = self._is_latest_epoch_stored = True
        self.flushes = FlushState(
            place.file_system,
            self.topic_partition,
            loaded.segments,
            loaded.snapshots,
            recovery_point=loaded.recovery_point,
            # Before a crash a flush may have failed, of which nothing is left to tell.
            is_doubtful=not state.is_clean and loaded.recovery_point < loaded.log_end_offset,
            is_folder_safe=loaded.is_as_left,
        )
        self._loaded_end_offset = loaded.log_end_offset
        self.deleted_files = DeletedFiles(place.file_system, loaded.snapshots, self.flushes)
        self.is_being_cleaned = False
        self.flushes.follow(config, loaded.log_end_offset)

    @property
    def config(self) -> LogConfig:
        """What the log keeps to; a new one holds from the next append on."""
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self._validator = LogValidator(self.topic_partition, config)
        self._is_append_time = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        self.producers.expiration_ms = config.producer_id_expiration_ms
        self.flushes.follow(config, self.log_end_offset)

    @property
    def high_watermark(self) -> int:
        """The offset up to which every replica has the records: the end of the log, as there is one replica.

        With flush.messages=1 it is where the flushed part ends: Kafka flushes before it lets anybody see the records.
        """
        seen_offset = self.flushes.seen_offset
        return self.log_end_offset if seen_offset is None else max(seen_offset, self.flushes.recovery_point)

    @property
    def last_stable_offset(self) -> int:
        """The offset up to which every transaction is decided, and its marker seen."""
        return self.producers.stable_before(self.high_watermark)

    @property
    def size_bytes(self) -> int:
        """The bytes of all batches in the log, those before the log start in its first segment included."""
        return self.segments.size_bytes

    def append(self, records: memoryview, *, now_ms: int, leader_epoch: int) -> AppendResult:
        """Append one v2 record batch and return where it went.

        records: one batch as it came, without anything behind it; never written to.
        now_ms: milliseconds since the epoch, for LogAppendTime, the bounds of timestamps and the age of the segment.
        A duplicate of one of the producer's last five batches is not written; the original's offsets are returned.
        Raises AppendRefused; the log is then unchanged, but may have begun a new segment. KAFKA_STORAGE_ERROR is for
        files that refuse; the batch may be sent again.
        Source: UnifiedLog.append, Kafka 4.3.0.
        """
        if self.flushes.has_failed:
            raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.topic_partition} could not be flushed")
        log_start_offset = self.log_start_offset
        validated = self._validator.validate(records, now_ms, log_start_offset)
        header, batch, max_timestamp, _ = validated
        _, _, _, _, _, _, last_offset_delta, _, _, producer_id, _, base_sequence, _ = header
        config = self._config
        size = len(batch)
        if size > config.segment_bytes:
            limit = config.segment_bytes
            raise AppendRefused(ErrorCode.RECORD_LIST_TOO_LARGE, f"a batch of {size} bytes, segment.bytes is {limit}")
        base_offset = self.log_end_offset
        last_offset = base_offset + last_offset_delta
        segments = self.segments
        if segments.active.should_roll(size, last_offset, max_timestamp, config, now_ms):
            try:
                self._roll(now_ms)
            except OSError as error:
                raise self._refused_by_files(error) from error
        cached: tuple[CachedBatch, ...] = ()
        if producer_id < 0:
            self._write(validated, last_offset, now_ms, leader_epoch)
        else:
            last_sequence = (base_sequence + last_offset_delta) & MAX_SEQUENCE
            producers = self.producers
            entry = producers.find(producer_id)
            if entry is None or producers.unverified.is_any or not is_next_in_order(entry, header):
                duplicate = self._check_producer(entry, header, last_sequence)
                if duplicate is not None:
                    return repeated_result(header, duplicate, entry, log_start_offset)
            self._write(validated, last_offset, now_ms, leader_epoch)
            written = cached_batch((base_sequence, last_sequence, base_offset, last_offset, max_timestamp))
            producers.commit(entry_after(entry, header, written, self._batches_remembered))
            cached = entry.batches if entry is not None else ()
        log_append_time_ms = now_ms if self._is_append_time else _NO_LOG_APPEND_TIME
        return append_result((base_offset, last_offset, log_append_time_ms, log_start_offset, False, header, cached))

    def append_coordinated(self, coordinated: CoordinatorBatch, *, now_ms: int, leader_epoch: int) -> AppendResult:
        """Append what a coordinator writes for a transaction, its end perhaps, and return where it went.

        Raises AppendRefused: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, KAFKA_STORAGE_ERROR; no harm done.
        """
        if self.flushes.has_failed:
            raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.topic_partition} could not be flushed")
        producers, base_offset = self.producers, self.log_end_offset
        entry = producers.find(coordinated.producer_id)
        coordinated.check(entry)
        batch = memoryview(coordinated.as_batch(now_ms))
        header = parse_header(batch)._replace(base_offset=base_offset)
        last_offset, timestamp = header.last_offset, now_ms if self._is_append_time else header.max_timestamp
        try:
            if self.segments.active.should_roll(len(batch), last_offset, timestamp, self._config, now_ms):
                self._roll(now_ms)
            index = self.segments.active.transaction_index
            index.begin(base_offset, aborted_transaction(producers, coordinated.aborts_from(entry), header))
        except OSError as error:
            raise self._refused_by_files(error) from error
        try:
            self._write((header, batch, timestamp, self._is_append_time), last_offset, now_ms, leader_epoch)
        except AppendRefused:
            index.take_back(base_offset)
            raise
        after = coordinated.entry_after(entry, header, self._batches_remembered)
        producers.commit(after)
        if header.is_control:
            producers.unverified.ended(header)
        if self.flushes.seen_offset is not None:
            producers.hold_back(entry, after, last_offset)
        log_append_time_ms = now_ms if self._is_append_time else _NO_LOG_APPEND_TIME
        return AppendResult(base_offset, last_offset, log_append_time_ms, self.log_start_offset, False, header, ())

    def _roll(self, now_ms: int) -> None:
        """Begin a new active segment at the end of the log, with a snapshot of the producers up to there."""
        offset = self.log_end_offset
        entries = self.producers.active_producers()
        if len(entries) <= _PRODUCERS_WRITTEN_AT_ONCE_MAX:
            self._snapshots.write(offset, entries, log_start_offset=self.log_start_offset)
        else:
            self.flushes.write_snapshot_later(offset, list(entries))
        self.segments.roll(offset, self._config, now_ms)
        self.flushes.names_changed()

    def _check_producer(
        self, entry: ProducerStateEntry | None, header: BatchHeader, last_sequence: int
    ) -> CachedBatch | None:
        """Return the batch that this one repeats, or None for one that may be appended; raises AppendRefused."""
        unverified = self.producers.unverified.find(header.producer_id)
        is_empty = not self.log_end_offset
        try:
            return check_producer(entry, header, last_sequence, self._rules, unverified, is_log_empty=is_empty)
        except AppendRefused as refused:
            refused.log_start_offset = self.log_start_offset
            raise

    def _write(self, validated: ValidatedBatch, last_offset: int, now_ms: int, leader_epoch: int) -> None:
        """Put the batch behind all others, stamped with its offset and the leader's epoch."""
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
            body = batch[PREFIX_SIZE:]
        segment = self.segments.active
        try:
            if leader_epoch != self.leader_epochs.latest_epoch or not self._is_latest_epoch_stored:
                self.assign_leader_epoch(leader_epoch)
            segment.append(head, body, last_offset, max_timestamp)
        except OSError as error:
            raise self._refused_by_files(error) from error
        segment.modified_ms = now_ms
        self.log_end_offset = last_offset + 1

    def _refused_by_files(self, error: OSError) -> AppendRefused:
        return AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.topic_partition}: {error}")

    def read(self, offset: int, max_bytes: int, *, upper_offset: int, min_one_batch: bool) -> FetchedRecords:
        """Return batches from the one that holds offset, up to max_bytes and to upper_offset; views, not copies.

        upper_offset: the reader sees nothing at or behind it.
        min_one_batch: whether the first batch comes whole even if it is larger than max_bytes.
        The last batch may be cut. Only one segment is read from, as Kafka does.
        Raises KafkaError OFFSET_OUT_OF_RANGE below the log start and above the log end.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.topic_partition}, which has {self.log_start_offset}..{self.log_end_offset}",
            )
        if offset >= upper_offset:
            return FetchedRecords([], 0)
        return self.segments.read(offset, max_bytes, upper_offset=upper_offset, min_one_batch=min_one_batch)

    def offset_for_timestamp(self, timestamp_ms: int) -> TimestampOffset | None:
        """Return the first record of the log at or after timestamp_ms."""
        return self.segments.find_by_timestamp(timestamp_ms, self.log_start_offset)

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """Return the first record with the greatest timestamp of the log."""
        return self.segments.find_max_timestamp()

    def assign_leader_epoch(self, leader_epoch: int) -> None:
        """Begin a leader epoch at the end of the log, as a new leader does before it takes batches; raises OSError."""
        if self.leader_epochs.assign(leader_epoch, self.log_end_offset):
            self._are_epochs_stored = self._is_latest_epoch_stored = False
        self._store_leader_epochs()

    def _store_leader_epochs(self) -> None:
        if not self._are_epochs_stored:
            store_leader_epochs(self._file_system, self.topic_partition, self.leader_epochs)
            self._are_epochs_stored = self._is_latest_epoch_stored = True
            self.flushes.names_changed()

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEndOffset:
        """Return where the epoch ended; see LeaderEpochCache.end_offset_for."""
        return self.leader_epochs.end_offset_for(leader_epoch, self.log_end_offset)

    def delete_records_before(self, offset: int) -> int:
        """Move the log start up to offset and return where it is then; it never moves back.

        offset: DELETE_UP_TO_HIGH_WATERMARK for all records.
        Raises KafkaError: POLICY_VIOLATION on a topic that is not deleted from, OFFSET_OUT_OF_RANGE.
        Source: Partition.deleteRecordsOnLeader, Kafka 4.3.0. Segments go with the next enforce_retention.
        """
        wanted = start_asked_for(offset, self.high_watermark, self._config, self.topic_partition)
        self._advance_log_start(wanted)
        return self.log_start_offset

    def _advance_log_start(self, offset: int) -> None:
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            # Stored with the next epoch or by close, not here, where it would be a sync: a start forgets the same ones.
            if self.leader_epochs.truncate_from_start(offset):
                self._are_epochs_stored = False

    def enforce_retention(self, now_ms: int) -> int:
        """Delete the oldest segments that are before the log start, too many bytes or too old; return how many.

        A log that is being cleaned is left alone until that is done.
        Source: UnifiedLog.deleteOldSegments, Kafka 4.3.0.
        """
        if self.is_being_cleaned:
            return 0
        deleted = self._delete_oldest(count_before(self.segments, self.log_start_offset), now_ms)
        if self._config.is_deleting:
            deleted += self._delete_oldest(count_too_many_bytes(self.segments, self._config), now_ms)
            deleted += self._delete_oldest(count_too_old(self.segments, self._config, now_ms), now_ms)
        return deleted

    def _delete_oldest(self, count: int, now_ms: int) -> int:
        if count == len(self.segments):
            # There is always a segment to append to.
            self._roll(now_ms)
        if count:
            *oldest, kept = self.segments.oldest(count + 1)
            # First, so that nobody reads from what is about to go, whatever a file refuses.
            self._advance_log_start(kept.base_offset)
            for segment in oldest:
                self.delete_segment(segment, now_ms)
                self.segments.remove_oldest()
        return count

    def delete_segment(self, segment: LogSegment, now_ms: int, *, is_replaced: bool = False) -> None:
        """Give up the files of a segment that is no longer read from; see DeletedFiles."""
        self.deleted_files.add_segment(segment, now_ms + self._config.file_delete_delay_ms, is_replaced=is_replaced)

    # -- what a crash of the machine leaves

    @property
    def recovery_point(self) -> int:
        """The first offset that is not known to be safe from a crash of the machine."""
        return self.flushes.recovery_point

    @property
    def is_flush_due(self) -> bool:
        """Whether flush.messages asks for a flush before anybody is told that the newest batches are there."""
        return self.log_end_offset - self.recovery_point >= self._config.flush_messages

    @property
    def has_unflushed_segments(self) -> bool:
        """Whether a segment that takes no more batches waits to be flushed, as each does once."""
        return self.segments.active.base_offset > self.recovery_point

    def begin_flush(self) -> Flush:
        """Return what makes all that is in the log now safe; then finish_flush or fail_flush it. See FlushState."""
        return self.flushes.begin(self.log_end_offset, self._config)

    def finish_flush(self, flush: Flush) -> None:
        """Take note that the flush was run: what it covers is safe, and the log takes batches."""
        self.flushes.finish(flush)

    def fail_flush(self) -> None:
        """Take note that a flush failed: nothing is known to be safe, and no batch is taken until one succeeds."""
        self.flushes.has_failed = True

    def close(self) -> None:
        """Leave the log as a clean stop does: indexes cut, producers written, all of it safe. Raises OSError.

        Nothing is appended or read any more. Source: UnifiedLog.close, Kafka 4.3.0.
        """
        self.segments.active.cut_tail()
        self.segments.active.finish()
        self._store_leader_epochs()
        latest_snapshot = self._snapshots.latest_offset
        self._snapshots.write(
            self.log_end_offset, self.producers.active_producers(), log_start_offset=self.log_start_offset
        )
        if self._snapshots.latest_offset != latest_snapshot:
            self.flushes.names_changed()
        # A log that nothing was written to costs a clean stop nothing.
        if self.log_end_offset != self._loaded_end_offset or self.flushes.has_changed_names:
            flush = self.begin_flush()
            flush.run()
            for step in self.segments.active.index_sync_steps():
                step()
            self.finish_flush(flush)
        self.segments.close()

    def abandon(self) -> None:
        """Give back what the open files cost, and leave them as they are: the log is deleted, or its broker died."""
        self.segments.close()
