"""What a batch must satisfy whatever its producer did before, check by check in Kafka's order.

Base offset, size, CRC, codec, header, records, keys and timestamps, and the size once more when the batch was
compressed anew. Which errors carry the log start offset differs by check and was measured, so each says it.
Source: UnifiedLog.analyzeAndValidateRecords and append, LogValidator.validateMessagesAndAssignOffsets, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct

from ..protocol.batches import compression, records
from ..protocol.batches.record_batch import (
    COMPRESSION_MASK,
    COMPRESSION_MAX,
    CONTROL_BIT,
    HEADER_SIZE,
    LOG_OVERHEAD,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    Compression,
    TimestampType,
    batch_header,
    is_crc_right,
    parse_header,
    unpack_header,
)
from ..protocol.batches.record_validation import (
    InvalidRecords,
    OverlongRecordLength,
    RecordsSummary,
    SingleRecordShape,
    find_single_timestamp,
    summarize_records,
)
from ..protocol.error_codes import ErrorCode
from .append_refused import AppendRefused
from .log_config import LONG_MAX, LogConfig, RecordValidation
from .record_errors import RecordRules, check_each_record

_BASE_OFFSET = Struct(">q")

# Timestamps are first held against bounds that plain sums cannot leave the long range by; one that is outside, or near
# the ends of that range, has its record looked at by itself, with Java's arithmetic.
_PLAIN_BOUND_MAX_MS = LONG_MAX - 2**43
# On a LogAppendTime topic the records' own timestamps do not matter.
_NO_BOUND_MS = 2**70


# A batch that may go into the log; a bare tuple, because one is made for every batch, and taken apart at once.
# header, batch: as they came, or of the batch as it was compressed anew; offsets and leader epoch are not set.
# max_timestamp: what the log must have in the header.
# is_rewritten: whether the header must be written anew, because the timestamp or its type is not what came.
ValidatedBatch = tuple[BatchHeader, memoryview, int, bool]


class LogValidator:
    """The checks of one log under one configuration."""

    __slots__ = (
        "_after_max_ms",
        "_before_max_ms",
        "_config",
        "_is_batch_trusted",
        "_is_create_time",
        "_max_message_bytes",
        "_needs_keys",
        "_shape",
        "_single_bytes",
        "_target",
        "_topic_partition",
    )

    def __init__(self, topic_partition: str, config: LogConfig) -> None:
        """Take from config what is asked for each batch.

        topic_partition: "topic-0", for the messages that name it.
        """
        self._topic_partition = topic_partition
        self._config = config
        self._target = config.compression_type
        self._is_batch_trusted = config.record_validation is RecordValidation.BATCH
        self._is_create_time = config.message_timestamp_type is TimestampType.CREATE_TIME
        self._max_message_bytes = config.max_message_bytes
        self._needs_keys = config.is_compacted
        # Of the single record that came last: how large its batch was, and what it looked like if that came twice.
        self._single_bytes = 0
        self._shape: SingleRecordShape | None = None
        self._before_max_ms = self._after_max_ms = _NO_BOUND_MS
        if self._is_create_time:
            self._before_max_ms = min(config.message_timestamp_before_max_ms, _PLAIN_BOUND_MAX_MS)
            self._after_max_ms = min(config.message_timestamp_after_max_ms, _PLAIN_BOUND_MAX_MS)

    def validate(self, batch: memoryview, now_ms: int, log_start_offset: int) -> ValidatedBatch:
        """Return the batch as it may go into the log.

        batch: the bytes of one batch, never written to.
        Raises AppendRefused.
        """
        size = len(batch)
        if size < HEADER_SIZE:
            raise _refusal_of_short(batch, log_start_offset)
        # A bare tuple is taken apart in a third of the time that a named one takes.
        bare = unpack_header(batch)
        base_offset, length, _, _, crc, attributes, delta, _, told_timestamp, producer_id, _, base_sequence, count = (
            bare
        )
        header = batch_header(bare)
        if base_offset:
            raise _refused_base_offset(base_offset, log_start_offset)
        if size > self._max_message_bytes:
            raise self._too_large(size)
        if not is_crc_right(batch, crc) or length + LOG_OVERHEAD != size:
            raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, f"CRC {crc:#010x} is not that of the {size} bytes")
        codec = attributes & COMPRESSION_MASK
        if (
            delta < 0
            or delta + 1 != count
            or attributes & CONTROL_BIT
            or base_sequence < 0 <= producer_id
            or codec > COMPRESSION_MAX
        ):
            raise _refusal_of_header(header, log_start_offset)
        target = self._target
        if target is not None and target != codec:
            return self._recompressed(header, batch, target, now_ms, log_start_offset)
        max_timestamp: int | None = None
        if self._is_batch_trusted:
            is_in_bounds = now_ms - self._before_max_ms <= told_timestamp <= now_ms + self._after_max_ms
            # Where the trusted header does not answer all that is asked of the records, they are looked at after all.
            if is_in_bounds and not self._needs_keys and not attributes & TIMESTAMP_TYPE_BIT:
                max_timestamp = told_timestamp
        elif count == 1 and not codec:
            max_timestamp = self._find_timestamp_of_single(header, batch, now_ms)
        if max_timestamp is None:
            max_timestamp = self._max_timestamp_in_place(header, batch, now_ms, log_start_offset)
        if not self._is_create_time:
            return header, batch, now_ms, True
        is_rewritten = max_timestamp != told_timestamp or attributes & TIMESTAMP_TYPE_BIT != 0
        return header, batch, max_timestamp, is_rewritten

    def _too_large(self, size: int) -> AppendRefused:
        limit = self._max_message_bytes
        return AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {size} bytes, max.message.bytes is {limit}")

    def _max_timestamp_in_place(
        self, header: BatchHeader, batch: memoryview, now_ms: int, log_start_offset: int
    ) -> int:
        """Check the records of a batch that is stored with the codec it came with; return their greatest timestamp."""
        codec = header.attributes & COMPRESSION_MASK
        data = _decompressed(batch, codec, log_start_offset) if codec else bytes(batch)
        position = 0 if codec else HEADER_SIZE
        try:
            summary = summarize_records(data, position, header.records_count, not codec)
        except (InvalidRecords, OverlongRecordLength) as error:
            raise _refusal_of_records(error, codec, log_start_offset) from None
        max_timestamp = self._find_max_timestamp(header, summary, now_ms)
        if max_timestamp is None:
            max_timestamp = self._check_each(header, data, position, now_ms, log_start_offset)
        if codec and not summary.are_offsets_in_order:
            # Kafka decides to build the batch anew, for which it has not kept the keys and values, and fails.
            raise AppendRefused(
                ErrorCode.UNKNOWN_SERVER_ERROR,
                "the offset deltas of the compressed records do not count from 0",
                log_start_offset=log_start_offset,
            )
        return max_timestamp

    def _find_timestamp_of_single(self, header: BatchHeader, batch: memoryview, now_ms: int) -> int | None:
        """Return the timestamp of a single plain record that is right; None where that takes a closer look."""
        shape = self._shape
        if shape is not None and len(batch) == shape.batch_bytes and shape.unpack(batch) == shape.right:
            delta: int | None = shape.timestamp_delta
        else:
            delta = self._look_at_single(batch)
        if delta is None or self._needs_keys or header.attributes & TIMESTAMP_TYPE_BIT:
            return None
        timestamp = header.base_timestamp + delta
        if timestamp > now_ms + self._after_max_ms or timestamp < now_ms - self._before_max_ms:
            return None
        return timestamp if timestamp > NO_TIMESTAMP else NO_TIMESTAMP

    def _look_at_single(self, batch: memoryview) -> int | None:
        """Return the timestamp delta of a single plain record, as find_single_timestamp does, and learn its shape."""
        delta = find_single_timestamp(batch, HEADER_SIZE)
        size, shape = len(batch), self._shape
        # Learned when a size comes again, and once: to learn a shape takes longer than to look at a record.
        if delta is not None and size == self._single_bytes and (shape is None or shape.batch_bytes != size):
            self._shape = SingleRecordShape(batch, HEADER_SIZE, delta)
        self._single_bytes = size
        return delta

    def _find_max_timestamp(self, header: BatchHeader, summary: RecordsSummary, now_ms: int) -> int | None:
        """Return the greatest timestamp of the records; None if one of them may be at fault."""
        base_timestamp = header.base_timestamp
        greatest = base_timestamp + summary.greatest_timestamp_delta
        if (
            header.attributes & TIMESTAMP_TYPE_BIT
            or greatest > now_ms + self._after_max_ms
            or base_timestamp + summary.least_timestamp_delta < now_ms - self._before_max_ms
            or (self._needs_keys and not summary.are_keys_present)
        ):
            return None
        return greatest if greatest > NO_TIMESTAMP else NO_TIMESTAMP

    def _check_each(self, header: BatchHeader, data: bytes, position: int, now_ms: int, log_start_offset: int) -> int:
        """Look at each record by itself; return the greatest timestamp of those that are all right after all."""
        is_type_set = header.attributes & TIMESTAMP_TYPE_BIT != 0
        rules = RecordRules(self._config, self._topic_partition, now_ms, is_type_set)
        return check_each_record(records.iterate_fields(header, data, position), rules, log_start_offset)

    def _recompressed(
        self, header: BatchHeader, batch: memoryview, target: Compression, now_ms: int, log_start_offset: int
    ) -> ValidatedBatch:
        """Return the batch with the topic's codec, its records checked and built anew."""
        codec = header.attributes & COMPRESSION_MASK
        data = _decompressed(batch, codec, log_start_offset) if codec else bytes(batch)
        position = 0 if codec else HEADER_SIZE
        try:
            summary = summarize_records(data, position, header.records_count, True)
        except (InvalidRecords, OverlongRecordLength) as error:
            raise _refusal_of_records(error, codec, log_start_offset) from None
        max_timestamp = self._find_max_timestamp(header, summary, now_ms)
        if max_timestamp is None:
            max_timestamp = self._check_each(header, data, position, now_ms, log_start_offset)
        plain = records.rebuild_records(header, data, position)
        payload = compression.compress(target, plain.data, self._compression_level(target))
        rebuilt = records.rebuilt_batch(header, target, plain.base_timestamp, max_timestamp, payload)
        if len(rebuilt) > self._max_message_bytes:
            raise self._too_large(len(rebuilt))
        stored_timestamp = max_timestamp if self._is_create_time else now_ms
        return parse_header(rebuilt), memoryview(rebuilt), stored_timestamp, True

    def _compression_level(self, target: Compression) -> int:
        config = self._config
        if target is Compression.GZIP:
            return config.compression_gzip_level
        return config.compression_lz4_level if target is Compression.LZ4 else config.compression_zstd_level


