"""Records of a batch: decoding and encoding, with one object for each record. Produce and Fetch do not use it.

Source: DefaultRecord, DefaultRecordBatch and MemoryRecordsBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..java_long import wrapped_long
from ..sequences import NO_SEQUENCE
from . import compression
from .record_batch import (
    COMPRESSION_MASK,
    CONTROL_BIT,
    HEADER_SIZE,
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Compression,
    HeaderFields,
    parse_header,
    sealed_header,
)
from .record_validation import InvalidRecords, read_unsigned_varint, read_varlong

_LONG_RANGE = 2**64

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record.

    timestamp: in ms; -1 for none. offset: build_batch ignores it, and counts from base_offset.
    """

    value: bytes | None = None
    key: bytes | None = None
    timestamp: int = NO_TIMESTAMP
    headers: Headers = ()
    offset: int = 0


@dataclass(frozen=True, slots=True)
class RecordFields:
    """The numbers of a record, and the positions of its key, value and headers. Sizes are -1 for null."""

    offset: int
    timestamp: int
    key_size: int
    value_size: int
    key_position: int
    value_position: int
    headers_position: int


@dataclass(frozen=True, slots=True)
class RebuiltRecords:
    """Encoded records, and the base timestamp of their deltas."""

    data: bytes
    base_timestamp: int


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Header fields for build_batch; the defaults are those of a batch without a producer."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    compression: Compression = Compression.NONE
    is_transactional: bool = False
    is_control: bool = False
    base_offset: int = 0
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH


def build_batch(batch_records: Sequence[Record], options: BatchOptions = BatchOptions()) -> bytes:
    """Return a batch of one or more records, with consecutive offsets from base_offset."""
    assert batch_records, "a batch has at least one record"
    base_timestamp = batch_records[0].timestamp
    data = b"".join(
        encode_record(record, index, record.timestamp - base_timestamp) for index, record in enumerate(batch_records)
    )
    attributes = int(options.compression)
    if options.is_transactional:
        attributes |= TRANSACTIONAL_BIT
    if options.is_control:
        attributes |= CONTROL_BIT
    payload = compression.compress(options.compression, data)
    fields = HeaderFields(
        base_offset=options.base_offset,
        length=0,
        partition_leader_epoch=options.partition_leader_epoch,
        magic=MAGIC_V2,
        crc=0,
        attributes=attributes,
        last_offset_delta=len(batch_records) - 1,
        base_timestamp=base_timestamp,
        max_timestamp=max(record.timestamp for record in batch_records),
        producer_id=options.producer_id,
        producer_epoch=options.producer_epoch,
        base_sequence=options.base_sequence,
        records_count=len(batch_records),
    )
    return sealed_header(BatchHeader(fields), payload) + payload


# What decoding the bytes of an invalid batch may raise; ValueError is an unknown codec.
DECODE_ERRORS = (
    InvalidRecords,
    compression.BrokenPayload,
    compression.PayloadTooLarge,
    IndexError,
    ValueError,
    struct.error,
)


def decode_batch(batch: memoryview | bytes) -> list[Record]:
    """Return the records of a stored batch. Raises as iterate_records does."""
    return list(iterate_records(batch))


def iterate_records(batch: memoryview | bytes) -> Iterator[Record]:
    """Yield the records of a stored batch, with no other checks than decoding needs.

    Raises DECODE_ERRORS for bytes that are not a batch.
    """
    header = parse_header(batch)
    data, position = records_data(header, batch)
    for fields in iterate_fields(header, data, position):
        yield record_of(fields, data)


def records_data(header: BatchHeader, batch: memoryview | bytes) -> tuple[bytes, int]:
    """Return the decompressed records of a batch, and the position of the first record in them."""
    codec = header.attributes & COMPRESSION_MASK
    if codec:
        return compression.decompress(Compression(codec), memoryview(batch)[HEADER_SIZE : header.size]), 0
    return bytes(batch[: header.size]), HEADER_SIZE


def iterate_fields(header: BatchHeader, data: bytes, position: int) -> Iterator[RecordFields]:
    """Yield the fields of each record in data from position on, with absolute offsets."""
    log_append_time = header.max_timestamp if header.attributes & TIMESTAMP_TYPE_BIT else None
    for _ in range(header.records_count):
        _, position = read_unsigned_varint(data, position)
        delta, position = read_varlong(data, position + 1)
        timestamp = wrapped_long(header.base_timestamp + delta)
        raw, position = read_unsigned_varint(data, position)
        offset = header.base_offset + _unzigzag(raw)
        raw, key_position = read_unsigned_varint(data, position)
        key_size = _unzigzag(raw)
        raw, value_position = read_unsigned_varint(data, key_position + max(key_size, 0))
        value_size = _unzigzag(raw)
        headers_position = value_position + max(value_size, 0)
        yield RecordFields(
            offset,
            timestamp if log_append_time is None else log_append_time,
            key_size if key_size >= 0 else -1,
            value_size if value_size >= 0 else -1,
            key_position,
            value_position,
            headers_position,
        )
        position = _headers_end(data, headers_position)


def key_of(fields: RecordFields, data: bytes) -> bytes | None:
    """Return the key of a record in data; None for null."""
    return data[fields.key_position : fields.key_position + fields.key_size] if fields.key_size >= 0 else None


