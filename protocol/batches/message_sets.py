"""Message sets: the formats of messages before batches, magic 0 and 1, which Produce 0-2 sends and Fetch 0-3 reads.

The log of this broker has batches of magic 2 only. A set that a producer sends becomes one batch; a batch that such a
consumer reads becomes messages. A compressed set is the value of one message, the wrapper, which has the last offset of
the set. The log of a Kafka that was once older than 0.11 can still have messages, which the pipeline reads.

- Magic 0 has no timestamps. Its lz4 frames have a wrong checksum of their header (KAFKA-3160).
- Magic 1 has timestamps. The messages in a wrapper count their offsets from 0.
- A message has no headers: they are lost on the way to a consumer. Markers of transactions are left out.

Source: LegacyRecord, AbstractLegacyRecordBatch, ByteBufferLogInputStream, RecordsUtil, MemoryRecordsBuilder and
LogValidator, Kafka 3.9.1.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from struct import Struct

from ..sequences import NO_SEQUENCE
from . import compression, lz4_frame, records
from .record_batch import (
    COMPRESSION_MASK,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    Compression,
    HeaderFields,
    TimestampType,
    parse_header,
    sealed_header,
)
from .records import BatchOptions, Record

MAGIC_V0 = 0
MAGIC_V1 = 1

# offset, size: before each message.
_ENTRY = Struct(">qi")
# crc, magic, attributes.
_START = Struct(">IBB")
_CRC_SIZE = 4
_TIMESTAMP = Struct(">q")
_SIZE = Struct(">i")
# The smallest size of a message: crc, magic, attributes, and the sizes of key and value.
_MESSAGE_BYTES_MIN = 14
# With its offset and size.
MESSAGE_SIZE_MIN = LOG_OVERHEAD + _MESSAGE_BYTES_MIN
# The offsets of the records of a batch are 32-bit numbers, from its first one on.
_OFFSET_DELTA_MAX = 2**31 - 1
_NO_PRODUCER = (NO_PRODUCER_ID, NO_PRODUCER_EPOCH, NO_SEQUENCE)


class CorruptMessageSet(Exception):
    """A message whose size, CRC or magic is wrong: CORRUPT_MESSAGE."""


class InvalidMessageSet(Exception):
    """A set that Kafka can read and does not accept: INVALID_RECORD."""


class ZstdNotConvertible(Exception):
    """A batch compressed with zstd, which no message can be: UNSUPPORTED_COMPRESSION_TYPE."""


@dataclass(frozen=True, slots=True)
class _Message:
    """A message of a set, and in a wrapper. value: compressed, for a wrapper."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def codec(self) -> int:
        return self.attributes & COMPRESSION_MASK


def magic_of(message_set: bytes | memoryview) -> int | None:
    """Return the magic of the first message or batch; None if the bytes end before it."""
    return message_set[MAGIC_POSITION] if len(message_set) > MAGIC_POSITION else None


def batch_of(message_set: bytes | memoryview, limit: int = compression.DECOMPRESSED_BYTES_MAX) -> bytes | None:
    """Return one batch with the records of a produced set, from offset 0 on, compressed as they were.

    None for a set without a whole message: Kafka accepts it, and appends nothing.
    limit: of the decompressed bytes. Raises CorruptMessageSet, InvalidMessageSet, and what decompression raises; a
    message whose fields do not fit is compression.BrokenPayload too.
    """
    messages = list(_messages(message_set))
    if not messages:
        return None
    codec = Compression.NONE
    if any(message.codec for message in messages):
        if len(messages) > 1:
            raise InvalidMessageSet("a compressed message is not the only one of its set")
        (wrapper,) = messages
        codec = _codec_of(wrapper)
        messages = list(_messages_in(wrapper, codec, limit))
        if not messages:
            raise InvalidMessageSet("a compressed message without a message in it")
    batch_records = [Record(message.value, message.key, message.timestamp) for message in messages]
    return records.build_batch(batch_records, BatchOptions(compression=codec))


def stored_message(data: bytes | memoryview, position: int = 0) -> BatchHeader | None:
    """Return the header that stands for the message of a log at position; None if no whole one with a right CRC begins.

    base_offset is that of the last record: a wrapper does not tell the first one.
    """
    if len(data) - position < MESSAGE_SIZE_MIN:
        return None
    offset, size = _ENTRY.unpack_from(data, position)
    start = position + LOG_OVERHEAD
    crc, magic, attributes = _START.unpack_from(data, start)
    timestamp_bytes = _TIMESTAMP.size if magic == MAGIC_V1 else 0
    is_possible = magic in (MAGIC_V0, MAGIC_V1) and offset >= 0 and size >= _MESSAGE_BYTES_MIN + timestamp_bytes
    if not is_possible or len(data) - start < size or crc != zlib.crc32(data[start + _CRC_SIZE : start + size]):
        return None
    timestamp = _TIMESTAMP.unpack_from(data, start + _START.size)[0] if timestamp_bytes else NO_TIMESTAMP
    known = attributes & (COMPRESSION_MASK | TIMESTAMP_TYPE_BIT)
    return BatchHeader(
        HeaderFields(
            offset, size, NO_PARTITION_LEADER_EPOCH, magic, crc, known, 0, timestamp, timestamp, *_NO_PRODUCER, 1
        )
    )


