"""Validation of a produced batch, independent of producer state, in Kafka's order.

Order: base offset, size, CRC, codec, header, records, keys and timestamps; then the size again if the batch was
recompressed. Which errors have the log start offset differs by check, as measured on Kafka.
Source: UnifiedLog.analyzeAndValidateRecords and append, LogValidator.validateMessagesAndAssignOffsets, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

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
    is_crc_right,
    parse_header,
)
from ..protocol.batches.record_validation import (
    InvalidRecords,
    OverlongRecordLength,
    summarize_records,
)
from ..protocol.error_codes import ErrorCode
from ..protocol.release_rules import NEWEST_RULES, ReleaseRules
from .append_refused import AppendRefused
from .log_config import LONG_MAX, LogConfig, RecordValidation
from .record_errors import RecordRules, check_each_record, refusal_of_offsets

if TYPE_CHECKING:
    from collections.abc import Callable

# What is validated at once: decompressed bytes, records, and records that are written anew for another codec. A larger
# batch is validated in a thread.
_BYTES_AT_ONCE: Final = 4 * 1024 * 1024
_RECORDS_AT_ONCE: Final = 30_000
_REBUILT_RECORDS_AT_ONCE: Final = 3_000

_BASE_OFFSET = Struct(">q")

# The first timestamp check uses bounds below Java's overflow. A record outside them is checked alone, with Java's
# arithmetic.
_PLAIN_BOUND_MAX_MS: Final[int] = LONG_MAX - 2**43
# On a LogAppendTime topic the timestamps of records are not checked.
_NO_BOUND_MS: Final[int] = 2**70


# A validated batch: (header, batch, max_timestamp, is_rewritten). A plain tuple, because every append makes one.
# header, batch: as received or recompressed; base offset and leader epoch are not set.
# max_timestamp: for the stored header. is_rewritten: whether the stored header differs in timestamp or timestamp type.
ValidatedBatch = tuple[BatchHeader, bytes | memoryview, int, bool]


class _OffsetsOutOfOrder(Exception):
    """The offset deltas of compressed records do not count from 0, and the release rebuilds the batch."""


class LongValidation(Exception):
    """A batch takes too long to be validated on the event loop. Nothing has changed."""


class LogValidator:
    """Validates batches for one log and one configuration."""

    __slots__ = (
        "_after_max_ms",
        "_before_max_ms",
        "_config",
        "_is_batch_trusted",
        "_is_create_time",
        "_max_message_bytes",
        "_needs_keys",
        "_pause",
        "_rules",
        "_target",
        "_topic_partition",
    )

    def __init__(
        self,
        topic_partition: str,
        config: LogConfig,
        pause: Callable[[], None] | None = None,
        *,
        rules: ReleaseRules = NEWEST_RULES,
    ) -> None:
        """topic_partition: "topic-0", for error messages.

        pause: lets other threads run; it is called every millisecond or so. Only a validator with it takes longer.
        rules: of the release.
        """
        self._rules = rules
        self._pause = pause
        self._topic_partition = topic_partition
        self._config = config
        self._target = config.compression_type
        self._is_batch_trusted: bool = config.record_validation is RecordValidation.BATCH
        self._is_create_time: bool = config.message_timestamp_type is TimestampType.CREATE_TIME
        self._max_message_bytes: int = config.max_message_bytes
        self._needs_keys: bool = config.is_compacted
        self._before_max_ms: int = _NO_BOUND_MS
        self._after_max_ms: int = _NO_BOUND_MS
        if self._is_create_time:
            self._before_max_ms = min(config.message_timestamp_before_max_ms, _PLAIN_BOUND_MAX_MS)
            self._after_max_ms = min(config.message_timestamp_after_max_ms, _PLAIN_BOUND_MAX_MS)

    def validate(self, batch: bytes | memoryview, now_ms: int, log_start_offset: int) -> ValidatedBatch:
        """Return the validated batch; batch is never written to. Raises AppendRefused and LongValidation."""
        size = len(batch)
        if size < HEADER_SIZE:
            raise _refusal_of_short(batch, log_start_offset)
        header = parse_header(batch)
        if header.base_offset:
            raise _refusal_of_base_offset(header.base_offset, log_start_offset)
        if size > self._max_message_bytes:
            raise self._refusal_of_size(size)
        if not is_crc_right(batch, header.crc) or header.length + LOG_OVERHEAD != size:
            raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, f"CRC {header.crc:#010x} does not match the {size} bytes")
        attributes, delta, sent_timestamp = header.attributes, header.last_offset_delta, header.max_timestamp
        codec = attributes & COMPRESSION_MASK
        if (
            delta < 0
            or delta + 1 != header.records_count
            or attributes & CONTROL_BIT
            or header.base_sequence < 0 <= header.producer_id
            or codec > COMPRESSION_MAX
        ):
            raise _refusal_of_header(header, log_start_offset)
        target = self._target
        if target is not None and target != codec:
            return self._recompress(header, batch, target, now_ms, log_start_offset)
        max_timestamp: int | None = None
        if self._is_batch_trusted:
            is_in_bounds = now_ms - self._before_max_ms <= sent_timestamp <= now_ms + self._after_max_ms
            # The header is not enough for keys and invalid timestamps; then the records are read.
            if is_in_bounds and not self._needs_keys and not attributes & TIMESTAMP_TYPE_BIT:
                max_timestamp = sent_timestamp
        if max_timestamp is None:
            try:
                _, _, max_timestamp = self._check_records(header, batch, now_ms, log_start_offset, is_rebuilt=False)
            except _OffsetsOutOfOrder:
                return self._recompress(header, batch, Compression(codec), now_ms, log_start_offset)
        if not self._is_create_time:
            return header, batch, now_ms, True
        is_rewritten = max_timestamp != sent_timestamp or attributes & TIMESTAMP_TYPE_BIT != 0
        return header, batch, max_timestamp, is_rewritten

    def _refusal_of_size(self, size: int) -> AppendRefused:
        limit = self._max_message_bytes
        return AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {size} bytes, max.message.bytes is {limit}")

    def _check_records(
        self,
        header: BatchHeader,
        batch: bytes | memoryview,
        now_ms: int,
        log_start_offset: int,
        *,
        is_rebuilt: bool,
    ) -> tuple[bytes, int, int]:
        """Return bytes with the uncompressed records, their position there, and their greatest timestamp.

        is_rebuilt: whether the caller recompresses the records.
        """
        codec = header.attributes & COMPRESSION_MASK
        count = header.records_count
        if self._pause is None and count > (_REBUILT_RECORDS_AT_ONCE if is_rebuilt else _RECORDS_AT_ONCE):
            raise LongValidation
        data, position = _plain_records(
            batch,
            codec,
            log_start_offset,
            _BYTES_AT_ONCE if self._pause is None else compression.DECOMPRESSED_BYTES_MAX,
        )
        try:
            summary = summarize_records(data, position, count, is_rebuilt or not codec, self._pause or _go_on)
        except (InvalidRecords, OverlongRecordLength) as error:
            raise _refusal_of_records(error, codec, log_start_offset) from None
        base_timestamp = header.base_timestamp
        greatest = base_timestamp + summary.greatest_timestamp_delta
        is_type_set = header.attributes & TIMESTAMP_TYPE_BIT != 0
        if (
            is_type_set
            or greatest > now_ms + self._after_max_ms
            or base_timestamp + summary.least_timestamp_delta < now_ms - self._before_max_ms
            or (self._needs_keys and not summary.are_keys_present)
        ):
            rules = RecordRules(self._config, self._topic_partition, now_ms, is_type_set, self._rules)
            greatest = check_each_record(records.iterate_fields(header, data, position), rules, log_start_offset)
        if codec and not is_rebuilt and not summary.are_offsets_in_order:
            if not self._rules.refuses_compressed_offsets:
                raise self._failure_of_offsets(log_start_offset)
            rules = RecordRules(self._config, self._topic_partition, now_ms, is_type_set, self._rules)
            raise refusal_of_offsets(records.iterate_fields(header, data, position), rules, log_start_offset)
        return data, position, greatest if greatest > NO_TIMESTAMP else NO_TIMESTAMP

    def _failure_of_offsets(self, log_start_offset: int) -> Exception:
        """Return the exception for compressed records whose offset deltas do not count from 0."""
        if not self._rules.fails_for_compressed_offsets:
            return _OffsetsOutOfOrder()
        # Kafka tries to rebuild the batch, but has not kept the keys and values, and fails.
        return AppendRefused(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            "the offset deltas of the compressed records do not count from 0",
            log_start_offset=log_start_offset,
        )

    def _recompress(
        self, header: BatchHeader, batch: bytes | memoryview, target: Compression, now_ms: int, log_start_offset: int
    ) -> ValidatedBatch:
        """Return the batch with checked records, compressed with the topic's codec."""
        data, position, max_timestamp = self._check_records(header, batch, now_ms, log_start_offset, is_rebuilt=True)
        plain = records.rebuild_records(header, data, position)
        payload = compression.compress(target, plain.data, self._compression_level(target))
        rebuilt = records.rebuilt_batch(header, target, plain.base_timestamp, max_timestamp, payload)
        if len(rebuilt) > self._max_message_bytes:
            raise self._refusal_of_size(len(rebuilt))
        stored_timestamp = max_timestamp if self._is_create_time else now_ms
        return parse_header(rebuilt), memoryview(rebuilt), stored_timestamp, True

    def _compression_level(self, target: Compression) -> int:
        config = self._config
        if target is Compression.GZIP:
            return config.compression_gzip_level
        return config.compression_lz4_level if target is Compression.LZ4 else config.compression_zstd_level


