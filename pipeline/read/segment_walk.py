"""Walk over the batch headers of a segment file, and lookup in its offset index."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from ...protocol.batches.record_batch import HEADER_SIZE, BatchHeader, is_crc_right, is_whole, parse_header
from ...storage.log_files import INDEX_SUFFIX, LOG_SUFFIX
from ..decode.batch_search import find_next_batch
from ..decode.varints import Longs
from .segment_files import Segment


class PlacedBatch(NamedTuple):
    """A batch header and its position in the file."""

    position: int
    header: BatchHeader


def walk_headers(file: BinaryIO, segment: Segment, position: int) -> Iterator[PlacedBatch]:
    """Yield the whole batches from position on. A batch must begin at position.

    CRCs are not checked. Behind bytes that are not a batch the walk continues at the next batch with a right CRC.
    """
    size = os.fstat(file.fileno()).st_size
    while size - position >= HEADER_SIZE:
        header = parse_header(os.pread(file.fileno(), HEADER_SIZE, position))
        if not is_whole(header, size - position):
            found = _search(file, segment, position + 1)
            if found is None:
                return
            position = found
            continue
        yield PlacedBatch(position, header)
        position += header.size


def has_right_crc(file: BinaryIO, batch: PlacedBatch) -> bool:
    """Whether the CRC of a batch is right. Reads the batch."""
    content = os.pread(file.fileno(), batch.header.size, batch.position)
    return is_crc_right(memoryview(content), batch.header.crc)


def _search(file: BinaryIO, segment: Segment, position: int) -> int | None:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as data:
        return find_next_batch(data, position, len(data), base_offset_min=segment.base_offset)


def indexed_position(file: BinaryIO, segment: Segment, index: Longs, position_max: int) -> int | None:
    """Return the greatest indexed position up to position_max. None if there is none or its batch does not match.

    index: from read_index.
    """
    return _checked_position(file, segment, index, int(np.searchsorted(index[:, 1], position_max, side="right")) - 1)


def position_of_offset(file: BinaryIO, segment: Segment, index: Longs, offset: int) -> int:
    """Return the indexed position of a batch from which a walk reaches the offset; 0 if the index does not help.

    index: from read_index.
    """
    at = int(np.searchsorted(index[:, 0], offset - segment.base_offset, side="right")) - 1
    return _checked_position(file, segment, index, at) or 0


def _checked_position(file: BinaryIO, segment: Segment, index: Longs, at: int) -> int | None:
    """Return the position of an entry of the index; None for a negative entry or if its batch does not match."""
    if at < 0:
        return None
    last_offset, position = int(index[at, 0]) + segment.base_offset, int(index[at, 1])
    head = os.pread(file.fileno(), HEADER_SIZE, position)
    if len(head) < HEADER_SIZE:
        return None
    header = parse_header(head)
    return position if is_whole(header, segment.size - position) and header.last_offset == last_offset else None


def read_index(segment: Segment) -> Longs:
    """Return the entries of the segment's offset index as rows: relative last offset and position of a batch.

    A missing or invalid index returns no rows, because the index only saves time. The index file of an active segment
    is preallocated, with zeros behind the entries.
    """
    no_entries = np.zeros((0, 2), np.int64)
    try:
        with open(segment.path.removesuffix(LOG_SUFFIX) + INDEX_SUFFIX, "rb") as file:
            content = file.read()
    except OSError:
        return no_entries
    entries = np.frombuffer(content[: len(content) // 8 * 8], ">i4").reshape(-1, 2).astype(np.int64)
    zeros = np.flatnonzero(entries[:, 1] == 0)
    entries = entries[: int(zeros[0])] if len(zeros) else entries
    is_valid = bool((np.diff(entries, axis=0) > 0).all()) and (not len(entries) or int(entries[-1, 1]) < segment.size)
    return entries if is_valid else no_entries
