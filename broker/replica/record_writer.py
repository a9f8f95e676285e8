"""Appends records without a producer and without a request: the test data of a topic. Produce does not use it.

Rules:
- The records of a partition are appended in order, in batches of at most BATCH_BYTES_MAX, or of one record.
- Every batch is validated, in a thread, before the first one is appended: a refused record leaves all logs unchanged.
- After that only the storage can fail. Then the batches before it stay appended.
- Timestamps are on the broker's clock, also if a test has moved it.
- The result is complete when the batches are flushed, if the topic's flush.messages asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ... import storage
from ...protocol.batches.record_batch import HEADER_SIZE, NO_TIMESTAMP
from ...protocol.batches.records import Record, build_batch, encode_record
from ...protocol.error_codes import ErrorCode, KafkaError
from ..runtime.deferred import Deferred
from ..runtime.long_work import in_thread, let_others_run, step
from .partition import Partition

if TYPE_CHECKING:
    from ...storage.log_validator import ValidatedBatch
    from ...storage.partition_log import PartitionLog

# batch.size of Kafka's producer.
BATCH_BYTES_MAX = 16 * 1024
# The offset delta and the timestamp delta in a batch have at most so many more bytes than the zeros that are measured.
DELTA_BYTES_MAX = 13


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to append. index: its position in the call, for errors and results. record: its offset is ignored."""

    index: int
    record: Record


@dataclass(frozen=True, slots=True)
class WrittenRecord:
    """An appended record. index: of the NewRecord. timestamp: as stored."""

    index: int
    partition: int
    offset: int
    timestamp: int


class RecordsRefused(Exception):
    """A batch was refused.

    error: the error of a Produce with these records. first, last: the positions of its records in the call; equal if
    the error is that of one record. written: the number of records that were appended before.
    """

    def __init__(self, error: KafkaError, indexes: Sequence[int], written: int) -> None:
        """Create the error. indexes: of the records of the batch."""
        super().__init__(error.message)
        self.error = error
        self.first, self.last = indexes[0], indexes[-1]
        self.written = written


@dataclass(slots=True)
class _Batch:
    """Records that are appended together."""

    partition: Partition
    records: list[NewRecord]
    validated: ValidatedBatch

    @property
    def indexes(self) -> list[int]:
        return [each.index for each in self.records]


async def append_records(records: Sequence[tuple[Partition, NewRecord]], now_ms: int) -> list[WrittenRecord]:
    """Append the records and return them in the order of the call, once they are as safe as a Produce with acks=all.

    now_ms: for LogAppendTime and the bounds of timestamps. Raises RecordsRefused.
    """
    of_partitions: dict[Partition, list[NewRecord]] = {}
    for partition, record in records:
        of_partitions.setdefault(partition, []).append(record)
    logs: dict[Partition, PartitionLog] = {}
    for partition, new in of_partitions.items():
        try:
            logs[partition] = partition.log
        except KafkaError as error:
            raise RecordsRefused(error, [new[0].index], 0) from error
        await step()
    batches = await in_thread(lambda: _prepare(of_partitions, logs, now_ms))
    written: list[WrittenRecord] = []
    for batch in batches:
        written += _append(batch, now_ms, len(written))
        await step()
    await _flushed(batches, len(written))
    return sorted(written, key=lambda each: each.index)


def _prepare(
    of_partitions: dict[Partition, list[NewRecord]], logs: dict[Partition, PartitionLog], now_ms: int
) -> list[_Batch]:
    """Return the validated batches. Raises RecordsRefused. Runs in a thread."""
    return [
        _Batch(partition, records, _validate(logs[partition], records, now_ms))
        for partition, new in of_partitions.items()
        for records in _split(new, min(BATCH_BYTES_MAX, logs[partition].config.max_message_bytes))
    ]


def _split(records: list[NewRecord], bytes_max: int) -> list[list[NewRecord]]:
    """Return the records as batches of at most so many bytes, or of one record."""
    batches: list[list[NewRecord]] = []
    size = bytes_max
    for new in records:
        record_size = len(encode_record(new.record, 0, 0)) + DELTA_BYTES_MAX
        if size + record_size > bytes_max:
            batches.append([])
            size = HEADER_SIZE
        batches[-1].append(new)
        size += record_size
    return batches


def _validate(log: PartitionLog, records: list[NewRecord], now_ms: int) -> ValidatedBatch:
    data = memoryview(build_batch([each.record for each in records]))
    try:
        return log.validate_in_thread(data, now_ms, let_others_run)
    except storage.append_refused.AppendRefused as error:
        indexes = [each.index for each in records]
        if error.record_errors:
            refused = error.record_errors[0]
            indexes = [indexes[refused.batch_index]]
            error.message = refused.message or error.message
        raise RecordsRefused(error, indexes, 0) from error


def _append(batch: _Batch, now_ms: int, written: int) -> list[WrittenRecord]:
    """Append a validated batch and return its records. written: how many records were appended before."""
    partition = batch.partition
    if partition.is_deleted:
        error = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"the topic {partition.topic_name} was deleted")
        raise RecordsRefused(error, batch.indexes, written)
    try:
        result = partition.append(batch.validated[1], now_ms, batch.validated)
    except KafkaError as error:
        raise RecordsRefused(error, batch.indexes, written) from error
    if partition.flusher is not None:
        # Begins the flush of rolled segments.
        partition.flusher.must_wait()
    append_time = result.log_append_time_ms
    return [
        WrittenRecord(
            new.index,
            partition.index,
            result.base_offset + position,
            new.record.timestamp if append_time == NO_TIMESTAMP else append_time,
        )
        for position, new in enumerate(batch.records)
    ]


async def _flushed(batches: Sequence[_Batch], written: int) -> None:
    """Wait for the flushes that a Produce would wait for. Raises RecordsRefused if one fails."""
    begun = {partition: _begin_flush(partition) for partition in dict.fromkeys(batch.partition for batch in batches)}
    for partition, flush in begun.items():
        failure = None if flush is None else (await flush).error
        if failure is not None:
            error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{partition.topic_name}-{partition.index}: {failure}")
            indexes = [index for batch in batches if batch.partition is partition for index in batch.indexes]
            raise RecordsRefused(error, indexes, written)


@dataclass(frozen=True, slots=True)
class _FlushDone:
    """The end of a flush. A Deferred has no result None."""

    error: OSError | None


def _begin_flush(partition: Partition) -> Deferred[_FlushDone] | None:
    """Begin the flush that a Produce would wait for; None if it would not wait."""
    flusher = partition.flusher
    if flusher is None or not flusher.must_wait():
        return None
    done: Deferred[_FlushDone] = Deferred()
    flusher.when_flushed(partition.log.log_end_offset, lambda error: done.complete(_FlushDone(error)))
    return done
