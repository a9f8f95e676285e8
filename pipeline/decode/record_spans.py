"""The start and end of each record of many batches.

A record begins with its length, so the position of a record follows from the previous one only.
- All batches are walked in lockstep: the first record of each, then the second, and so on.
- When few batches have more records, a plain loop walks each of them, which is then faster.
- A batch without further records is still walked until the others end. Positions beyond its end are discarded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .varints import ADVANCES, PADDING_BYTES, VARLONG_BYTES_MAX, Booleans, Bytes, Longs, pairs_of, read_varints

# With this many batches a lockstep takes as long as the plain loop.
_LOCKSTEP_LANES_MIN = 64
# The records of each batch between two checks for batches without further records.
_LOCKSTEP_STEPS = 16

# The plain loop compares the lengths of many records at once to find a run of equal lengths. After a failed attempt it
# walks more records before the next attempt.
_RUN_RECORDS_MAX = 4096
_RUN_RECORDS_MIN = 16
_RECORDS_BETWEEN_RUNS_FIRST = 16
_RECORDS_BETWEEN_RUNS_MAX = 1024


@dataclass(frozen=True, slots=True)
class RecordSpans:
    """The records of batches in order. starts (of the length field), ends: one a record. is_broken: one a batch.

    starts and ends are empty if any batch is broken.
    """

    starts: Longs
    ends: Longs
    is_broken: Booleans


@dataclass(frozen=True, slots=True)
class _Walk:
    """The batches in descending order of their record counts. rows: the index in record_ends of each first record.

    positions: the end of the last walked record of each batch; arbitrary for a batch without further records.
    """

    data: Bytes
    record_ends: Longs
    positions: Longs
    batch_ends: Longs
    counts: Longs
    rows: Longs


def find_record_spans(data: Bytes, batch_starts: Longs, batch_ends: Longs, counts: Longs) -> RecordSpans:
    """Return the spans of counts records in each batch data[batch_start:batch_end].

    data: has PADDING_BYTES behind the greatest end. A batch is broken if its last record does not end at its end.
    """
    # In this order the batches with further records are always a slice.
    order = np.argsort(-counts, kind="stable")
    first_rows = np.cumsum(counts) - counts
    record_ends = np.empty(int(counts.sum()), np.int64)
    walk = _Walk(data, record_ends, batch_starts[order], batch_ends[order], counts[order], first_rows[order])
    steps = _walk_in_lockstep(walk)
    for lane in np.flatnonzero(walk.counts > steps).tolist():
        _walk_alone(walk, lane, steps)
    has_records = counts > 0
    is_broken = batch_starts != batch_ends
    is_broken[has_records] = record_ends[(first_rows + counts - 1)[has_records]] != batch_ends[has_records]
    if is_broken.any():
        return RecordSpans(record_ends[:0], record_ends[:0], is_broken)
    starts = np.empty_like(record_ends)
    starts[1:] = record_ends[:-1]
    starts[first_rows[has_records]] = batch_starts[has_records]
    return RecordSpans(starts, record_ends, is_broken)


def _walk_in_lockstep(walk: _Walk) -> int:
    """Walk in lockstep while enough batches have more records. Return the number of walked records of each batch."""
    descending = -walk.counts
    step = 0
    while (lanes := int(np.searchsorted(descending, -step))) >= _LOCKSTEP_LANES_MIN:
        count = min(_LOCKSTEP_STEPS, int(walk.counts[0]) - step)
        ends = _walk_together(walk, lanes, count)
        rows = walk.rows[:lanes, None] + np.arange(step, step + count)
        step += count
        if walk.counts[lanes - 1] >= step:
            walk.record_ends[rows] = ends
        else:
            is_record = np.arange(step - count, step) < walk.counts[:lanes, None]
            walk.record_ends[rows[is_record]] = ends[is_record]
    return step


def _walk_together(walk: _Walk, lanes: int, count: int) -> Longs:
    """Walk count records of each of the first batches. Return their ends, one row a batch.

    An invalid length gives an end beyond the batch.
    """
    pairs = pairs_of(walk.data)
    # One byte behind all batches, which is the end of none.
    last = len(walk.data) - PADDING_BYTES + 1
    positions = walk.positions[:lanes]
    ends = np.empty((count, lanes), np.int64)
    for step in range(count):
        advances = ADVANCES.take(pairs[positions])
        if not advances.all():
            _advance_long(walk, positions, advances)
        positions = np.add(positions, advances, out=ends[step])
        np.minimum(positions, last, out=positions)
    walk.positions[:lanes] = positions
    return ends.T


def _advance_long(walk: _Walk, positions: Longs, advances: Longs) -> None:
    """Set the advances that ADVANCES does not have: for lengths of three or more bytes, and for invalid lengths."""
    lanes = np.flatnonzero(advances == 0)
    lengths, starts = read_varints(walk.data, positions[lanes])
    ends = np.where(lengths < 0, walk.batch_ends[lanes] + 1, starts + lengths)
    advances[lanes] = np.clip(ends, positions[lanes] + 1, len(walk.data) - PADDING_BYTES + 1) - positions[lanes]


def _walk_alone(walk: _Walk, lane: int, steps: int) -> None:
    """Walk the records of one batch from index steps on."""
    position, end, count = int(walk.positions[lane]), int(walk.batch_ends[lane]), int(walk.counts[lane]) - steps
    first_row = int(walk.rows[lane]) + steps
    record_ends = _record_ends(walk.data[position:end].tobytes(), count)
    walk.record_ends[first_row : first_row + len(record_ends)] = record_ends
    walk.record_ends[first_row : first_row + len(record_ends)] += position
    if len(record_ends) < count:
        walk.record_ends[first_row + count - 1] = end + 1


def _record_ends(data: bytes, count: int) -> list[int]:
    """Return the ends of count records (at least 1); fewer if the data ends or a length is invalid."""
    ends: list[int] = []
    position = 0
    wait = _RECORDS_BETWEEN_RUNS_FIRST
    while len(ends) < count:
        before = len(ends)
        position = _take_records(data, ends, position, min(wait, count - before))
        if len(ends) - before < min(wait, count - before):
            break
        run = _take_run(data, ends, position, count - len(ends))
        position += run
        wait = _RECORDS_BETWEEN_RUNS_FIRST if run else min(2 * wait, _RECORDS_BETWEEN_RUNS_MAX)
    return ends


def _take_records(data: bytes, ends: list[int], position: int, count: int) -> int:
    """Append the ends of count records, or fewer if one is invalid. Return the last end."""
    add = ends.append
    try:
        for _ in range(count):
            raw = data[position]
            at = position
            if raw > 127:
                raw += (data[at + 1] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = _long_length(data, position)
            if raw & 1:
                break
            position = at + 1 + (raw >> 1)
            add(position)
    except IndexError:
        pass
    return position


def _take_run(data: bytes, ends: list[int], position: int, count: int) -> int:
    """Append the ends of records with the same length as the previous one. Return the number of their bytes.

    If the bytes of the length repeat at the distance of the record size, each repetition is the length of a record.
    """
    size = position - ends[-2] if len(ends) > 1 else position
    count = min(count, _RUN_RECORDS_MAX, (len(data) - position) // size)
    length = data[position - size : position - size + 2]
    if length[0] > 127 and length[1] > 127:
        # The comparison covers two bytes, and this length has three or more.
        return 0
    # A length of one byte is followed by the attributes, and comparing them too does no harm.
    while count >= _RUN_RECORDS_MIN:
        end = position + count * size
        if data[position:end:size] == length[:1] * count and data[position + 1 : end : size] == length[1:] * count:
            ends.extend(range(position + size, end + 1, size))
            return end - position
        count //= 4
    return 0


def _long_length(data: bytes, position: int) -> tuple[int, int]:
    """Return a raw varint of any size and the position of its last byte. Raises IndexError at the end of data."""
    raw = 0
    for at in range(VARLONG_BYTES_MAX):
        byte = data[position + at]
        raw |= (byte & 127) << 7 * at
        if byte < 128:
            return raw, position + at
    return raw, position + VARLONG_BYTES_MAX - 1
