"""Walk through a segment file by its batch headers alone, and find places in it by its offset index."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from ...protocol.batches.record_batch import HEADER_SIZE, BatchHeader, is_whole, parse_header
from ...storage.log_files import INDEX_SUFFIX, LOG_SUFFIX
from ..decode.batch_search import find_next_batch
from ..decode.varints import Longs
from .segment_files import Segment


class PlacedBatch(NamedTuple):
    """A batch and where it begins."""

    position: int
    header: BatchHeader


def walk_headers(file: BinaryIO, segment: Segment, position: int) -> Iterator[PlacedBatch]:
    """Yield the batches from position on, where one begins, up to the end of the last whole one.

    Their CRC is not looked at; where bytes are no batch it goes on at the next batch whose CRC is right.
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


def _search(file: BinaryIO, segment: Segment, position: int) -> int | None:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as data:
        return find_next_batch(data, position, len(data), base_offset_min=segment.base_offset)


def indexed_position(file: BinaryIO, segment: Segment, index: Longs, position_max: int) -> int | None:
    """Return the greatest position of the index, up to position_max, where a batch begins that is the one it says.

    index: see read_index.
    """
    at = int(np.searchsorted(index[:, 1], position_max, side="right")) - 1
    if at < 0:
        return None
    last_offset, position = int(index[at, 0]) + segment.base_offset, int(index[at, 1])
    head = os.pread(file.fileno(), HEADER_SIZE, position)
    if len(head) < HEADER_SIZE:
        return None
    header = parse_header(head)
    return position if is_whole(header, segment.size - position) and header.last_offset == last_offset else None


def read_index(segment: Segment) -> Longs:
    """Return the entries of the segment's offset index: relative last offset and position of a batch each.

    None where there is no index, or no good one: it only makes things faster. The file of an active segment is longer
    than its entries, and zero behind them.
    """
    none = np.zeros((0, 2), np.int64)
    try:
        with open(segment.path.removesuffix(LOG_SUFFIX) + INDEX_SUFFIX, "rb") as file:
            content = file.read()
    except OSError:
        return none
    entries = np.frombuffer(content[: len(content) // 8 * 8], ">i4").reshape(-1, 2).astype(np.int64)
    zeros = np.flatnonzero(entries[:, 1] == 0)
    entries = entries[: int(zeros[0])] if len(zeros) else entries
    is_good = bool((np.diff(entries, axis=0) > 0).all()) and (not len(entries) or int(entries[-1, 1]) < segment.size)
    return entries if is_good else none