def header_count_of(fields: RecordFields, data: bytes) -> int:
    """Return the number of headers of a record in data."""
    return read_unsigned_varint(data, fields.headers_position)[0] >> 1


def _headers_end(data: bytes, position: int) -> int:
    count, position = read_unsigned_varint(data, position)
    for _ in range(count >> 1):
        raw, position = read_unsigned_varint(data, position)
        raw, position = read_unsigned_varint(data, position + max(_unzigzag(raw), 0))
        position += max(_unzigzag(raw), 0)
    return position


def record_of(fields: RecordFields, data: bytes) -> Record:
    """Return the record of these fields in data. Raises IndexError for headers that are cut."""
    key = value = None
    if fields.key_size >= 0:
        key = data[fields.key_position : fields.key_position + fields.key_size]
    if fields.value_size >= 0:
        value = data[fields.value_position : fields.value_position + fields.value_size]
    return Record(value, key, fields.timestamp, _headers_of(data, fields.headers_position), fields.offset)


def _headers_of(data: bytes, position: int) -> Headers:
    headers: list[tuple[str, bytes | None]] = []
    count, position = read_unsigned_varint(data, position)
    for _ in range(count >> 1):
        raw, position = read_unsigned_varint(data, position)
        size = _unzigzag(raw)
        name = data[position : position + size].decode("utf-8", "replace")
        raw, position = read_unsigned_varint(data, position + size)
        size = _unzigzag(raw)
        headers.append((name, data[position : position + size] if size >= 0 else None))
        position += max(size, 0)
    return tuple(headers)


def rebuild_records(header: BatchHeader, data: bytes, position: int) -> RebuiltRecords:
    """Return the validated records as Kafka encodes them: consecutive offsets, no attributes.

    Source: LogValidator.buildRecordsAndAssignOffsets, Kafka 4.3.0.
    """
    rebuilt = bytearray()
    base_timestamp: int | None = None
    for index, fields in enumerate(iterate_fields(header, data, position)):
        if base_timestamp is None:
            base_timestamp = fields.timestamp
        record = _raw_record(fields, data)
        rebuilt += _sized(_record_start(index, fields.timestamp - base_timestamp) + record)
    assert base_timestamp is not None, "a validated batch has records"
    return RebuiltRecords(bytes(rebuilt), base_timestamp)


def rewrite_records(
    header: BatchHeader, data: bytes, batch_records: Sequence[RecordFields], base_timestamp: int
) -> bytes:
    """Return some records of a batch, encoded with their own offsets and with deltas from base_timestamp."""
    return b"".join(
        _sized(
            _record_start(fields.offset - header.base_offset, wrapped_long(fields.timestamp - base_timestamp))
            + _raw_record(fields, data)
        )
        for fields in batch_records
    )


def _raw_record(fields: RecordFields, data: bytes) -> bytes:
    """Return the encoded record from its key size on, with every size in its shortest form."""
    key = data[fields.key_position : fields.key_position + max(fields.key_size, 0)]
    value = data[fields.value_position : fields.value_position + max(fields.value_size, 0)]
    parts = [varint(fields.key_size), key, varint(fields.value_size), value]
    count, position = read_unsigned_varint(data, fields.headers_position)
    parts.append(varint(count >> 1))
    # A name and a value for each header.
    for _ in range(count & ~1):
        raw, position = read_unsigned_varint(data, position)
        size = _unzigzag(raw)
        parts += (varint(max(size, -1)), data[position : position + max(size, 0)])
        position += max(size, 0)
    return b"".join(parts)


def rebuilt_batch(
    header: BatchHeader, codec: Compression, base_timestamp: int, max_timestamp: int, payload: bytes
) -> bytes:
    """Return a batch of payload with the header's producer and sequence."""
    attributes = header.attributes & TRANSACTIONAL_BIT | codec
    rebuilt = header.replaced(attributes=attributes, base_timestamp=base_timestamp, max_timestamp=max_timestamp)
    return sealed_header(rebuilt, payload) + payload


def encode_record(record: Record, offset_delta: int, timestamp_delta: int) -> bytes:
    """Return the bytes of one record in a batch."""
    parts = [_record_start(offset_delta, timestamp_delta), _sized_or_null(record.key), _sized_or_null(record.value)]
    parts.append(varint(len(record.headers)))
    for name, value in record.headers:
        parts.append(_sized_or_null(name.encode()))
        parts.append(_sized_or_null(value))
    return _sized(b"".join(parts))


def _record_start(offset_delta: int, timestamp_delta: int) -> bytes:
    return b"\0" + varint(timestamp_delta) + varint(offset_delta)


def _sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def _sized_or_null(data: bytes | None) -> bytes:
    return varint(-1) if data is None else _sized(data)


def varint(value: int) -> bytes:
    """Return value as a zigzag varint, or varlong, in its shortest form."""
    unsigned = ((value << 1) ^ (value >> 63)) % _LONG_RANGE
    encoded = bytearray()
    while unsigned > 127:
        encoded.append(unsigned & 127 | 128)
        unsigned >>= 7
    encoded.append(unsigned)
    return bytes(encoded)


def _unzigzag(raw: int) -> int:
    return (raw >> 1) ^ -(raw & 1)
