"""Walk over the batch headers of a segment file, and lookup in its offset index."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

import numpy as np

from ...protocol.batches.message_sets import MESSAGE_SIZE_MIN, stored_message
from ...protocol.batches.record_batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    MAGIC_V2,
    BatchHeader,
    is_crc_right,
    is_whole,
    parse_header,
)
from ...storage.log_files import INDEX_SUFFIX
from ..decode.varints import Longs
from .file_store import OpenFile
from .segment_files import Segment

_SIZE = Struct(">i")
_SIZE_POSITION = 8


class PlacedBatch(NamedTuple):
    """A batch header and its position in the file."""

    position: int
    header: BatchHeader


def walk_headers(file: OpenFile, segment: Segment, position: int) -> Iterator[PlacedBatch]:
    """Yield the whole batches from position on. A batch must begin at position.

    CRCs of batches are not checked. A message of magic 0 or 1 has a header that stands for it (stored_message). Behind
    bytes that are neither, the walk continues at the next batch with a right CRC.
    """
    size = file.size
    while size - position >= MESSAGE_SIZE_MIN:
        header = _header_at(file, position)
        if header is None:
            found = file.find_batch(position + 1, segment.base_offset)
            if found is None:
                return
            position = found
            continue
        yield PlacedBatch(position, header)
        position += header.size


def _header_at(file: OpenFile, position: int) -> BatchHeader | None:
    """Return the header of the whole batch at position, or of the message; None if none begins there."""
    head = file.read_ahead_at(position, HEADER_SIZE)
    bytes_left = file.size - position
    if head[MAGIC_POSITION] != MAGIC_V2:
        message_size = _SIZE.unpack_from(head, _SIZE_POSITION)[0] + LOG_OVERHEAD
        is_plausible = head[MAGIC_POSITION] < MAGIC_V2 and MESSAGE_SIZE_MIN <= message_size <= bytes_left
        return stored_message(file.read_at(position, message_size)) if is_plausible else None
    if len(head) < HEADER_SIZE:
        return None
    header = parse_header(head)
    return header if is_whole(header, bytes_left) else None


def has_right_crc(file: OpenFile, batch: PlacedBatch) -> bool:
    """Whether the CRC of a batch is right. Reads the batch. The walk has checked that of a message."""
    if batch.header.magic != MAGIC_V2:
        return True
    content = file.read_at(batch.position, batch.header.size)
    return is_crc_right(memoryview(content), batch.header.crc)


def indexed_position(file: OpenFile, segment: Segment, index: Longs, position_max: int) -> int | None:
    """Return the greatest indexed position up to position_max. None if there is none or its batch does not match.

    index: from read_index.
    """
    return _checked_position(file, segment, index, int(np.searchsorted(index[:, 1], position_max, side="right")) - 1)


def position_of_offset(file: OpenFile, segment: Segment, index: Longs, offset: int) -> int:
    """Return the indexed position of a batch from which a walk reaches the offset; 0 if the index does not help.

    index: from read_index.
    """
    at = int(np.searchsorted(index[:, 0], offset - segment.base_offset, side="right")) - 1
    return _checked_position(file, segment, index, at) or 0


def _checked_position(file: OpenFile, segment: Segment, index: Longs, at: int) -> int | None:
    """Return the position of an entry of the index; None for a negative entry or if its batch does not match."""
    if at < 0:
        return None
    last_offset, position = int(index[at, 0]) + segment.base_offset, int(index[at, 1])
    head = file.read_at(position, HEADER_SIZE)
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
    if not segment.may_have(INDEX_SUFFIX):
        return no_entries
    try:
        content = segment.store.read(segment.path_of(INDEX_SUFFIX))
    except OSError:
        return no_entries
    entries = np.frombuffer(content[: len(content) // 8 * 8], ">i4").reshape(-1, 2).astype(np.int64)
    zeros = np.flatnonzero(entries[:, 1] == 0)
    entries = entries[: int(zeros[0])] if len(zeros) else entries
    is_valid = bool((np.diff(entries, axis=0) > 0).all()) and (not len(entries) or int(entries[-1, 1]) < segment.size)
    return entries if is_valid else no_entries