def stored_batch_of(message: bytes | memoryview, limit: int = compression.DECOMPRESSED_BYTES_MAX) -> bytes:
    """Return a batch of magic 2 with the records of a stored message, at their offsets and compressed as it is.

    message: of stored_message. limit: of the decompressed bytes. Raises as batch_of does.
    """
    (outer,) = _messages(message)
    inner, codec = [outer], Compression.NONE
    if outer.codec:
        codec = _codec_of(outer)
        inner = list(_messages_in(outer, codec, limit))
        if not inner:
            raise InvalidMessageSet("a compressed message without a message in it")
    # The messages in a wrapper of magic 1 count from 0, and the wrapper has the offset of the last one.
    base = outer.offset - inner[-1].offset if outer.magic == MAGIC_V1 else 0
    is_append_time = outer.magic == MAGIC_V1 and outer.attributes & TIMESTAMP_TYPE_BIT != 0
    times = [outer.timestamp if is_append_time else message.timestamp for message in inner]
    first, last = inner[0].offset, inner[-1].offset
    if any(later.offset <= earlier.offset for earlier, later in pairwise(inner)):
        raise InvalidMessageSet("the offsets of the messages in a message do not rise")
    if base + first < 0 or last - first > _OFFSET_DELTA_MAX:
        raise InvalidMessageSet(
            f"no batch has the offsets {base + first} to {base + last} of the messages in a message"
        )
    data = b"".join(
        records.encode_record(Record(message.value, message.key), message.offset - first, time - times[0])
        for message, time in zip(inner, times, strict=True)
    )
    payload = compression.compress(codec, data)
    attributes = codec | (TIMESTAMP_TYPE_BIT if is_append_time else 0)
    fields = HeaderFields(
        *(base + first, 0, NO_PARTITION_LEADER_EPOCH, MAGIC_V2, 0, attributes, last - first, times[0], max(times)),
        *_NO_PRODUCER,
        len(inner),
    )
    return sealed_header(BatchHeader(fields), payload) + payload


def fetched_message_set(batches: Sequence[bytes | memoryview], magic: int, first_offset: int) -> bytes:
    """Return what a consumer gets for stored batches: as many bytes as they have, or as the first message set has.

    A longer message set is cut, which an old consumer expects; after a shorter one comes the beginning of a message
    that is longer than the rest, which it ignores. A batch compressed with zstd ends the messages.
    Raises ZstdNotConvertible if it is the first.
    Source: LazyDownConversionRecords and LazyDownConversionRecordsSend, Kafka 3.9.1.
    """
    left = sum(map(len, batches))
    parts: list[bytes] = []
    for batch in batches:
        try:
            part = message_set_of([batch], magic, first_offset)
        except ZstdNotConvertible:
            if not any(parts):
                raise
            break
        if part and not any(parts):
            left = max(left, len(part))
        parts.append(part[:left])
        left -= len(parts[-1])
    if batches and not any(parts):
        left = LOG_OVERHEAD
    if left:
        ignored = _ENTRY.pack(-1, max(left + 1, HEADER_SIZE))
        parts.append(ignored[:left].ljust(left, b"\0"))
    return b"".join(parts)


def message_set_of(batches: Iterable[bytes | memoryview], magic: int, first_offset: int) -> bytes:
    """Return the records of stored batches as messages.

    batches: whole batches of magic 2. magic: of the messages, 0 or 1. first_offset: where the consumer reads; the
    records before it in a batch that is not compressed are left out.
    Raises ZstdNotConvertible.
    """
    parts: list[bytes] = []
    for batch in batches:
        header = parse_header(batch)
        if header.is_control:
            continue
        codec = Compression(header.attributes & COMPRESSION_MASK)
        if codec is Compression.ZSTD:
            raise ZstdNotConvertible("Down-conversion of zstandard-compressed batches is not supported")
        kept = [record for record in records.iterate_records(batch) if codec or record.offset >= first_offset]
        if not kept:
            continue
        attributes = TIMESTAMP_TYPE_BIT if magic and header.timestamp_type is TimestampType.LOG_APPEND_TIME else 0
        if codec:
            parts.append(_wrapper(kept, magic, attributes, codec))
        else:
            parts += (_encoded(each.offset, magic, attributes, each) for each in kept)
    return b"".join(parts)


