"""Validation of the encoded records of a batch against its header, without an object for each record.

This is the only work for each record of a Produce: one loop over the bytes. mypyc compiles this file where a C compiler
is found at installation (setup.py); elsewhere it runs as plain Python, with the same results. Therefore:

* All numbers of the loop fit 64 bits with a sign (i64), which mypyc keeps in registers.
* A varint of one byte, which most are, is read without a function call: plain Python takes a third of the time less.

Source: DefaultRecord.readFrom and readPartiallyFrom, DefaultRecordBatch.uncompressedIterator, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

# About a millisecond.
RECORDS_PER_PIECE: Final = 50_000

_LONG_MAX: Final = 2**63 - 1
_LONG_MIN: Final = -(2**63)
_INT_MASK: Final = 2**32 - 1

# A varint has at most 5 bytes of 7 bits. A varlong has at most 10, the last one of a single bit.
_VARINT_BITS_MAX: Final = 35
_VARLONG_BITS_BEFORE_LAST: Final = 63


class InvalidRecords(Exception):
    """The records are invalid, or do not match the header. The message names the record and the reason."""


class OverlongRecordLength(Exception):
    """The length of an uncompressed record has more than five bytes. Kafka fails, instead of rejecting the batch."""


class RecordsSummary:
    """Properties of the records of a batch. Timestamps are deltas from the batch's base timestamp, in ms.

    A class with slots, because it is fast to create and mypyc compiles it.
    """

    __slots__ = ("are_keys_present", "are_offsets_in_order", "greatest_timestamp_delta", "least_timestamp_delta")

    def __init__(self, least: int, greatest: int, are_offsets_in_order: bool, are_keys_present: bool) -> None:
        """least, greatest: of the timestamp deltas. are_offsets_in_order: whether they count from 0."""
        self.least_timestamp_delta = least
        self.greatest_timestamp_delta = greatest
        self.are_offsets_in_order = are_offsets_in_order
        self.are_keys_present = are_keys_present


def summarize_records(
    data: bytes, position: i64, records_count: i64, are_lengths_checked: bool, pause: Callable[[], None]
) -> RecordsSummary:
    """Validate records_count (1 or more) records from position on, which must end exactly at the end of data.

    are_lengths_checked: False for compressed records, whose length fields Kafka ignores.
    pause: called after each RECORDS_PER_PIECE records, or headers of one record, so that a thread can let others run:
    compiled code holds the interpreter lock.
    Raises InvalidRecords; with are_lengths_checked also OverlongRecordLength.
    """
    try:
        return _scan_records(data, position, records_count, are_lengths_checked, pause)
    except IndexError:
        raise InvalidRecords(f"the records end at byte {len(data)}, before {records_count} are read") from None


def _scan_records(
    data: bytes, position: i64, records_count: i64, are_lengths_checked: bool, pause: Callable[[], None]
) -> RecordsSummary:
    """Validate the records. Raises IndexError where they go beyond the end of data."""
    least: i64 = _LONG_MAX
    greatest: i64 = _LONG_MIN
    are_offsets_in_order = are_keys_present = True
    piece_end: i64 = RECORDS_PER_PIECE
    index: i64
    for index in range(records_count):
        if index == piece_end:
            piece_end += RECORDS_PER_PIECE
            pause()
        # Sizes and deltas are in zigzag encoding. Even is twice the size, odd is a negative size, which has no bytes.
        length: i64 = data[position]
        position += 1
        if length > 127:
            length, position = _read_record_length(data, position - 1, are_lengths_checked)
        end = position if length & 1 else position + (length >> 1)
        # At position is the attributes byte, whose bits have no meaning.
        timestamp: i64 = data[position + 1]
        position += 2
        if timestamp > 127:
            timestamp, position = read_varlong(data, position - 1)
        else:
            timestamp = (timestamp >> 1) ^ -(timestamp & 1)
        if timestamp < least:
            least = timestamp
        if timestamp > greatest:
            greatest = timestamp
        offset: i64 = data[position]
        position += 1
        if offset > 127:
            offset, position = read_unsigned_varint(data, position - 1)
        if offset != index << 1:
            are_offsets_in_order = False
        key_size: i64 = data[position]
        position += 1
        if key_size > 127:
            key_size, position = read_unsigned_varint(data, position - 1)
        if key_size & 1:
            are_keys_present = False
        else:
            position += key_size >> 1
        value_size: i64 = data[position]
        position += 1
        if value_size > 127:
            value_size, position = read_unsigned_varint(data, position - 1)
        if not value_size & 1:
            position += value_size >> 1
        if data[position]:
            position = _skip_headers(data, position, pause)
        else:
            position += 1
        if position != end and are_lengths_checked:
            raise InvalidRecords(f"record {index} ends at byte {position}, its length says {end}")
    if position != len(data):
        raise InvalidRecords(f"{records_count} records end at byte {position} of {len(data)}")
    return RecordsSummary(least, greatest, are_offsets_in_order, are_keys_present)


def _read_record_length(data: bytes, position: i64, are_lengths_checked: bool) -> tuple[i64, i64]:
    """Return the length at position in zigzag encoding, and the position after it."""
    try:
        return read_unsigned_varint(data, position)
    except InvalidRecords as error:
        if are_lengths_checked:
            raise OverlongRecordLength(str(error)) from None
        raise


def _skip_headers(data: bytes, position: i64, pause: Callable[[], None]) -> i64:
    """Return the position after the headers. position: of their count."""
    count, position = read_unsigned_varint(data, position)
    # A count above the bytes that are left is rejected before any header is read.
    if count & 1 or count >> 1 > len(data) - position:
        raise InvalidRecords(f"{(count >> 1) ^ -(count & 1)} headers at byte {position} of {len(data)}")
    piece_end: i64 = RECORDS_PER_PIECE
    index: i64
    for index in range(count >> 1):
        if index == piece_end:
            piece_end += RECORDS_PER_PIECE
            pause()
        raw, position = read_unsigned_varint(data, position)
        if raw & 1:
            raise InvalidRecords(f"a header key of negative size at byte {position}")
        raw, position = read_unsigned_varint(data, position + (raw >> 1))
        if not raw & 1:
            position += raw >> 1
    return position


def read_unsigned_varint(data: bytes, position: i64) -> tuple[i64, i64]:
    """Return the varint at position as 32 unsigned bits, and the position after it.

    Raises InvalidRecords for more than five bytes, IndexError past the end of data.
    """
    value: i64 = 0
    shift: i64 = 0
    while shift < _VARINT_BITS_MAX:
        byte: i64 = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            # Java drops the bits of the fifth byte above 32.
            return value & _INT_MASK, position
        shift += 7
    raise InvalidRecords(f"a varint of more than five bytes ends after byte {position}")


def read_varlong(data: bytes, position: i64) -> tuple[i64, i64]:
    """Return the number of the zigzag varlong at position, and the position after it.

    Raises InvalidRecords for more than ten bytes, IndexError past the end of data.
    """
    value: i64 = 0
    shift: i64 = 0
    while shift < _VARLONG_BITS_BEFORE_LAST:
        byte: i64 = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
    byte = data[position]
    position += 1
    if byte > 127:
        raise InvalidRecords(f"a varlong of more than ten bytes ends after byte {position}")
    # Java drops all bits of the tenth byte but one, bit 63 of the number. It is added after the shift, within 63 bits.
    return ((value >> 1) | (byte & 1) << 62) ^ -(value & 1), position
