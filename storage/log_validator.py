"""What a batch must satisfy whatever its producer did before, check by check in Kafka's order.

Base offset, size, CRC, codec, header, records, keys and timestamps, and the size once more when the batch was
compressed anew. Which errors carry the log start offset differs by check and was measured, so each says it.
Source: UnifiedLog.analyzeAndValidateRecords and append, LogValidator.validateMessagesAndAssignOffsets, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

from ..protocol import compression, records
from ..protocol.error_codes import ErrorCode
from ..protocol.record_batch import (
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
    is_crc_right,
    parse_header,
)
from ..protocol.record_validation import InvalidRecords, OverlongRecordLength, RecordsSummary, summarize_records
from .append_refused import NO_LOG_START_OFFSET, AppendRefused
from .log_config import LONG_MAX, LogConfig, RecordValidation
from .record_errors import RecordRules, check_each_record

_BASE_OFFSET = Struct(">q")
_LONG_MIN = -LONG_MAX - 1


@dataclass(slots=True)
class ValidatedBatch:
    """A batch that may go into the log.

    header, batch: as they came, or of the batch as it was compressed anew; offsets and leader epoch are not set.
    max_timestamp: what the log must have in the header.
    is_rewritten: whether the header must be written anew, because the timestamp or its type is not what came.
    """

    header: BatchHeader
    batch: memoryview
    max_timestamp: int
    is_rewritten: bool


class LogValidator:
    """The checks of one log under one configuration."""

    __slots__ = (
        "_config",
        "_is_batch_trusted",
        "_is_create_time",
        "_max_message_bytes",
        "_needs_keys",
        "_topic_partition",
    )

    def __init__(self, topic_partition: str, config: LogConfig) -> None:
        """Take from config what is asked for each batch.

        topic_partition: "topic-0", for the messages that name it.
        """
        self._topic_partition = topic_partition
        self._config = config
        self._is_batch_trusted = config.record_validation is RecordValidation.BATCH
        self._is_create_time = config.message_timestamp_type is TimestampType.CREATE_TIME
        self._max_message_bytes = config.max_message_bytes
        self._needs_keys = config.is_compacted

    def validate(self, batch: memoryview, now_ms: int, log_start_offset: int) -> ValidatedBatch:
        """Return the batch as it may go into the log.

        batch: the bytes of one batch, never written to.
        Raises AppendRefused.
        """
        if len(batch) < HEADER_SIZE:
            raise self._refusal_of_short(batch, log_start_offset)
        header = parse_header(batch)
        if header.base_offset:
            raise _refused_base_offset(header.base_offset, log_start_offset)
        self._check_size(len(batch))
        if not is_crc_right(batch, header.crc) or header.length + LOG_OVERHEAD != len(batch):
            raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, f"CRC {header.crc:#010x} is not that of the batch")
        attributes = header.attributes
        if (
            header.last_offset_delta < 0
            or header.last_offset_delta + 1 != header.records_count
            or attributes & CONTROL_BIT
            or (header.base_sequence < 0 <= header.producer_id)
            or attributes & COMPRESSION_MASK > COMPRESSION_MAX
        ):
            raise _refusal_of_header(header, log_start_offset)
        target = self._config.compression_type
        if target is not None and target != attributes & COMPRESSION_MASK:
            return self._recompressed(header, batch, target, now_ms, log_start_offset)
        max_timestamp = self._max_timestamp_in_place(header, batch, now_ms, log_start_offset)
        is_type_set = attributes & TIMESTAMP_TYPE_BIT != 0
        if not self._is_create_time:
            return ValidatedBatch(header, batch, now_ms, True)
        return ValidatedBatch(header, batch, max_timestamp, is_type_set or max_timestamp != header.max_timestamp)

    def _check_size(self, size: int) -> None:
        if size > self._max_message_bytes:
            limit = self._max_message_bytes
            raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {size} bytes, max.message.bytes is {limit}")

    def _refusal_of_short(self, batch: memoryview, log_start_offset: int) -> AppendRefused:
        """Return why a batch shorter than its header is refused."""
        base_offset = _BASE_OFFSET.unpack_from(batch)[0] if len(batch) >= _BASE_OFFSET.size else 0
        if base_offset:
            return _refused_base_offset(base_offset, log_start_offset)
        return AppendRefused(ErrorCode.CORRUPT_MESSAGE, f"a batch of {len(batch)} bytes, its header has {HEADER_SIZE}")

    def _max_timestamp_in_place(
        self, header: BatchHeader, batch: memoryview, now_ms: int, log_start_offset: int
    ) -> int:
        """Check the records of a batch that is stored with the codec it came with; return their greatest timestamp."""
        codec = header.attributes & COMPRESSION_MASK
        if self._is_batch_trusted and self._is_header_enough(header, now_ms):
            return header.max_timestamp
        if codec:
            data, position = _decompressed(batch, codec, log_start_offset), 0
        else:
            data, position = bytes(batch), HEADER_SIZE
        summary = _summary(data, position, header, log_start_offset, are_lengths_checked=not codec)
        max_timestamp = self._checked_max_timestamp(header, data, position, summary, now_ms, log_start_offset)
        if codec and not summary.are_offsets_in_order:
            # Kafka decides to build the batch anew, for which it has not kept the keys and values, and fails.
            raise AppendRefused(
                ErrorCode.UNKNOWN_SERVER_ERROR,
                "the offset deltas of the compressed records do not count from 0",
                log_start_offset=log_start_offset,
            )
        return max_timestamp

    def _is_header_enough(self, header: BatchHeader, now_ms: int) -> bool:
        """Whether a trusted header answers all that is asked of the records."""
        return not (
            self._needs_keys
            or header.attributes & TIMESTAMP_TYPE_BIT
            or (self._is_create_time and not self._is_in_bounds(header.max_timestamp, header.max_timestamp, now_ms))
        )

    def _is_in_bounds(self, least: int, greatest: int, now_ms: int) -> bool:
        """Whether timestamps from least to greatest are all right without looking at each."""
        config = self._config
        return (
            greatest <= now_ms + config.message_timestamp_after_max_ms
            and least >= now_ms - config.message_timestamp_before_max_ms
            and greatest <= LONG_MAX
            and least >= _LONG_MIN
        )

    def _checked_max_timestamp(
        self,
        header: BatchHeader,
        data: bytes,
        position: int,
        summary: RecordsSummary,
        now_ms: int,
        log_start_offset: int,
    ) -> int:
        """Return the greatest timestamp of the records, each of which is looked at only if one may be at fault."""
        is_type_set = header.attributes & TIMESTAMP_TYPE_BIT != 0
        least = header.base_timestamp + summary.least_timestamp_delta
        greatest = header.base_timestamp + summary.greatest_timestamp_delta
        if (
            is_type_set
            or (self._needs_keys and not summary.are_keys_present)
            or (self._is_create_time and not self._is_in_bounds(least, greatest, now_ms))
        ):
            rules = RecordRules(self._config, self._topic_partition, now_ms, is_type_set)
            fields = records.iterate_fields(header, data, position)
            return check_each_record(fields, rules, log_start_offset)
        return greatest if greatest > NO_TIMESTAMP else NO_TIMESTAMP

    def _recompressed(
        self, header: BatchHeader, batch: memoryview, target: Compression, now_ms: int, log_start_offset: int
    ) -> ValidatedBatch:
        """Return the batch with the topic's codec, its records checked and built anew."""
        codec = header.attributes & COMPRESSION_MASK
        if codec:
            data, position = _decompressed(batch, codec, log_start_offset), 0
        else:
            data, position = bytes(batch), HEADER_SIZE
        summary = _summary(data, position, header, log_start_offset, are_lengths_checked=True)
        max_timestamp = self._checked_max_timestamp(header, data, position, summary, now_ms, log_start_offset)
        plain = records.rebuild_records(header, data, position)
        payload = compression.compress(target, plain.data, self._compression_level(target))
        rebuilt = records.rebuilt_batch(header, target, plain.base_timestamp, max_timestamp, payload)
        self._check_size(len(rebuilt))
        if not self._is_create_time:
            max_timestamp = now_ms
        return ValidatedBatch(parse_header(rebuilt), memoryview(rebuilt), max_timestamp, True)

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


def _summary(
    data: bytes, position: int, header: BatchHeader, log_start_offset: int, *, are_lengths_checked: bool
) -> RecordsSummary:
    try:
        return summarize_records(data, position, header.records_count, are_lengths_checked)
    except InvalidRecords as error:
        raise AppendRefused(ErrorCode.INVALID_RECORD, str(error), log_start_offset=log_start_offset) from None
    except OverlongRecordLength as error:
        # Kafka does not catch what its reader of lengths throws, unless the records came compressed.
        is_compressed = header.attributes & COMPRESSION_MASK
        code = ErrorCode.INVALID_RECORD if is_compressed else ErrorCode.UNKNOWN_SERVER_ERROR
        raise AppendRefused(code, str(error), log_start_offset=log_start_offset) from None


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


__all__ = ["NO_LOG_START_OFFSET", "LogValidator", "ValidatedBatch"]
