"""The one loop over the bytes of a batch's records: are they what the header says?

This is the only work per record on the way in, so it makes no object per record or field and calls nothing for the
varints of one and two bytes that records consist of. Records of the same shape in a row are not even looked at one by
one: their sizes are compared column by column. It is plain typed code of ints and bytes, which mypyc can compile;
nothing else may move in here.
Source: DefaultRecord.readFrom and readPartiallyFrom, DefaultRecordBatch.uncompressedIterator, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct

# Wider than any delta that a varlong holds, so that the first record always sets both bounds.
_BEYOND_LONG = 2**64

# A varint has at most 5 bytes, a varlong 10; what a longer one says is never looked at.
_VARINT_SHIFT_MAX = 28
_VARLONG_SHIFT_MAX = 63

_INT_MASK = 2**32 - 1
_LONG_MASK = 2**64 - 1

# The bytes to step over for a size varint of one or two bytes, as it stands on the wire (zigzag: even is twice the
# size, odd is negative, which steps over nothing). Looking it up is half the price of shifting.
_TWO_BYTES_MAX = 2**14 - 1
_SIZES = tuple(0 if raw & 1 else raw >> 1 for raw in range(_TWO_BYTES_MAX + 1))

# The length, the attributes, timestamp and offset delta, the sizes of key and value, the count of headers: a byte each.
_RECORD_BYTES_MIN = 7
# Up to the size of the key, with a length of one byte and of two.
_HEAD_OF_SHORT = Struct(">5B").unpack_from
_HEAD = Struct(">6B").unpack_from

# The offset deltas 0, 1, 2... as varints: those of one byte, and the first and second bytes of all that have two. (The
# entries below 64 of the latter are never used.)
_ONE_BYTE_OFFSETS = bytes(range(0, 128, 2))
_LOW_OFFSET_BYTES = bytes(raw & 127 | 128 for raw in range(0, _TWO_BYTES_MAX + 1, 2))
_HIGH_OFFSET_BYTES = bytes(raw >> 7 for raw in range(0, _TWO_BYTES_MAX + 1, 2))
_ASCII = bytes(range(128))

# Fewer records in a row than this are looked at one by one: comparing columns costs about as much as ten records. After
# a comparison that found no such row the next one waits for this many records, then for twice as many each time.
_ROW_RECORDS_MIN = 12
_RECORDS_BETWEEN_ROWS_FIRST = 32


class InvalidRecords(Exception):
    """The records are not what the header says, or not records; the words say which one and how."""


class OverlongRecordLength(Exception):
    """The length of an uncompressed record goes on past its five bytes; Kafka fails on it and refuses nothing."""


class RecordsSummary:
    """What the records of a batch have in common; timestamps are deltas from the batch's base timestamp.

    A plain class: the cheapest there is, and one that mypyc compiles.
    """

    __slots__ = (
        "are_keys_present",
        "are_offsets_in_order",
        "end_position",
        "greatest_timestamp_delta",
        "least_timestamp_delta",
    )

    def __init__(self, position: int) -> None:
        """Start before the first record, which begins at position."""
        self.end_position = position
        self.least_timestamp_delta = _BEYOND_LONG
        self.greatest_timestamp_delta = -_BEYOND_LONG
        self.are_offsets_in_order = True
        self.are_keys_present = True

    def take_timestamp(self, raw: int) -> None:
        """Widen the bounds to a timestamp delta as it stands on the wire."""
        delta = (raw >> 1) ^ -(raw & 1)
        if delta > self.greatest_timestamp_delta:
            self.greatest_timestamp_delta = delta
        if delta < self.least_timestamp_delta:
            self.least_timestamp_delta = delta


def summarize_records(data: bytes, position: int, records_count: int, are_lengths_checked: bool) -> RecordsSummary:
    """Read records_count records (one or more) from position to exactly the end of data.

    are_lengths_checked: False reads as Kafka reads records that came compressed, which looks at the fields alone.
    Raises InvalidRecords; OverlongRecordLength only where are_lengths_checked.
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
    """Return the timestamp delta of the one record from position to the end of batch; None where it is not plain.

    Plain: sizes of one or two bytes, a timestamp delta of one, the offset delta 0, no headers, and every size as the
    others say. What is not plain may be as right, and is left to summarize_records: this is half of its price for the
    smallest of batches.
    """
    size = len(batch)
    timestamp: int
    offset: int
    key: int
    # What each size must be, as it is written: twice the bytes that follow.
    length = 2 * (size - position - 1)
    if length <= 127:
        if size < position + _RECORD_BYTES_MIN:
            return None
        told, _, timestamp, offset, key = _HEAD_OF_SHORT(batch, position)
        position += 5
        if told != length:
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
        # Null, or empty.
        is_right = not value and batch[position] <= 1
    return (timestamp >> 1) ^ -(timestamp & 1) if is_right and not batch[size - 1] else None