def _decompressed(batch: memoryview, codec: int, log_start_offset: int) -> bytes:
    try:
        return compression.decompress(Compression(codec), batch[HEADER_SIZE:])
    except compression.PayloadTooLarge as error:
        raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, str(error)) from None
    except compression.BrokenPayload as error:
        raise AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR, str(error), log_start_offset=log_start_offset) from None


def _refusal_of_records(
    error: InvalidRecords | OverlongRecordLength, codec: int, log_start_offset: int
) -> AppendRefused:
    # Kafka does not catch what its reader of lengths throws, unless the records came compressed.
    is_caught = codec or isinstance(error, InvalidRecords)
    code = ErrorCode.INVALID_RECORD if is_caught else ErrorCode.UNKNOWN_SERVER_ERROR
    return AppendRefused(code, str(error), log_start_offset=log_start_offset)


def _refusal_of_short(batch: memoryview, log_start_offset: int) -> AppendRefused:
    """Return why a batch shorter than its header is refused."""
    base_offset = _BASE_OFFSET.unpack_from(batch)[0] if len(batch) >= _BASE_OFFSET.size else 0
    if base_offset:
        return _refused_base_offset(base_offset, log_start_offset)
    return AppendRefused(ErrorCode.CORRUPT_MESSAGE, f"a batch of {len(batch)} bytes, its header has {HEADER_SIZE}")


def _refused_base_offset(base_offset: int, log_start_offset: int) -> AppendRefused:
    return AppendRefused(
        ErrorCode.INVALID_RECORD,
        f"a produced batch has base offset {base_offset}, not 0",
        log_start_offset=log_start_offset,
    )


def _refusal_of_header(header: BatchHeader, log_start_offset: int) -> AppendRefused:
    """Return the first of the header's faults, in Kafka's order."""
    delta, count = header.last_offset_delta, header.records_count
    codec = header.attributes & COMPRESSION_MASK
    code = ErrorCode.INVALID_RECORD
    if codec > COMPRESSION_MAX:
        code, text = ErrorCode.UNKNOWN_SERVER_ERROR, f"codec {codec} is none"
    elif delta < 0 or delta + 1 != count:
        text = f"last_offset_delta {delta} does not go with {count} records"
    elif header.attributes & CONTROL_BIT:
        text = "clients may not write control batches"
    else:
        text = f"producer {header.producer_id} has no sequence: {header.base_sequence}"
    return AppendRefused(code, text, log_start_offset=log_start_offset)