def _messages(data: bytes | memoryview) -> Iterator[_Message]:
    """Yield the messages of a set; one that is cut at the end is left out. Raises CorruptMessageSet."""
    position = 0
    while len(data) - position >= LOG_OVERHEAD:
        offset, size = _ENTRY.unpack_from(data, position)
        if size < _MESSAGE_BYTES_MIN:
            raise CorruptMessageSet(f"Record size {size} is less than the minimum record overhead (14)")
        position += LOG_OVERHEAD
        if len(data) - position < size:
            return
        yield _message(offset, bytes(data[position : position + size]))
        position += size


def _message(offset: int, data: bytes) -> _Message:
    crc, magic, attributes = _START.unpack_from(data)
    if magic not in (MAGIC_V0, MAGIC_V1):
        raise CorruptMessageSet(f"a message of magic {magic} in a message set")
    computed = zlib.crc32(data[_CRC_SIZE:])
    if crc != computed:
        raise CorruptMessageSet(f"Record is corrupt (stored crc = {crc}, computed crc = {computed})")
    position = _START.size
    timestamp = NO_TIMESTAMP
    if magic == MAGIC_V1:
        if len(data) < _MESSAGE_BYTES_MIN + _TIMESTAMP.size:
            raise CorruptMessageSet(f"a message of {len(data)} bytes")
        (timestamp,) = _TIMESTAMP.unpack_from(data, position)
        position += _TIMESTAMP.size
    key, position = _sized(data, position)
    value, _ = _sized(data, position)
    return _Message(offset, magic, attributes, timestamp, key, value)


def _sized(data: bytes, position: int) -> tuple[bytes | None, int]:
    """Return the bytes after their size, or None for a negative one, and the position after them."""
    if len(data) - position < _SIZE.size:
        raise compression.BrokenPayload(f"a message of {len(data)} bytes ends before the size of a field")
    (size,) = _SIZE.unpack_from(data, position)
    position += _SIZE.size
    if size < 0:
        return None, position
    if len(data) - position < size:
        raise compression.BrokenPayload(f"a field of {size} bytes in a message of {len(data)} bytes")
    return data[position : position + size], position + size


def _codec_of(wrapper: _Message) -> Compression:
    if wrapper.codec not in (Compression.GZIP, Compression.SNAPPY, Compression.LZ4):
        raise InvalidMessageSet(f"Unknown compression type id: {wrapper.codec}, or not one of a message")
    return Compression(wrapper.codec)


def _messages_in(wrapper: _Message, codec: Compression, limit: int) -> Iterator[_Message]:
    """Yield the messages in a wrapper. Raises as batch_of does."""
    if wrapper.value is None:
        raise InvalidMessageSet("a compressed message without a value")
    payload = wrapper.value
    if codec is Compression.LZ4 and wrapper.magic == MAGIC_V0:
        payload = lz4_frame.with_header_checksum(payload, is_right=True)
    for message in _messages(compression.decompress(codec, memoryview(payload), limit)):
        if message.codec:
            raise InvalidMessageSet(
                "Compressed outer record should not have an inner record with a compression attribute set"
            )
        if message.magic != wrapper.magic:
            raise InvalidMessageSet(f"a message of magic {message.magic} in one of magic {wrapper.magic}")
        yield message


def _wrapper(kept: list[Record], magic: int, attributes: int, codec: Compression) -> bytes:
    """Return a compressed message with these records."""
    base_offset = kept[0].offset if magic else 0
    data = b"".join(_encoded(each.offset - base_offset, magic, attributes, each) for each in kept)
    payload = compression.compress(codec, data)
    if codec is Compression.LZ4 and magic == MAGIC_V0:
        payload = lz4_frame.with_header_checksum(payload, is_right=False)
    timestamp = max(each.timestamp for each in kept)
    return _encoded(kept[-1].offset, magic, attributes | codec, Record(payload, timestamp=timestamp))


def _encoded(offset: int, magic: int, attributes: int, record: Record) -> bytes:
    """Return a message with the key, value and timestamp of a record."""
    parts = [bytes((magic, attributes))]
    if magic:
        parts.append(_TIMESTAMP.pack(record.timestamp))
    for field in (record.key, record.value):
        parts.append(_SIZE.pack(-1 if field is None else len(field)))
        if field is not None:
            parts.append(field)
    checked = b"".join(parts)
    return b"".join(
        (_ENTRY.pack(offset, _CRC_SIZE + len(checked)), zlib.crc32(checked).to_bytes(_CRC_SIZE, "big"), checked)
    )
