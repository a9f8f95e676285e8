"""Batches and records as bytes, with any field wrong on request; independent of the product's encoder."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from crc32c import crc32c

NOW_MS = 1_700_000_000_000


def zigzag(value: int) -> bytes:
    raw = (value << 1) ^ (value >> 63)
    return unsigned(raw % 2**64)


def unsigned(raw: int) -> bytes:
    encoded = b""
    while raw > 127:
        encoded += bytes((raw & 127 | 128,))
        raw >>= 7
    return encoded + bytes((raw,))


def sized(data: bytes | None) -> bytes:
    return zigzag(-1) if data is None else zigzag(len(data)) + data


def record(
    value: bytes | None = b"v",
    key: bytes | None = None,
    *,
    offset_delta: int = 0,
    timestamp_delta: int = 0,
    headers: Sequence[tuple[bytes, bytes | None]] = (),
    attributes: int = 0,
    length_error: int = 0,
) -> bytes:
    body = bytes((attributes,)) + zigzag(timestamp_delta) + zigzag(offset_delta) + sized(key) + sized(value)
    body += zigzag(len(headers)) + b"".join(sized(name) + sized(content) for name, content in headers)
    return zigzag(len(body) + length_error) + body


def records(count: int, value: bytes | None = b"v", key: bytes | None = None) -> bytes:
    return b"".join(record(value, key, offset_delta=index) for index in range(count))


def batch(
    payload: bytes | None = None,
    *,
    count: int = 1,
    attributes: int = 0,
    base_offset: int = 0,
    last_offset_delta: int | None = None,
    base_timestamp: int = NOW_MS,
    max_timestamp: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    leader_epoch: int = -1,
    magic: int = 2,
    crc_error: int = 0,
    length_error: int = 0,
) -> bytes:
    """Return a batch of count records, or of payload. Omitted fields are valid."""
    content = records(count) if payload is None else payload
    checked = struct.pack(
        ">hiqqqhii",
        attributes,
        count - 1 if last_offset_delta is None else last_offset_delta,
        base_timestamp,
        base_timestamp if max_timestamp is None else max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )
    crc = crc32c(checked + content) ^ crc_error
    length = 9 + len(checked) + len(content) + length_error
    return struct.pack(">qiibI", base_offset, length, leader_epoch, magic, crc) + checked + content
