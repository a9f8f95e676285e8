"""Validation of the encoded records of a batch against its header, without an object for each record.

This is the only work for each record of a Produce. It creates no object for a record or field, and calls no function
for varints of one or two bytes, which are most. Consecutive records of the same shape (a row) are validated together:
the bytes at one position of all records, a column, are compared in one step. The module is typed code of ints and bytes
only, which mypyc can compile.
Source: DefaultRecord.readFrom and readPartiallyFrom, DefaultRecordBatch.uncompressedIterator, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct

# Beyond any delta of a varlong, so that the first record always sets both bounds.
_BEYOND_LONG = 2**64

# A varint has at most 5 bytes, a varlong 10.
_VARINT_SHIFT_MAX = 28
_VARLONG_SHIFT_MAX = 63

_INT_MASK = 2**32 - 1
_LONG_MASK = 2**64 - 1

# The number of bytes after a size varint of one or two bytes. Zigzag: even is twice the size, odd is a negative size,
# which has no bytes. The lookup takes half the time of the shift.
_TWO_BYTES_MAX = 2**14 - 1
_SIZES = tuple(0 if raw & 1 else raw >> 1 for raw in range(_TWO_BYTES_MAX + 1))

# Length, attributes, timestamp and offset delta, sizes of key and value, count of headers: at least one byte each.
_RECORD_BYTES_MIN = 7
# The record up to the size of its key, with a length of one byte and of two bytes.
_HEAD_OF_SHORT = Struct(">5B").unpack_from
_HEAD = Struct(">6B").unpack_from

# The offset deltas 0, 1, 2... as varints: those of one byte, and the first and second bytes of those with two bytes.
# The entries below 64 of the latter are not used.
_ONE_BYTE_OFFSETS = bytes(range(0, 128, 2))
_LOW_OFFSET_BYTES = bytes(raw & 127 | 128 for raw in range(0, _TWO_BYTES_MAX + 1, 2))
_HIGH_OFFSET_BYTES = bytes(raw >> 7 for raw in range(0, _TWO_BYTES_MAX + 1, 2))
_ASCII = bytes(range(128))

# Shorter rows are validated record by record: to compare columns takes as long as about ten records. After a comparison
# that found no row, the next one follows after this many records, then after twice as many each time.
_ROW_RECORDS_MIN = 12
_RECORDS_BETWEEN_ROWS_FIRST = 32


class InvalidRecords(Exception):
    """The records are invalid, or do not match the header. The message names the record and the reason."""


class OverlongRecordLength(Exception):
    """The length of an uncompressed record has more than five bytes. Kafka fails, instead of rejecting the batch."""


class RecordsSummary:
    """Properties of the records of a batch. Timestamps are deltas from the batch's base timestamp.

    A class with slots, because it is fast to create and mypyc compiles it.
    """

    __slots__ = (
        "are_keys_present",
        "are_offsets_in_order",
        "end_position",
        "greatest_timestamp_delta",
        "least_timestamp_delta",
    )

    def __init__(self, position: int) -> None:
        """position: of the first record."""
        self.end_position = position
        self.least_timestamp_delta = _BEYOND_LONG
        self.greatest_timestamp_delta = -_BEYOND_LONG
        self.are_offsets_in_order = True
        self.are_keys_present = True

    def add_timestamp(self, raw: int) -> None:
        """Widen the bounds to a timestamp delta. raw: its zigzag encoding."""
        delta = (raw >> 1) ^ -(raw & 1)
        if delta > self.greatest_timestamp_delta:
            self.greatest_timestamp_delta = delta
        if delta < self.least_timestamp_delta:
            self.least_timestamp_delta = delta


def summarize_records(data: bytes, position: int, records_count: int, are_lengths_checked: bool) -> RecordsSummary:
    """Validate records_count (1 or more) records, which must end exactly at the end of data.

    are_lengths_checked: False for compressed records, whose length fields Kafka ignores.
    Raises InvalidRecords; with are_lengths_checked also OverlongRecordLength.
    """
    summary = RecordsSummary(position)
    try:
        if records_count < _ROW_RECORDS_MIN:
            _scan_records(data, summary, 0, records_count, are_lengths_checked)
        else:
            _scan_rows(data, summary, records_count, are_lengths_checked)
    except IndexError:
        raise InvalidRecords(f"the records end at byte {len(data)}, before {records_count} are read") from None
    if summary.end_position != len(data):
        raise InvalidRecords(f"{records_count} records end at byte {summary.end_position} of {len(data)}")
    return summary


def find_single_timestamp(batch: memoryview, position: int) -> int | None:
    """Return the timestamp delta of the single record from position to the end of batch; None if it is not plain.

    A plain record has sizes of one or two bytes, a timestamp delta of one byte, the offset delta 0, no headers, and
    consistent sizes. Any other record may be valid too, which summarize_records decides. For the smallest batches this
    function takes half the time of summarize_records.
    """
    size = len(batch)
    timestamp: int
    offset: int
    key: int
    # The expected size in zigzag encoding: twice the number of bytes that follow.
    length = 2 * (size - position - 1)
    if length <= 127:
        if size < position + _RECORD_BYTES_MIN:
            return None
        found, _, timestamp, offset, key = _HEAD_OF_SHORT(batch, position)
        position += 5
        if found != length:
            return None
    else:
        length -= 2
        low, high, _, timestamp, offset, key = _HEAD(batch, position)
        position += 6
        if low != length & 127 | 128 or high != length >> 7 or length > _TWO_BYTES_MAX:
            return None
    if timestamp > 127 or offset or key > 127:
        return None
    position += _SIZES[key]
    value = 2 * (size - position - 2)
    if 0 < value <= 127:
        is_right = batch[position] == value
    elif value > 127:
        value -= 2
        is_right = (
            batch[position] == value & 127 | 128 and batch[position + 1] == value >> 7 and value <= _TWO_BYTES_MAX
        )
    else:
        # Null or empty.
        is_right = not value and batch[position] <= 1
    return (timestamp >> 1) ^ -(timestamp & 1) if is_right and not batch[size - 1] else None


class SingleRecordShape:
    """The bytes of a plain single record other than its key and value, to recognize further records of the same shape.

    unpack: returns these bytes of a batch of the same size. right: these bytes in a valid batch.
    A producer whose records have the same size sends the same bytes each time. The comparison takes a third of the time
    of find_single_timestamp.
    """

    __slots__ = ("batch_bytes", "right", "timestamp_delta", "unpack")

    def __init__(self, batch: memoryview, position: int, timestamp_delta: int) -> None:
        """position: of a record for which find_single_timestamp returned timestamp_delta."""
        size = len(batch)
        head_bytes = 5 if batch[position] <= 127 else 6
        key_bytes = _SIZES[batch[position + head_bytes - 1]]
        value = position + head_bytes + key_bytes
        value_head_bytes = 1 if batch[value] <= 127 else 2
        value_bytes = size - value - value_head_bytes - 1
        shape = Struct(f"{position}x{head_bytes}s{key_bytes}x{value_head_bytes}s{value_bytes}xs")
        assert shape.size == size, "the shape covers the batch"
        self.batch_bytes = size
        self.timestamp_delta = timestamp_delta
        self.unpack = shape.unpack
        self.right = shape.unpack(batch)


def _scan_rows(data: bytes, summary: RecordsSummary, records_count: int, are_lengths_checked: bool) -> None:
    """Validate rows of records of the same shape together, and the other records one by one."""
    index = 0
    between = _RECORDS_BETWEEN_ROWS_FIRST
    while index < records_count:
        found = _scan_row(data, summary, index, records_count)
        if not found:
            found = min(between, records_count - index)
            between += between
            _scan_records(data, summary, index, index + found, are_lengths_checked)
        index += found


def _scan_row(data: bytes, summary: RecordsSummary, index: int, records_count: int) -> int:
    """Validate the row that begins with record index; return its number of records, 0 if the row is too short.

    All records of a row have the same sizes of one or two bytes, a timestamp delta of one byte, the right offset delta
    and no headers. Any other record ends the row; _scan_records validates it.
    """
    start = summary.end_position
    length = data[start]
    offset_position = 3
    if length > 127:
        length += data[start + 1] * 128 - 128
        offset_position = 4
    if length > _TWO_BYTES_MAX or length & 1:
        return 0
    stride = offset_position - 2 + (length >> 1)
    key_position = offset_position + (1 if index < 64 else 2)
    row = min(records_count, 64 if index < 64 else len(_LOW_OFFSET_BYTES)) - index
    row = min(row, (len(data) - start) // stride)
    # In most cases the first byte of the second record is enough to reject the row.
    if row < _ROW_RECORDS_MIN or key_position + 2 >= stride or data[start + stride] != data[start]:
        return 0
    key = data[start + key_position]
    value_position = key_position + 1 + _SIZES[key]
    value = data[start + value_position]
    same = [0, key_position, value_position, stride - 1]
    end = value_position + 1
    if value > 127:
        same.append(end)
        value += data[start + end] * 128 - 128
        end += 1
    if offset_position == 4:
        same.append(1)
    if key > 127 or value > _TWO_BYTES_MAX or end + _SIZES[value] != stride - 1 or data[start + stride - 1]:
        return 0
    for position in same:
        column = data[start + position : start + row * stride : stride]
        row -= len(column.lstrip(column[:1]))
        if row < _ROW_RECORDS_MIN:
            return 0
    timestamps = data[start + offset_position - 1 : start + row * stride : stride]
    row -= len(timestamps.lstrip(_ASCII))
    if row < _ROW_RECORDS_MIN or not _are_offsets_right(data, start + offset_position, stride, index, row):
        return 0
    for timestamp in set(timestamps[:row]):
        summary.add_timestamp(timestamp)
    if key & 1:
        summary.are_keys_present = False
    summary.end_position = start + row * stride
    return row


def _are_offsets_right(data: bytes, position: int, stride: int, index: int, row: int) -> bool:
    """Whether the offset deltas of a row are index, index + 1 and so on. position: of the first one."""
    column = data[position : position + row * stride : stride][:row]
    if index < 64:
        return column == _ONE_BYTE_OFFSETS[index : index + row]
    high = data[position + 1 : position + 1 + row * stride : stride][:row]
    return column == _LOW_OFFSET_BYTES[index : index + row] and high == _HIGH_OFFSET_BYTES[index : index + row]


def _scan_records(
    data: bytes, summary: RecordsSummary, first_index: int, end_index: int, are_lengths_checked: bool
) -> None:
    """Validate the records first_index to end_index - 1 one by one."""
    sizes, position, last_timestamp = _SIZES, summary.end_position, -1
    least, greatest = summary.least_timestamp_delta, summary.greatest_timestamp_delta
    # Offset deltas are compared in zigzag encoding: twice the record's index.
    for expected_offset in range(first_index * 2, end_index * 2, 2):
        size = data[position]
        if size < 128:
            position += 1
            end = position + sizes[size]
        else:
            size += data[position + 1] * 128 - 128
            position += 2
            if size < 16384:
                end = position + sizes[size]
            else:
                size, position = _read_record_length(data, position - 2, are_lengths_checked)
                end = position + _unzigzag_size(size)
        # At position is the attributes byte, whose bits have no meaning.
        timestamp = data[position + 1]
        if timestamp != last_timestamp:
            last_timestamp = timestamp
            if timestamp > 127:
                # Only deltas of one byte are compared with the next record.
                last_timestamp = -1
                timestamp += data[position + 2] * 128 - 128
                position += 1
                if timestamp >= 16384:
                    timestamp, position = read_unsigned_varlong(data, position)
                    position -= 2
            delta = (timestamp >> 1) ^ -(timestamp & 1)
            greatest = delta if delta > greatest else greatest
            least = delta if delta < least else least
        offset = data[position + 2]
        position += 3
        if offset > 127:
            offset += data[position] * 128 - 128
            position += 1
            if offset >= 16384:
                offset, position = read_unsigned_varint(data, position - 2)
        if offset != expected_offset:
            summary.are_offsets_in_order = False
        size = data[position]
        if size == 1:
            summary.are_keys_present = False
            position += 1
        elif size < 128:
            position += sizes[size] + 1
            if size & 1:
                summary.are_keys_present = False
        else:
            size, position = read_unsigned_varint(data, position)
            position += _unzigzag_size(size)
            if size & 1:
                summary.are_keys_present = False
        size = data[position]
        if size < 128:
            position += sizes[size] + 1
        else:
            size += data[position + 1] * 128 - 128
            if size < 16384:
                position += sizes[size] + 2
            else:
                size, position = read_unsigned_varint(data, position)
                position += _unzigzag_size(size)
        position = _skip_headers(data, position) if data[position] else position + 1
        if position != end and are_lengths_checked:
            raise InvalidRecords(f"record {expected_offset >> 1} ends at byte {position}, its length says {end}")
    summary.end_position = position
    summary.least_timestamp_delta = least
    summary.greatest_timestamp_delta = greatest


def _unzigzag_size(raw: int) -> int:
    """Return the number of bytes of a size in zigzag encoding; 0 for a negative size."""
    return 0 if raw & 1 else raw >> 1


def _read_record_length(data: bytes, position: int, are_lengths_checked: bool) -> tuple[int, int]:
    """Return the length at position in zigzag encoding, and the position after it."""
    try:
        return read_unsigned_varint(data, position)
    except InvalidRecords as error:
        if are_lengths_checked:
            raise OverlongRecordLength(str(error)) from None
        raise


def _skip_headers(data: bytes, position: int) -> int:
    """Return the position after the headers. position: of their count."""
    count, position = read_unsigned_varint(data, position)
    # A count above the bytes that are left is rejected before any header is read.
    if count & 1 or count >> 1 > len(data) - position:
        raise InvalidRecords(f"{(count >> 1) ^ -(count & 1)} headers at byte {position} of {len(data)}")
    for _ in range(count >> 1):
        size = data[position]
        position += 1
        if size > 127:
            size, position = read_unsigned_varint(data, position - 1)
        if size & 1:
            raise InvalidRecords(f"a header key of negative size at byte {position}")
        position += size >> 1
        size = data[position]
        position += 1
        if size > 127:
            size, position = read_unsigned_varint(data, position - 1)
        position += 0 if size & 1 else size >> 1
    return position


def read_unsigned_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the varint at position as 32 unsigned bits, and the position after it.

    Raises InvalidRecords for more than five bytes, IndexError past the end of data.
    """
    value = 0
    for shift in range(0, _VARINT_SHIFT_MAX + 1, 7):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            # Java drops the bits of the fifth byte above 32.
            return value & _INT_MASK, position
    raise InvalidRecords(f"a varint of more than five bytes ends after byte {position}")


def read_unsigned_varlong(data: bytes, position: int) -> tuple[int, int]:
    """Return the varlong at position as 64 unsigned bits, and the position after it.

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
