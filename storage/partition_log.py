"""A partition's log: validate, assign offsets, append; read, look up, let go of what is old (Kafka: UnifiedLog).

A batch is checked as a whole before a byte of it is written, and its producer is committed after. Received bytes are
never written to.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.error_codes import ErrorCode, KafkaError
from ..protocol.record_batch import (
    HEADER_SIZE,
    MAX_SEQUENCE,
    PREFIX_SIZE,
    BatchHeader,
    TimestampType,
    rewritten_header,
    stamped_prefix,
)
from .append_refused import AppendRefused
from .append_result import AppendResult
from .emulated_version import EmulatedVersion
from .file_system import FileSystem
from .leader_epoch_cache import EpochEndOffset, LeaderEpochCache
from .log_config import LogConfig
from .log_files import partition_folder
from .log_retention import count_before, count_too_many_bytes, count_too_old
from .log_segments import FetchedRecords, LogSegments, TimestampOffset
from .log_validator import LogValidator, ValidatedBatch
from .producer_append_info import (
    check_known_producer,
    check_unknown_producer,
    entry_after,
    find_duplicate,
    is_next_in_order,
)
from .producer_state_entry import CachedBatch, ProducerStateEntry, cached_batch
from .producer_state_manager import ProducerStateManager

__all__ = ["AppendRefused", "AppendResult", "FetchedRecords", "LogPlace", "PartitionLog", "TimestampOffset"]

_NO_LOG_APPEND_TIME = -1

# In DeleteRecords this offset stands for the high watermark.
DELETE_UP_TO_HIGH_WATERMARK = -1


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where a log lives, and whose producer rules it follows."""

    file_system: FileSystem
    topic_name: str
    partition: int
    emulated_version: EmulatedVersion