def _go_on() -> None:
    """Validate a short batch without a pause."""


def _plain_records(batch: bytes | memoryview, codec: int, log_start_offset: int, limit: int) -> tuple[bytes, int]:
    """Return bytes that contain the uncompressed records, and their position there. limit: of these bytes."""
    if not codec:
        return (batch if isinstance(batch, bytes) else bytes(batch)), HEADER_SIZE
    try:
        return compression.decompress(Compression(codec), memoryview(batch)[HEADER_SIZE:], limit), 0
    except compression.PayloadTooLarge as error:
        if limit < compression.DECOMPRESSED_BYTES_MAX:
            raise LongValidation from None
        raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, str(error)) from None
    except compression.BrokenPayload as error:
        raise AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR, str(error), log_start_offset=log_start_offset) from None


def _refusal_of_records(
    error: InvalidRecords | OverlongRecordLength, codec: int, log_start_offset: int
) -> AppendRefused:
    # Kafka catches the exception for an overlong record length only if the records are compressed.
    is_caught = codec or isinstance(error, InvalidRecords)
    code = ErrorCode.INVALID_RECORD if is_caught else ErrorCode.UNKNOWN_SERVER_ERROR
    return AppendRefused(code, str(error), log_start_offset=log_start_offset)


def _refusal_of_short(batch: bytes | memoryview, log_start_offset: int) -> AppendRefused:
    """Return the refusal of a batch shorter than its header."""
    base_offset = _BASE_OFFSET.unpack_from(batch)[0] if len(batch) >= _BASE_OFFSET.size else 0
    if base_offset:
        return _refusal_of_base_offset(base_offset, log_start_offset)
    return AppendRefused(ErrorCode.CORRUPT_MESSAGE, f"a batch of {len(batch)} bytes, its header has {HEADER_SIZE}")


def _refusal_of_base_offset(base_offset: int, log_start_offset: int) -> AppendRefused:
    return AppendRefused(
        ErrorCode.INVALID_RECORD,
        f"a produced batch has base offset {base_offset}, not 0",
        log_start_offset=log_start_offset,
    )


def _refusal_of_header(header: BatchHeader, log_start_offset: int) -> AppendRefused:
    """Return the refusal for the first invalid header field, in Kafka's order."""
    delta, count = header.last_offset_delta, header.records_count
    codec = header.attributes & COMPRESSION_MASK
    code = ErrorCode.INVALID_RECORD
    if codec > COMPRESSION_MAX:
        code, text = ErrorCode.UNKNOWN_SERVER_ERROR, f"unknown compression codec {codec}"
    elif delta < 0 or delta + 1 != count:
        text = f"last_offset_delta {delta} does not match {count} records"
    elif header.attributes & CONTROL_BIT:
        text = "clients may not write control batches"
    else:
        text = f"producer {header.producer_id} sent base sequence {header.base_sequence}; it must be at least 0"
    return AppendRefused(code, text, log_start_offset=log_start_offset)
