"""Matches the key and header of a record: the only part of matching that decodes records."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from ...protocol.batches import records as record_codec
from ...protocol.batches.record_batch import HEADER_SIZE, is_whole, parse_header
from ...protocol.batches.records import Record
from ..json_bytes import bytes_of, bytes_value_of
from ..match_values import AnyBytes, AnyHeader, HeaderMatch
from .near_misses import GotBytes, MoreValues, StartOfValue

# Keys or header values that a mismatch reports, those that it counts, and the bytes of each.
_REPORTED_MAX = 3
_COUNTED_MAX = 1000
_REPORTED_BYTES_MAX = 60

_DOES_NOT_DECODE = "a batch that does not decode"


@dataclass(frozen=True, slots=True)
class RecordMismatch:
    """The field that no record had, and the values that the records had; a text if the batch does not decode."""

    field: str
    got: tuple[GotBytes, ...] | str | None


class RecordMatcher:
    """Matches a batch that has one record with any of these keys and any of these headers."""

    def __init__(self, key: AnyBytes | None, header: AnyHeader | None) -> None:
        """Prepare the wanted values. None matches every record."""
        self._keys = None if key is None else frozenset(map(bytes_of, key if isinstance(key, list) else [key]))
        self._headers: list[tuple[str, bytes | None]] | None = None
        if header is not None:
            self._headers = [_header_of(each) for each in (header if isinstance(header, list) else [header])]

    def find_mismatch(self, batch: memoryview | None) -> RecordMismatch | None:
        """Return None if a record matches. batch: None for a part of a request without a batch."""
        first_field = "header" if self._keys is None else "key"
        if batch is None:
            return RecordMismatch(first_field, None)
        if len(batch) < HEADER_SIZE or not is_whole(parse_header(batch), len(batch)):
            return RecordMismatch(first_field, _DOES_NOT_DECODE)
        try:
            return self._find_mismatch(record_codec.iterate_records(batch))
        except record_codec.DECODE_ERRORS:
            return RecordMismatch(first_field, _DOES_NOT_DECODE)

    def _find_mismatch(self, records: Iterable[Record]) -> RecordMismatch | None:
        """Decode all records, one at a time: a damaged one after a match makes the batch a mismatch too."""
        keys, headers = self._keys, self._headers
        names = {name for name, _ in headers or ()}
        other_keys, other_values = _Reported(), _Reported()
        is_key_found = is_found = False
        for record in records:
            if keys is not None and record.key not in keys:
                other_keys.add(record.key)
                continue
            is_key_found = True
            if headers is None or self._has_header(record):
                is_found = True
                continue
            for name, value in record.headers:
                if name in names:
                    other_values.add(value)
        if is_found:
            return None
        return (
            RecordMismatch("header", other_values.values())
            if is_key_found or keys is None
            else RecordMismatch("key", other_keys.values())
        )

    def _has_header(self, record: Record) -> bool:
        assert self._headers is not None, "called only if a header is wanted"
        return any(
            name == wanted_name and (wanted is None or value == wanted)
            for wanted_name, wanted in self._headers
            for name, value in record.headers
        )


def _header_of(wanted: HeaderMatch) -> tuple[str, bytes | None]:
    return wanted.name, None if wanted.value is None else bytes_of(wanted.value)


class _Reported:
    """The distinct values that records have instead of the wanted one."""

    def __init__(self) -> None:
        self._distinct: dict[bytes, None] = {}

    def add(self, value: bytes | None) -> None:
        if value is not None and len(self._distinct) < _COUNTED_MAX:
            self._distinct[value] = None

    def values(self) -> tuple[GotBytes, ...]:
        """Return the first values, and the number of the others."""
        first = tuple(map(_reported_value, islice(self._distinct, _REPORTED_MAX)))
        count = len(self._distinct)
        if count <= _REPORTED_MAX:
            return first
        return (*first, MoreValues(more=count - _REPORTED_MAX, at_least=count == _COUNTED_MAX))


def _reported_value(value: bytes) -> GotBytes:
    start = value[:_REPORTED_BYTES_MAX]
    if len(start) == len(value):
        return bytes_value_of(value)
    with suppress(UnicodeDecodeError):
        # Leaves out a character of which only the first bytes are in the start.
        return StartOfValue(starts_with=getincrementaldecoder("utf-8")().decode(start), size=len(value))
    return StartOfValue(starts_with=bytes_value_of(start), size=len(value))
