"""Matches the key and header of a record: the only part of matching that decodes records."""

from __future__ import annotations

import struct
from base64 import b64encode
from dataclasses import dataclass

from ...protocol.batches import records as record_codec
from ...protocol.batches.compression import BrokenPayload, PayloadTooLarge
from ...protocol.batches.record_batch import HEADER_SIZE, is_whole, parse_header
from ...protocol.batches.record_validation import InvalidRecords
from ...protocol.batches.records import Record
from .match import AnyBytes, AnyHeader, HeaderMatch, TextBytes

# Keys or header values that a mismatch reports, and the bytes of each.
_REPORTED_MAX = 3
_REPORTED_BYTES_MAX = 60

# What decoding an invalid batch may raise; ValueError is an unknown codec.
_BROKEN = (InvalidRecords, BrokenPayload, PayloadTooLarge, IndexError, ValueError, struct.error)


@dataclass(frozen=True, slots=True)
class RecordMismatch:
    """The field that no record had, and what the records had: base64, or a text if they do not decode."""

    field: str
    got: tuple[str, ...] | str | None


class RecordMatcher:
    """Matches a batch that has one record with any of these keys and any of these headers."""

    def __init__(self, key: AnyBytes | None, header: AnyHeader | None) -> None:
        """Prepare the wanted values. None matches every record."""
        self._keys = None if key is None else frozenset(map(_bytes_of, key if isinstance(key, list) else [key]))
        self._headers: list[tuple[str, bytes | None]] | None = None
        if header is not None:
            self._headers = [_header_of(each) for each in (header if isinstance(header, list) else [header])]

    def find_mismatch(self, batch: memoryview | None) -> RecordMismatch | None:
        """Return None if a record matches. batch: None for a part of a request without a batch."""
        first_field = "header" if self._keys is None else "key"
        if batch is None:
            return RecordMismatch(first_field, None)
        records = _decoded(batch)
        if records is None:
            return RecordMismatch(first_field, "a batch that does not decode")
        keys = self._keys
        with_key = records if keys is None else [record for record in records if record.key in keys]
        if not with_key:
            return RecordMismatch("key", _reported([record.key for record in records]))
        if self._headers is None or any(self._has_header(record) for record in with_key):
            return None
        names = {name for name, _ in self._headers}
        return RecordMismatch(
            "header", _reported([value for record in with_key for name, value in record.headers if name in names])
        )

    def _has_header(self, record: Record) -> bool:
        assert self._headers is not None, "called only if a header is wanted"
        return any(
            name == wanted_name and (wanted is None or value == wanted)
            for wanted_name, wanted in self._headers
            for name, value in record.headers
        )


def _decoded(batch: memoryview) -> list[Record] | None:
    if len(batch) < HEADER_SIZE or not is_whole(parse_header(batch), len(batch)):
        return None
    try:
        return record_codec.decode_batch(batch)
    except _BROKEN:
        return None


def _header_of(wanted: HeaderMatch) -> tuple[str, bytes | None]:
    return wanted.name, None if wanted.value is None else _bytes_of(wanted.value)


def _bytes_of(wanted: bytes | TextBytes) -> bytes:
    return wanted.text.encode() if isinstance(wanted, TextBytes) else wanted


def _reported(values: list[bytes | None]) -> tuple[str, ...]:
    """Return the first values as base64."""
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    reported = [b64encode(value[:_REPORTED_BYTES_MAX]).decode() for value in distinct[:_REPORTED_MAX]]
    return (
        (*reported, f"and {len(distinct) - _REPORTED_MAX} more") if len(distinct) > _REPORTED_MAX else tuple(reported)
    )