class SingleRecordShape:
    """All that a plain single record says beside its key and value, to know the next record of the same by it.

    unpack: given a batch of the same size, returns the bytes around key and value. right: what they are in a batch
    whose record is right. A producer whose records have one size sends the same again and again, and to compare is a
    third of the price of find_single_timestamp.
    """

    __slots__ = ("batch_bytes", "right", "timestamp_delta", "unpack")

    def __init__(self, batch: memoryview, position: int, timestamp_delta: int) -> None:
        """Take the shape of a record, from position to the end of batch, that find_single_timestamp has found right."""
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
    """Step over rows of records of the same shape, and look at the others one by one."""
    index = 0
    between = _RECORDS_BETWEEN_ROWS_FIRST
    while index < records_count:
        found = _step_over_row(data, summary, index, records_count)
        if not found:
            found = min(between, records_count - index)
            between += between
            _scan_records(data, summary, index, index + found, are_lengths_checked)
        index += found


def _step_over_row(data: bytes, summary: RecordsSummary, index: int, records_count: int) -> int:
    """Step over as many records as have the shape of the next one, from record index on; return how many.

    The shape: sizes of one or two bytes, a timestamp delta of one, the right offset delta, no headers. Whatever does
    not fit, or is wrong, ends the row and is left to _scan_records.
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
    # The record after the next one decides cheaply in most cases.
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
        summary.take_timestamp(timestamp)
    if key & 1:
        summary.are_keys_present = False
    summary.end_position = start + row * stride
    return row


def _are_offsets_right(data: bytes, position: int, stride: int, index: int, row: int) -> bool:
    """Whether the offset deltas of a row, the first of them at position, are index, index + 1 and so on."""
    column = data[position : position + row * stride : stride][:row]
    if index < 64:
        return column == _ONE_BYTE_OFFSETS[index : index + row]
    high = data[position + 1 : position + 1 + row * stride : stride][:row]
    return column == _LOW_OFFSET_BYTES[index : index + row] and high == _HIGH_OFFSET_BYTES[index : index + row]


def _scan_records(
    data: bytes, summary: RecordsSummary, first_index: int, end_index: int, are_lengths_checked: bool
) -> None:
    """Look at the records first_index to end_index - 1 one by one."""
    sizes, position, last_timestamp = _SIZES, summary.end_position, -1
    least, greatest = summary.least_timestamp_delta, summary.greatest_timestamp_delta
    # An offset delta is compared as it stands on the wire: twice the record's index.
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
                end = position + _size_of(size)
        # At position is the attributes byte, no bit of which means anything.
        timestamp = data[position + 1]
        if timestamp != last_timestamp:
            last_timestamp = timestamp
            if timestamp > 127:
                # What is remembered is one byte, so a longer delta is never taken for the one before.
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
            position += _size_of(size)
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
                position += _size_of(size)
        position = _skip_headers(data, position) if data[position] else position + 1
        if position != end and are_lengths_checked:
            raise InvalidRecords(f"record {expected_offset >> 1} ends at byte {position}, its length says {end}")
    summary.end_position = position
    summary.least_timestamp_delta = least
    summary.greatest_timestamp_delta = greatest


def _size_of(raw: int) -> int:
    """Return the bytes to step over for a size as it stands on the wire."""
    return 0 if raw & 1 else raw >> 1


def _read_record_length(data: bytes, position: int, are_lengths_checked: bool) -> tuple[int, int]:
    """Return the raw length at position and where it ends."""
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
