"""Where each record of many batches begins and ends: the one thing in a batch that can only be found one by one.

Each record begins with its length, so the next one's place is known only from the one before. All batches are walked in
lockstep, the first record of each, then the second; when few batches are left that have more records, those are walked
by a plain loop, which is then cheaper. Nothing but the places is looked for here, with as few steps as can be: a batch
is walked on beyond its end until the others are through, and what was found there is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .varints import ADVANCES, PADDING_BYTES, VARLONG_BYTES_MAX, Booleans, Bytes, Longs, pairs_of, read_varints

# A lockstep of this many batches costs what the plain loop does.
_LOCKSTEP_LANES_MIN = 64
# Records of each batch between two looks at which batches have more.
_LOCKSTEP_STEPS = 16

# Records of one length in a row are found by comparing so many at once; where there were none, so many others are
# walked before it is tried again.
_RUN_RECORDS_MAX = 4096
_RUN_RECORDS_MIN = 16
_RECORDS_BETWEEN_RUNS_FIRST = 16
_RECORDS_BETWEEN_RUNS_MAX = 1024


@dataclass(frozen=True, slots=True)
class RecordSpans:
    """Records of batches in order: starts (of the length) and ends have an entry a record, is_broken one a batch.

    If any batch is broken there are neither starts nor ends.
    """

    starts: Longs
    ends: Longs
    is_broken: Booleans


@dataclass(frozen=True, slots=True)
class _Walk:
    """The batches, those with the most records first; rows is where a batch's records begin in record_ends.

    positions: where the records end that were walked so far; behind the end of a batch that has no more, anywhere.
    """

    data: Bytes
    record_ends: Longs
    positions: Longs
    batch_ends: Longs
    counts: Longs
    rows: Longs


def find_record_spans(data: Bytes, batch_starts: Longs, batch_ends: Longs, counts: Longs) -> RecordSpans:
    """Walk the records of batches that lie in data from batch_starts to batch_ends, counts of them in each.

    data: longer than the greatest end by PADDING_BYTES. A batch is broken whose records do not end exactly
    where it ends.
    """
    # The batches that have another record are always a slice.
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
    """Walk on while enough batches have more records; return how many records of each batch lie behind."""
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
    """Walk count records of each of the first batches; return their ends, a row a batch.

    A batch with a length that cannot be ends beyond its end, as does one that goes beyond by itself.
    """
    pairs = pairs_of(walk.data)
    # One byte behind all batches, where none of them ends.
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
    """Set the advances that are not in the table: of lengths of three bytes and more, and of impossible ones."""
    lanes = np.flatnonzero(advances == 0)
    lengths, starts = read_varints(walk.data, positions[lanes])
    ends = np.where(lengths < 0, walk.batch_ends[lanes] + 1, starts + lengths)
    advances[lanes] = np.clip(ends, positions[lanes] + 1, len(walk.data) - PADDING_BYTES + 1) - positions[lanes]


def _walk_alone(walk: _Walk, lane: int, steps: int) -> None:
    """Walk the rest of one batch, from its record number steps on."""
    position, end, count = int(walk.positions[lane]), int(walk.batch_ends[lane]), int(walk.counts[lane]) - steps
    first_row = int(walk.rows[lane]) + steps
    record_ends = _record_ends(walk.data[position:end].tobytes(), count)
    walk.record_ends[first_row : first_row + len(record_ends)] = record_ends
    walk.record_ends[first_row : first_row + len(record_ends)] += position
    if len(record_ends) < count:
        walk.record_ends[first_row + count - 1] = end + 1


def _record_ends(data: bytes, count: int) -> list[int]:
    """Return where each of count records (one or more) ends; fewer where the data ends or a length cannot be."""
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
    """Add the ends of count records one by one, fewer where one cannot be; return where the last one ends."""
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
    """Add the ends of records that have the length of the one before, all compared at once; return their bytes.

    Where the bytes of a length stand again and again at the same distance, each is the length of the next record.
    """
    size = position - ends[-2] if len(ends) > 1 else position
    count = min(count, _RUN_RECORDS_MAX, (len(data) - position) // size)
    length = data[position - size : position - size + 2]
    if length[0] > 127 and length[1] > 127:
        # A length of three bytes, of which two are compared.
        return 0
    # A length of one byte is followed by the attributes; comparing those as well does no harm.
    while count >= _RUN_RECORDS_MIN:
        end = position + count * size
        if data[position:end:size] == length[:1] * count and data[position + 1 : end : size] == length[1:] * count:
            ends.extend(range(position + size, end + 1, size))
            return end - position
        count //= 4
    return 0


def _long_length(data: bytes, position: int) -> tuple[int, int]:
    """Return a raw varint of any size, and the position of its last byte; raises IndexError."""
    raw = 0
    for at in range(VARLONG_BYTES_MAX):
        byte = data[position + at]
        raw |= (byte & 127) << 7 * at
        if byte < 128:
            return raw, position + at
    return raw, position + VARLONG_BYTES_MAX - 1