class PartitionLog:
    """The log of one partition on its leader; not safe for threads."""

    def __init__(self, place: LogPlace, config: LogConfig, *, now_ms: int) -> None:
        """Start an empty log.

        now_ms: when; the first segment counts from there if its batches have no timestamps.
        """
        self._rules = place.emulated_version
        self._batches_remembered = place.emulated_version.batches_remembered
        self.topic_partition = partition_folder(place.topic_name, place.partition)
        self.producers = ProducerStateManager(config.producer_id_expiration_ms)
        self.leader_epochs = LeaderEpochCache()
        self._config = config
        self._validator = LogValidator(self.topic_partition, config)
        self._is_append_time = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        self.log_start_offset = 0
        self.log_end_offset = 0
        self._segments = LogSegments(place.file_system, self.topic_partition, config, now_ms)

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

    @property
    def high_watermark(self) -> int:
        """The offset up to which every replica has the records: the end of the log, as there is one replica."""
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        """The offset up to which every transaction is decided."""
        unstable = self.producers.first_unstable_offset
        return self.high_watermark if unstable is None else min(unstable, self.high_watermark)

    @property
    def size_bytes(self) -> int:
        """The bytes of all batches in the log, those before the log start in its first segment included."""
        return self._segments.size_bytes

    @property
    def segment_count(self) -> int:
        """How many segments the log has, the active one included."""
        return len(self._segments)

    def append(self, records: memoryview, *, now_ms: int, leader_epoch: int) -> AppendResult:
        """Append one v2 record batch and return where it went.

        records: one batch as it came, without anything behind it; never written to.
        now_ms: milliseconds since the epoch, for LogAppendTime, the bounds of timestamps and the age of the segment.
        A duplicate of one of the producer's last five batches is not written; the original's offsets are returned.
        Raises AppendRefused; the log is then unchanged, but may have begun a new segment.
        Source: UnifiedLog.append, Kafka 4.3.0.
        """
        validated = self._validator.validate(records, now_ms, self.log_start_offset)
        header = validated.header
        config = self._config
        size = len(validated.batch)
        if size > config.segment_bytes:
            limit = config.segment_bytes
            raise AppendRefused(ErrorCode.RECORD_LIST_TOO_LARGE, f"a batch of {size} bytes, segment.bytes is {limit}")
        base_offset = self.log_end_offset
        last_offset = base_offset + header.last_offset_delta
        segments = self._segments
        if segments.active.should_roll(size, last_offset, validated.max_timestamp, config, now_ms):
            segments.roll(base_offset, config, now_ms)
        cached: tuple[CachedBatch, ...] = ()
        if header.producer_id < 0:
            self._write(validated, last_offset, now_ms, leader_epoch)
        else:
            last_sequence = (header.base_sequence + header.last_offset_delta) & MAX_SEQUENCE
            entry = self.producers.find(header.producer_id)
            if entry is None or not is_next_in_order(entry, header):
                duplicate = self._check_producer(entry, header, last_sequence)
                if duplicate is not None:
                    return self._duplicate_result(header, duplicate, entry)
            self._write(validated, last_offset, now_ms, leader_epoch)
            batch = (header.base_sequence, last_sequence, base_offset, last_offset, validated.max_timestamp)
            self.producers.commit(entry_after(entry, header, cached_batch(batch), self._batches_remembered))
            cached = entry.batches if entry is not None else ()
        log_append_time_ms = now_ms if self._is_append_time else _NO_LOG_APPEND_TIME
        return AppendResult(base_offset, last_offset, log_append_time_ms, self.log_start_offset, False, header, cached)

    def _check_producer(
        self, entry: ProducerStateEntry | None, header: BatchHeader, last_sequence: int
    ) -> CachedBatch | None:
        """Return the batch that this one repeats, or None for one that may be appended; raises AppendRefused."""
        try:
            if entry is None:
                check_unknown_producer(header, self._rules, is_log_empty=not self.log_end_offset)
                return None
            duplicate = find_duplicate(entry, header, last_sequence)
            if duplicate is None:
                check_known_producer(entry, header, self._rules)
            return duplicate
        except AppendRefused as refused:
            refused.log_start_offset = self.log_start_offset
            raise

    def _write(self, validated: ValidatedBatch, last_offset: int, now_ms: int, leader_epoch: int) -> None:
        """Put the batch behind all others, stamped with its offset and the leader's epoch."""
        header, batch, base_offset = validated.header, validated.batch, self.log_end_offset
        if validated.is_rewritten:
            body = batch[HEADER_SIZE:]
            head = rewritten_header(
                header,
                body,
                base_offset=base_offset,
                partition_leader_epoch=leader_epoch,
                timestamp_type=self._config.message_timestamp_type,
                max_timestamp=validated.max_timestamp,
            )
        else:
            head = stamped_prefix(base_offset, header.length, leader_epoch)
            body = batch[PREFIX_SIZE:]
        segment = self._segments.active
        segment.append(head, body, last_offset, validated.max_timestamp)
        segment.modified_ms = now_ms
        if leader_epoch != self.leader_epochs.latest_epoch:
            self.leader_epochs.assign(leader_epoch, base_offset)
        self.log_end_offset = last_offset + 1

    def _duplicate_result(
        self, header: BatchHeader, duplicate: CachedBatch, entry: ProducerStateEntry | None
    ) -> AppendResult:
        return AppendResult(
            duplicate.base_offset,
            duplicate.last_offset,
            duplicate.timestamp,
            self.log_start_offset,
            True,
            header,
            entry.batches if entry else (),
        )

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
        return self._segments.read(offset, max_bytes, upper_offset=upper_offset, min_one_batch=min_one_batch)

    def offset_for_timestamp(self, timestamp_ms: int) -> TimestampOffset | None:
        """Return the first record of the log at or after timestamp_ms."""
        return self._segments.find_by_timestamp(timestamp_ms, self.log_start_offset)

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """Return the first record with the greatest timestamp of the log."""
        return self._segments.find_max_timestamp()

    def assign_leader_epoch(self, leader_epoch: int) -> None:
        """Begin a leader epoch at the end of the log, as a new leader does before it takes batches."""
        self.leader_epochs.assign(leader_epoch, self.log_end_offset)

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEndOffset:
        """Return where the epoch ended; see LeaderEpochCache.end_offset_for."""
        return self.leader_epochs.end_offset_for(leader_epoch, self.log_end_offset)

    def delete_records_before(self, offset: int) -> int:
        """Move the log start up to offset and return where it is then; it never moves back.

        offset: DELETE_UP_TO_HIGH_WATERMARK for all records.
        Raises KafkaError: POLICY_VIOLATION on a topic that is not deleted from, OFFSET_OUT_OF_RANGE.
        Source: Partition.deleteRecordsOnLeader, Kafka 4.3.0. Segments go with the next enforce_retention.
        """
        if not self._config.is_deleting:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"Records of partition {self.topic_partition} can not be deleted due to the configured policy",
            )
        wanted = self.high_watermark if offset == DELETE_UP_TO_HIGH_WATERMARK else offset
        if not 0 <= wanted <= self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {wanted} of {self.topic_partition} is not within 0..{self.high_watermark}",
            )
        self._advance_log_start(wanted)
        return self.log_start_offset

    def _advance_log_start(self, offset: int) -> None:
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.leader_epochs.truncate_from_start(offset)

    def enforce_retention(self, now_ms: int) -> int:
        """Delete the oldest segments that are before the log start, too many bytes or too old; return how many.

        Source: UnifiedLog.deleteOldSegments, Kafka 4.3.0.
        """
        deleted = self._delete_oldest(count_before(self._segments, self.log_start_offset), now_ms)
        if self._config.is_deleting:
            deleted += self._delete_oldest(count_too_many_bytes(self._segments, self._config), now_ms)
            deleted += self._delete_oldest(count_too_old(self._segments, self._config, now_ms), now_ms)
        return deleted

    def _delete_oldest(self, count: int, now_ms: int) -> int:
        if count == len(self._segments):
            # There is always a segment to append to.
            self._segments.roll(self.log_end_offset, self._config, now_ms)
        if count:
            self._segments.delete_oldest(count)
            self._advance_log_start(self._segments.first_base_offset)
        return count

    def delete(self) -> None:
        """Delete all files of the log; what was read from it stays readable."""
        self._segments.delete_all()
