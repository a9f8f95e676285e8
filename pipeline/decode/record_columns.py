"""The records of many batches as arrays: deltas, and the positions of keys, values and headers.

Source: DefaultRecord.readFrom, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .batch_table import BatchTable
from .record_bytes import RECORD_BYTES_MIN, RecordBytes, group_records
from .record_spans import RecordSpans, find_record_spans
from .varints import Booleans, Bytes, Longs, read_varints, take_varints, words_of

# The size fields of a header's key and value.
_HEADER_BYTES_MIN = 2
_WORD_BYTES = 8

# The records whose fields are read together (a larger batch is read alone): few enough that the arrays stay in the
# cache of a core, and that malloc reuses their memory (128 KB each).
RECORDS_TOGETHER = 16_000


@dataclass(frozen=True, slots=True)
class Slices:
    """Slices of a buffer in ascending order; size -1 is null."""

    starts: Longs
    sizes: Longs


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """Records in order, with one row for each damaged batch, without key, value and headers.

    batches: the index in the table of each row's batch. header_counts: the number of headers of each row, whose slices
    are in header_keys and header_values.
    """

    data: Bytes
    batches: Longs
    is_record: Booleans
    timestamp_deltas: Longs
    offset_deltas: Longs
    keys: Slices
    values: Slices
    header_counts: Longs
    header_keys: Slices
    header_values: Slices


def read_records(table: BatchTable) -> Iterator[RecordColumns]:
    """Yield the records of all batches, some batches at a time. Sets table.damage of batches that cannot be read."""
    for group in group_records(table):
        yield from _read_group(table, group)


def _read_group(table: BatchTable, group: RecordBytes) -> Iterator[RecordColumns]:
    counts = table.numbers("records_count")[group.first : group.end]
    is_read = _are_readable(table, group, counts)
    spans = _find_spans(table, group, counts, is_read)
    counts[~is_read] = 0
    batches = _repeated(counts) + group.first
    row_ends = np.cumsum(counts)
    first = first_row = 0
    while first < len(counts):
        end = max(first + 1, int(np.searchsorted(row_ends, first_row + RECORDS_TOGETHER, side="right")))
        end_row = int(row_ends[end - 1])
        rows = slice(first_row, end_row)
        columns, is_wrong = _read_fields(group.data, spans.starts[rows], spans.ends[rows], batches[rows])
        if is_wrong.any():
            # A right CRC around invalid records is rare. The other batches are read again without them.
            is_read[_mark_broken(table, batches[rows][is_wrong]) - group.first] = False
            is_right = is_read[batches[rows] - group.first]
            starts, ends = spans.starts[rows][is_right], spans.ends[rows][is_right]
            columns, _ = _read_fields(group.data, starts, ends, batches[rows][is_right])
        damaged = np.flatnonzero(~is_read[first:end]) + (group.first + first)
        yield _with_damaged(columns, damaged) if len(damaged) else columns
        first, first_row = end, end_row


def _are_readable(table: BatchTable, group: RecordBytes, counts: Longs) -> Booleans:
    """Return which batches of the group can be walked. Sets table.damage of a batch with too many records."""
    is_read = table.has_valid_crc[group.first : group.end].copy()
    is_read[[index - group.first for index in table.damage if group.first <= index < group.end]] = False
    is_too_many = is_read & (counts * RECORD_BYTES_MIN > group.ends - group.starts)
    for index in np.flatnonzero(is_too_many).tolist():
        size = int(group.ends[index] - group.starts[index])
        table.damage[group.first + index] = f"it says {int(counts[index])} records and has {size} bytes of them"
    return is_read & ~is_too_many


def _find_spans(table: BatchTable, group: RecordBytes, counts: Longs, is_read: Booleans) -> RecordSpans:
    """Return the spans of the records. Clears is_read and sets table.damage of batches with wrong lengths."""
    while True:
        spans = find_record_spans(group.data, group.starts[is_read], group.ends[is_read], counts[is_read])
        if not spans.is_broken.any():
            return spans
        # Wrong lengths can lead beyond the batch, so none of its records may be read.
        broken = np.flatnonzero(is_read)[spans.is_broken]
        is_read[broken] = False
        _mark_broken(table, broken + group.first)


def _mark_broken(table: BatchTable, batches: Longs) -> Longs:
    """Set table.damage of batches with invalid records. batches: may repeat an index. Return the distinct indices."""
    broken = np.unique(batches)
    for index in broken.tolist():
        table.damage[index] = "its records do not have the sizes that they say"
    return broken


def _repeated(counts: Longs) -> Longs:
    """Return counts[0] zeros, then counts[1] ones, and so on. np.repeat takes ten times as long."""
    numbers = np.zeros(int(counts.sum()), np.int64)
    places = np.flatnonzero(counts)
    first_rows = (np.cumsum(counts) - counts)[places]
    numbers[first_rows] = np.diff(places, prepend=0)
    return np.cumsum(numbers, out=numbers)


def _read_fields(data: Bytes, starts: Longs, ends: Longs, batches: Longs) -> tuple[RecordColumns, Booleans]:
    """Return the fields of all records, and which records do not end where their length says."""
    timestamp_deltas, offset_deltas, key_sizes, key_starts = _read_heads(data, starts, ends)
    positions = key_starts + np.maximum(key_sizes, 0)
    is_wrong = positions > ends
    value_sizes, value_starts = read_varints(data, np.minimum(positions, ends, out=positions))
    positions = value_starts + np.maximum(value_sizes, 0)
    is_wrong |= positions > ends
    header_counts, positions = _read_header_counts(data, np.minimum(positions, ends, out=positions))
    is_wrong |= (header_counts < 0) | (header_counts * _HEADER_BYTES_MIN > ends - positions)
    header_counts[is_wrong] = 0
    keys, values, positions, has_wrong_headers = _read_headers(data, positions, ends, header_counts)
    columns = RecordColumns(
        data=data,
        batches=batches,
        is_record=np.ones(len(batches), np.bool_),
        timestamp_deltas=timestamp_deltas,
        offset_deltas=offset_deltas,
        keys=Slices(key_starts, key_sizes),
        values=Slices(value_starts, value_sizes),
        header_counts=header_counts,
        header_keys=keys,
        header_values=values,
    )
    return columns, is_wrong | has_wrong_headers | (positions != ends)


def _read_heads(data: Bytes, starts: Longs, ends: Longs) -> tuple[Longs, Longs, Longs, Longs]:
    """Return timestamp deltas, offset deltas, key sizes and key starts.

    With the length and the attributes they take at most eight bytes in nearly all records, so one word is read.
    """
    words = words_of(data)[starts]
    _, taken = take_varints(words)
    words >>= np.uint64(8)
    timestamp_deltas, sizes = take_varints(words)
    taken += sizes
    offset_deltas, sizes = take_varints(words)
    taken += sizes
    key_sizes, sizes = take_varints(words)
    taken += sizes
    key_starts = starts + taken
    key_starts += 1
    rows = np.flatnonzero(taken > _WORD_BYTES - 1)
    if len(rows):
        row_ends = ends[rows]
        _, positions = read_varints(data, starts[rows])
        timestamp_deltas[rows], positions = read_varints(data, np.minimum(positions + 1, row_ends))
        offset_deltas[rows], positions = read_varints(data, np.minimum(positions, row_ends))
        key_sizes[rows], key_starts[rows] = read_varints(data, np.minimum(positions, row_ends))
    return timestamp_deltas, offset_deltas, key_sizes, key_starts


def _read_header_counts(data: Bytes, positions: Longs) -> tuple[Longs, Longs]:
    """Return the number of headers of each record, mostly 0, and the position behind it."""
    if not data.take(positions).any():
        return np.zeros(len(positions), np.int64), positions + 1
    return read_varints(data, positions)


def _read_headers(data: Bytes, positions: Longs, ends: Longs, counts: Longs) -> tuple[Slices, Slices, Longs, Booleans]:
    """Return header keys, header values, the end of each record's headers, and which records have invalid headers.

    Reads the first header of all records, then the second, and so on.
    """
    total = int(counts.sum())
    keys, values = _empty_slices(total), _empty_slices(total)
    is_wrong = np.zeros(len(counts), np.bool_)
    if not total:
        return keys, values, positions, is_wrong
    rows = np.cumsum(counts) - counts
    positions = positions.copy()
    lanes = np.flatnonzero(counts)
    step = 0
    while len(lanes):
        lane_ends, at = ends[lanes], rows[lanes] + step
        keys.sizes[at], keys.starts[at] = key_sizes, key_starts = read_varints(data, positions[lanes])
        after = key_starts + np.maximum(key_sizes, 0)
        wrong = (key_sizes < 0) | (after > lane_ends)
        values.sizes[at], values.starts[at] = value_sizes, value_starts = read_varints(
            data, np.minimum(after, lane_ends)
        )
        after = value_starts + np.maximum(value_sizes, 0)
        wrong |= after > lane_ends
        is_wrong[lanes] |= wrong
        positions[lanes] = np.minimum(after, lane_ends)
        step += 1
        lanes = lanes[(counts[lanes] > step) & ~wrong]
    return keys, values, positions, is_wrong


def _empty_slices(count: int) -> Slices:
    return Slices(np.zeros(count, np.int64), np.zeros(count, np.int64))


def _with_damaged(columns: RecordColumns, damaged: Longs) -> RecordColumns:
    """Insert a row for each damaged batch."""
    at = np.searchsorted(columns.batches, damaged)
    return replace(
        columns,
        batches=np.insert(columns.batches, at, damaged),
        is_record=np.insert(columns.is_record, at, False),
        timestamp_deltas=np.insert(columns.timestamp_deltas, at, 0),
        offset_deltas=np.insert(columns.offset_deltas, at, 0),
        keys=_with_nulls(columns.keys, at, len(columns.data)),
        values=_with_nulls(columns.values, at, len(columns.data)),
        header_counts=np.insert(columns.header_counts, at, 0),
    )


def _with_nulls(slices: Slices, at: Longs, end: int) -> Slices:
    starts = np.append(slices.starts, end)
    return Slices(np.insert(slices.starts, at, starts[at]), np.insert(slices.sizes, at, -1))
