"""Record batches with every header field open to be wrong, and a reader of what a broker stored."""

import gzip
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

from crc32c import crc32c

from .raw_primitives import RawReader, RawWriter

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
CODEC_MASK, TRANSACTIONAL_BIT, CONTROL_BIT = 0x07, 0x10, 0x20
# base_offset, batch_length; what the length does not count.
LENGTH_PREFIX_BYTES = 12
# partition_leader_epoch, magic, crc: counted in the length, not in the CRC.
BEFORE_CRC_BYTES = 9
CRC_START = LENGTH_PREFIX_BYTES + BEFORE_CRC_BYTES
HEADER_BYTES = 61


class RecordFields(TypedDict, total=False):
    """What may be set of one record; length_delta makes its length wrong by that much."""

    key: bytes | None
    offset_delta: int
    timestamp_delta: int
    headers: Sequence[tuple[bytes, bytes | None]]
    attributes: int
    length_delta: int


class BatchFields(TypedDict, total=False):
    """What may be set of one batch; what is left out is right for the records in it."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    max_timestamp: int
    timestamp_deltas: Sequence[int]
    offset_deltas: Sequence[int]
    last_offset_delta: int
    claimed_count: int
    key: bytes
    value: bytes | None
    records: Sequence[bytes]
    payload: bytes
    codec: int
    is_transactional: bool
    is_control: bool
    attributes_too: int
    magic: int
    base_offset: int
    partition_leader_epoch: int
    has_wrong_crc: bool
    length_delta: int


def record(value: bytes | None = b"v", **fields: Unpack[RecordFields]) -> bytes:
    """One record with its length in front."""
    body = RawWriter()
    body.int8(fields.get("attributes", 0))
    body.varint(fields.get("timestamp_delta", 0))
    body.varint(fields.get("offset_delta", 0))
    _write_data(body, fields.get("key"))
    _write_data(body, value)
    headers = fields.get("headers", ())
    body.varint(len(headers))
    for header_key, header_value in headers:
        _write_data(body, header_key)
        _write_data(body, header_value)
    length = RawWriter()
    length.varint(len(body.buffer) + fields.get("length_delta", 0))
    return length.getvalue() + body.getvalue()


def _write_data(writer: RawWriter, data: bytes | None) -> None:
    writer.varint(-1 if data is None else len(data))
    writer.raw(data or b"")


def batch(record_count: int, timestamp: int, **fields: Unpack[BatchFields]) -> bytes:
    """One batch in the layout of magic 2, with any value in its magic byte."""
    timestamp_deltas = fields.get("timestamp_deltas", [0] * record_count)
    tail = struct.pack(
        ">hiqqqhii",
        _attributes(fields),
        fields.get("last_offset_delta", record_count - 1),
        timestamp,
        fields.get("max_timestamp", timestamp + max(timestamp_deltas, default=0)),
        fields.get("producer_id", -1),
        fields.get("producer_epoch", -1),
        fields.get("base_sequence", -1),
        fields.get("claimed_count", record_count),
    ) + _payload(record_count, fields)
    head = struct.pack(
        ">qiibI",
        fields.get("base_offset", 0),
        BEFORE_CRC_BYTES + len(tail) + fields.get("length_delta", 0),
        fields.get("partition_leader_epoch", -1),
        fields.get("magic", 2),
        crc32c(tail) ^ fields.get("has_wrong_crc", False),
    )
    return head + tail


def _attributes(fields: BatchFields) -> int:
    transactional = TRANSACTIONAL_BIT if fields.get("is_transactional") else 0
    control = CONTROL_BIT if fields.get("is_control") else 0
    return fields.get("codec", 0) | transactional | control | fields.get("attributes_too", 0)


def _payload(record_count: int, fields: BatchFields) -> bytes:
    timestamp_deltas = fields.get("timestamp_deltas", [0] * record_count)
    offset_deltas = fields.get("offset_deltas", range(record_count))
    key, value = fields.get("key"), fields.get("value", b"v")
    records = fields.get("records") or [
        record(value, key=key, offset_delta=offset_deltas[index], timestamp_delta=timestamp_deltas[index])
        for index in range(record_count)
    ]
    plain = b"".join(records)
    match fields.get("codec", 0):
        case 0:
            return plain
        case 1:
            return gzip.compress(plain, 6)
        case 2:
            return xerial_snappy(plain)
        case _:
            return fields.get("payload", plain)


def xerial_snappy(plain: bytes) -> bytes:
    """Snappy with literals only, in the one block of a xerial stream, which is what Java producers write."""
    block = RawWriter()
    block.unsigned_varint(len(plain))
    for start in range(0, len(plain), 60):
        literal = plain[start : start + 60]
        block.raw(bytes([(len(literal) - 1) << 2]) + literal)
    return b"\x82SNAPPY\x00" + struct.pack(">iii", 1, 1, len(block.buffer)) + block.getvalue()


def legacy_message(magic: int, timestamp: int, value: bytes = b"v") -> bytes:
    """A message set of one message in the format before record batches (magic 0 or 1)."""
    body = RawWriter()
    body.int8(magic)
    body.int8(0)
    if magic == 1:
        body.int64(timestamp)
    body.int32(-1)
    body.int32(len(value))
    body.raw(value)
    message = struct.pack(">I", zlib.crc32(body.buffer)) + body.getvalue()
    return struct.pack(">qi", 0, len(message)) + message


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it came back in a fetch."""

    offset_delta: int
    timestamp_delta: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch as it came back in a fetch; records is None for a compressed one."""

    base_offset: int
    partition_leader_epoch: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int
    is_crc_right: bool
    payload: bytes
    records: list[StoredRecord] | None

    def plain_payload(self) -> bytes:
        """The records as bytes; gzip is the one codec that is undone."""
        return gzip.decompress(self.payload) if self.attributes & CODEC_MASK == GZIP else self.payload


def stored_batches(data: bytes) -> list[StoredBatch]:
    """The whole batches in the records of a fetch; a cut last one is left out."""
    batches: list[StoredBatch] = []
    position = 0
    while position + HEADER_BYTES <= len(data):
        end = position + LENGTH_PREFIX_BYTES + int.from_bytes(data[position + 8 : position + 12], "big")
        if end > len(data):
            break
        batches.append(_stored_batch(data[position:end]))
        position = end
    return batches


def _stored_batch(data: bytes) -> StoredBatch:
    base_offset, _, leader_epoch, _, crc = struct.unpack(">qiibI", data[:CRC_START])
    attributes, last_offset_delta, base_timestamp, max_timestamp, producer_id, producer_epoch, base_sequence, count = (
        struct.unpack(">hiqqqhii", data[CRC_START:HEADER_BYTES])
    )
    return StoredBatch(
        base_offset=base_offset,
        partition_leader_epoch=leader_epoch,
        attributes=attributes,
        last_offset_delta=last_offset_delta,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=count,
        is_crc_right=crc32c(data[CRC_START:]) == crc,
        payload=data[HEADER_BYTES:],
        records=None if attributes & CODEC_MASK else stored_records(data[HEADER_BYTES:], count),
    )


def stored_records(payload: bytes, count: int) -> list[StoredRecord]:
    """The records of an uncompressed payload."""
    reader = RawReader(payload)
    return [_stored_record(reader) for _ in range(count)]


def _stored_record(reader: RawReader) -> StoredRecord:
    reader.varint()
    reader.int8()
    timestamp_delta, offset_delta = reader.varint(), reader.varint()
    key, value = _read_data(reader), _read_data(reader)
    for _ in range(reader.varint()):
        _read_data(reader)
        _read_data(reader)
    return StoredRecord(offset_delta=offset_delta, timestamp_delta=timestamp_delta, key=key, value=value)


def _read_data(reader: RawReader) -> bytes | None:
    length = reader.varint()
    return None if length < 0 else reader.take(length)
