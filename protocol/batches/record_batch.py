"""The record batch of magic 2: its 61-byte header, its CRC-32C, and the fields that a broker changes.

A received batch is never modified. stamped_prefix and rewritten_header return new header bytes, which the log writes
before the rest of the batch.
Source: DefaultRecordBatch, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import partial
from struct import Struct
from typing import NamedTuple

from fastcrc.crc32 import iscsi as crc32c

from ..sequences import NO_SEQUENCE, increment_sequence

# The header: base_offset to records_count, big-endian.
HEADER_SIZE = 61
_HEADER = Struct(">qiibIhiqqqhii")

# base_offset and length: the bytes that the length field does not include.
LOG_OVERHEAD = 12

# base_offset, length, partition_leader_epoch: before the CRC, and all that a broker changes in most batches.
PREFIX_SIZE = 16
_PREFIX = Struct(">qii")

MAGIC_POSITION = 16
_CRC_POSITION = 17
ATTRIBUTES_POSITION = 21
_CRC = Struct(">I")
_CHECKED_HEADER = Struct(">hiqqqhii")

MAGIC_V2 = 2

# Only the low byte of the attributes is used; its bit 7 has no meaning.
COMPRESSION_MASK = 0x07
TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40
KNOWN_ATTRIBUTES_MASK = 0x7F

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_TIMESTAMP = -1
NO_PARTITION_LEADER_EPOCH = -1


class Compression(IntEnum):
    """The codec in bits 0-2 of the attributes; 5, 6 and 7 are unknown."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


# The greatest number of a codec.
COMPRESSION_MAX = 4


class TimestampType(IntEnum):
    """Bit 3 of the attributes: whether the producer or the broker set the timestamps."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    """The fields of a batch header. A tuple, because every produced batch creates one."""

    base_offset: int
    length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size(self) -> int:
        """The size of the whole batch in bytes."""
        return self.length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        """The offset of the last record, which log cleaning may have removed."""
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; NO_SEQUENCE if the batch has none."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        """Whether the batch is a transaction marker."""
        return self.attributes & CONTROL_BIT != 0

    @property
    def is_compressed(self) -> bool:
        """Whether the records are compressed."""
        return self.attributes & COMPRESSION_MASK != 0

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the producer or the broker set the timestamps."""
        return TimestampType.LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_BIT else TimestampType.CREATE_TIME


# Returns the fields of the header at a position (0) as a plain tuple. At least HEADER_SIZE bytes must follow.
unpack_header = _HEADER.unpack_from
# Returns a header from that tuple, a third faster than BatchHeader(*fields).
batch_header: Callable[[tuple[int, ...]], BatchHeader] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
    BatchHeader,
)


def parse_header(buffer: bytes | bytearray | memoryview, position: int = 0) -> BatchHeader:
    """Return the header at position, unchecked. At least HEADER_SIZE bytes must follow."""
    return batch_header(unpack_header(buffer, position))


def is_whole(header: BatchHeader, bytes_left: int) -> bool:
    """Whether magic and size are valid, and the batch ends within bytes_left from its start."""
    return header.magic == MAGIC_V2 and HEADER_SIZE <= header.size <= bytes_left


def is_crc_right(batch: memoryview, crc: int) -> bool:
    """Whether crc is the CRC-32C of batch from its attributes to its end. batch: exactly one batch."""
    return crc32c(batch[ATTRIBUTES_POSITION:]) == crc


def stamped_prefix(base_offset: int, length: int, partition_leader_epoch: int) -> bytes:
    """Return the first PREFIX_SIZE bytes of a batch, which the CRC does not include."""
    return _PREFIX.pack(base_offset, length, partition_leader_epoch)


def rewritten_header(
    header: BatchHeader,
    records: bytes | memoryview,
    *,
    base_offset: int,
    partition_leader_epoch: int,
    timestamp_type: TimestampType,
    max_timestamp: int,
) -> bytes:
    """Return the bytes of the header with these fields and the new CRC.

    records: the rest of the batch.
    Source: DefaultRecordBatch.setMaxTimestamp, Kafka 4.3.0, which clears unknown attributes.
    """
    attributes = header.attributes & KNOWN_ATTRIBUTES_MASK & ~TIMESTAMP_TYPE_BIT
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        attributes |= TIMESTAMP_TYPE_BIT
    return sealed_header(
        header._replace(
            base_offset=base_offset,
            partition_leader_epoch=partition_leader_epoch,
            attributes=attributes,
            max_timestamp=max_timestamp,
        ),
        records,
    )


def header_with_crc(header: bytes, crc: int) -> bytes:
    """Return the bytes of the header with another CRC."""
    return header[:_CRC_POSITION] + _CRC.pack(crc) + header[ATTRIBUTES_POSITION:]


def sealed_header(header: BatchHeader, records: bytes | memoryview) -> bytes:
    """Return the bytes of the header, with length and crc computed from the records that follow it."""
    checked = _CHECKED_HEADER.pack(*header[5:])
    crc = crc32c(records, crc32c(checked))
    prefix = _PREFIX.pack(header.base_offset, HEADER_SIZE - LOG_OVERHEAD + len(records), header.partition_leader_epoch)
    return prefix + bytes((header.magic,)) + _CRC.pack(crc) + checked
