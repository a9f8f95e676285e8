"""The one loop over the bytes of a batch's records: are they what the header says?

This is the only work per record on the way in, so it makes no object per record or field and calls nothing for the
varints of one and two bytes that records consist of. It is plain typed code of ints and bytes, which mypyc can compile;
nothing else may move in here.
Source: DefaultRecord.readFrom and readPartiallyFrom, DefaultRecordBatch.uncompressedIterator, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import NamedTuple

# Wider than any delta that a varlong holds, so that the first record always sets both bounds.
_BEYOND_LONG = 2**64

# A varint has at most 5 bytes, a varlong 10; what a longer one says is never looked at.
_VARINT_SHIFT_MAX = 28
_VARLONG_SHIFT_MAX = 63

_INT_MASK = 2**32 - 1
_LONG_MASK = 2**64 - 1


class InvalidRecords(Exception):
    """The records are not what the header says, or not records; the words say which one and how."""


class OverlongRecordLength(Exception):
    """The length of an uncompressed record goes on past its five bytes; Kafka fails on it and refuses nothing."""


class RecordsSummary(NamedTuple):
    """What the records of a batch have in common; timestamps are deltas from the batch's base timestamp."""

    end_position: int
    least_timestamp_delta: int
    greatest_timestamp_delta: int
    are_offsets_in_order: bool
    are_keys_present: bool


def summarize_records(data: bytes, position: int, records_count: int, are_lengths_checked: bool) -> RecordsSummary:
    """Read records_count records (one or more) from position to exactly the end of data.

    are_lengths_checked: False reads as Kafka reads records that came compressed, which looks at the fields alone.
    Raises InvalidRecords; OverlongRecordLength only where are_lengths_checked.
    """
    try:
        summary = _scan_records(data, position, records_count, are_lengths_checked)
    except IndexError:
        raise InvalidRecords(f"the records end at byte {len(data)}, before {records_count} are read") from None
    if summary.end_position != len(data):
        raise InvalidRecords(f"{records_count} records end at byte {summary.end_position} of {len(data)}")
    return summary


def _scan_records(data: bytes, position: int, records_count: int, are_lengths_checked: bool) -> RecordsSummary:
    least, greatest, last_timestamp = _BEYOND_LONG, -_BEYOND_LONG, -1
    are_offsets_in_order = are_keys_present = True
    # Varints stay zigzag as long as that is enough: an even one is twice its value, an odd one is negative. So the
    # offset delta of the nth record is 2n, and an odd length never meets twice a position.
    for expected_offset in range(0, records_count * 2, 2):
        length = data[position]
        position += 1
        if length > 127:
            length += (data[position] << 7) - 128
            position += 1
            if length > 16383:
                length, position = _read_record_length(data, position - 2, are_lengths_checked)
        end_doubled = position + position + length
        # The attributes, one byte that means nothing, are stepped over.
        timestamp = data[position + 1]
        position += 2
        if timestamp > 127:
            timestamp, position = read_unsigned_varlong(data, position - 1)
        if timestamp != last_timestamp:
            last_timestamp = timestamp
            delta = (timestamp >> 1) ^ -(timestamp & 1)
            greatest = delta if delta > greatest else greatest
            least = delta if delta < least else least
        offset = data[position]
        position += 1
        if offset > 127:
            offset += (data[position] << 7) - 128
            position += 1
            if offset > 16383:
                offset, position = read_unsigned_varint(data, position - 2)
        if offset != expected_offset:
            are_offsets_in_order = False
        size = data[position]
        position += 1
        if size > 127:
            size, position = read_unsigned_varint(data, position - 1)
        if size & 1:
            are_keys_present = False
        else:
            position += size >> 1
        size = data[position]
        position += 1
        if size > 127:
            size += (data[position] << 7) - 128
            position += 1
            if size > 16383:
                size, position = read_unsigned_varint(data, position - 2)
        if not size & 1:
            position += size >> 1
        position = _skip_headers(data, position) if data[position] else position + 1
        if position + position != end_doubled and are_lengths_checked:
            raise InvalidRecords(f"record {expected_offset >> 1} ends at byte {position}, not where its length says")
    return RecordsSummary(position, least, greatest, are_offsets_in_order, are_keys_present)


def _read_record_length(data: bytes, position: int, are_lengths_checked: bool) -> tuple[int, int]:
    """Return the zigzag length at position and where it ends."""
    try:
        return read_unsigned_varint(data, position)
    except InvalidRecords as error:
        if are_lengths_checked:
            raise OverlongRecordLength(str(error)) from None
        raise


def _skip_headers(data: bytes, position: int) -> int:
    """Return where the headers end whose count is at position."""
    count, position = read_unsigned_varint(data, position)
    # More headers than bytes left cannot be read, and are refused before any of them is.
    if count & 1 or count >> 1 > len(data) - position:
        raise InvalidRecords(f"{(count >> 1) ^ -(count & 1)} headers at byte {position} of {len(data)}")
    for _ in range(count >> 1):
        size, position = read_unsigned_varint(data, position)
        if size & 1:
            raise InvalidRecords(f"a header key of negative size at byte {position}")
        position += size >> 1
        size, position = read_unsigned_varint(data, position)
        if not size & 1:
            position += size >> 1
    return position


def read_unsigned_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the varint at position as 32 unsigned bits, and where it ends.

    Raises InvalidRecords for more than five bytes, IndexError past the end of data.
    """
    value = 0
    for shift in range(0, _VARINT_SHIFT_MAX + 1, 7):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            # Java drops what the fifth byte has above 32 bits.
            return value & _INT_MASK, position
    raise InvalidRecords(f"a varint of more than five bytes ends after byte {position}")


def read_unsigned_varlong(data: bytes, position: int) -> tuple[int, int]:
    """Return the varlong at position as 64 unsigned bits, and where it ends.

    Raises InvalidRecords for more than ten bytes, IndexError past the end of data.
    """
    value = 0
    for shift in range(0, _VARLONG_SHIFT_MAX + 1, 7):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _LONG_MASK, position
    raise InvalidRecords(f"a varlong of more than ten bytes ends after byte {position}")
