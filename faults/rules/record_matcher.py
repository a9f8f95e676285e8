"""Whether a batch has a record with a wanted key and header; the only part of matching that decodes records."""

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

# Of the keys, or header values, that were there instead of the wanted one, so many are told, and so much of each.
_TOLD_MAX = 3
_TOLD_BYTES_MAX = 60

# What reading bytes that are no batch may raise; ValueError is a codec that is none.
_BROKEN = (InvalidRecords, BrokenPayload, PayloadTooLarge, IndexError, ValueError, struct.error)


@dataclass(frozen=True, slots=True)
class RecordMismatch:
    """The field that no record had, and what the records had: base64, or words where they cannot be read."""

    field: str
    got: tuple[str, ...] | str | None


class RecordMatcher:
    """Asks for one record with a key out of some and a header out of some; None asks nothing."""

    def __init__(self, key: AnyBytes | None, header: AnyHeader | None) -> None:
        """Make the wanted values ready."""
        self._keys = None if key is None else frozenset(map(_bytes_of, key if isinstance(key, list) else [key]))
        self._headers: list[tuple[str, bytes | None]] | None = None
        if header is not None:
            self._headers = [_header_of(each) for each in (header if isinstance(header, list) else [header])]

    def find_mismatch(self, batch: memoryview | None) -> RecordMismatch | None:
        """Return None if a record of the batch is a wanted one; batch: None for a part of a request without one."""
        first_field = "header" if self._keys is None else "key"
        if batch is None:
            return RecordMismatch(first_field, None)
        records = _decoded(batch)
        if records is None:
            return RecordMismatch(first_field, "a batch that does not decode")
        keys = self._keys
        with_key = records if keys is None else [record for record in records if record.key in keys]
        if not with_key:
            return RecordMismatch("key", _told([record.key for record in records]))
        if self._headers is None or any(self._has_header(record) for record in with_key):
            return None
        names = {name for name, _ in self._headers}
        return RecordMismatch(
            "header", _told([value for record in with_key for name, value in record.headers if name in names])
        )

    def _has_header(self, record: Record) -> bool:
        assert self._headers is not None, "only asked where a header is wanted"
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


def _told(values: list[bytes | None]) -> tuple[str, ...]:
    """Return some of the values as base64."""
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    told = [b64encode(value[:_TOLD_BYTES_MAX]).decode() for value in distinct[:_TOLD_MAX]]
    return (*told, f"and {len(distinct) - _TOLD_MAX} more") if len(distinct) > _TOLD_MAX else tuple(told)
