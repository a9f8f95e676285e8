"""The limit of one decompressed record (max.decompressed.message.bytes, Kafka 4.4)."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.batches import compression
from ..protocol.batches.record_batch import COMPRESSION_MASK, HEADER_SIZE, Compression, parse_header
from ..protocol.batches.record_validation import read_unsigned_varint
from ..protocol.error_codes import ErrorCode
from ..protocol.release_rules import ReleaseRules
from .append_refused import AppendRefused
from .log_config import DECOMPRESSED_MESSAGE_BYTES_MAX, LogConfig
from .log_validator import LogValidator, ValidatedBatch


def validator_of(
    topic_partition: str, config: LogConfig, pause: Callable[[], None] | None = None, *, rules: ReleaseRules
) -> LogValidator:
    """Return the validator of a log: with a check of decompressed records if the config limits them.

    Arguments: see LogValidator.
    """
    if config.max_decompressed_message_bytes >= DECOMPRESSED_MESSAGE_BYTES_MAX:
        return LogValidator(topic_partition, config, pause, rules=rules)
    return DecompressedLimit(topic_partition, config, pause, rules=rules)


class DecompressedLimit(LogValidator):
    """Refuses batches with a compressed record that is larger than a limit, once they are valid otherwise."""

    __slots__ = ("_limit",)

    def __init__(
        self,
        topic_partition: str,
        config: LogConfig,
        pause: Callable[[], None] | None = None,
        *,
        rules: ReleaseRules,
    ) -> None:
        """Arguments: see LogValidator."""
        super().__init__(topic_partition, config, pause, rules=rules)
        # The most bytes of a record without its length.
        self._limit: int = config.max_decompressed_message_bytes

    def validate(self, batch: bytes | memoryview, now_ms: int, log_start_offset: int) -> ValidatedBatch:
        """Return the validated batch. Raises AppendRefused and LongValidation.

        Source: DefaultRecord.readFrom, Kafka 4.4.0.
        """
        validated = super().validate(batch, now_ms, log_start_offset)
        header = parse_header(batch)
        codec = header.attributes & COMPRESSION_MASK
        if codec:
            # The validator has decompressed the batch within the limits of one step.
            data = compression.decompress(Compression(codec), memoryview(batch)[HEADER_SIZE:])
            position = 0
            for _ in range(header.records_count):
                raw, position = read_unsigned_varint(data, position)
                # A valid length is not negative: its zigzag form is twice as much.
                size = raw >> 1
                if size > self._limit:
                    reason = f"a record has {size} bytes, max.decompressed.message.bytes is {self._limit}"
                    raise AppendRefused(ErrorCode.INVALID_RECORD, reason, log_start_offset=log_start_offset)
                position += size
        return validated
