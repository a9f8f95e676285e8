"""The first and the last whole batch of the records that a read returns, found without another access to the file."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from ...protocol.batches.record_batch import HEADER_SIZE, LOG_OVERHEAD
from .offset_index import IndexedBatch

NO_OFFSET = -1
# base_offset, length and last_offset_delta of a batch header.
_SEARCHED = Struct(">qi11xi")
_BASE_OFFSET = Struct(">q")
_unpack_base = _BASE_OFFSET.unpack_from


def first_offset_in(views: Sequence[memoryview]) -> int:
    """Return the base offset of the first batch in views; NO_OFFSET without one."""
    if views and len(views[0]) >= _BASE_OFFSET.size:
        base_offset: int = _unpack_base(views[0])[0]
        return base_offset
    head = b"".join(view[: _BASE_OFFSET.size] for view in views)
    return int(_unpack_base(head)[0]) if len(head) >= _BASE_OFFSET.size else NO_OFFSET


def last_offset_in(views: Sequence[memoryview], indexed: IndexedBatch | None) -> int:
    """Return the last offset of the whole batches in views; NO_OFFSET without one.

    indexed: a batch of the views with its position in them, which spares the walk to it; None for none. It counts only
    if the batch at its position has its last offset, as for every index entry.
    """
    if indexed is not None:
        base_offset, _, last_offset_delta = _unpack(views, indexed.position)
        if base_offset + last_offset_delta == indexed.last_offset:
            return _walk(views, indexed.position, base_offset - 1)
    return _walk(views, 0, NO_OFFSET)


def _walk(views: Sequence[memoryview], position: int, last_offset: int) -> int:
    """Return the last offset of the whole batches from position on; last_offset if there is none."""
    size = sum(map(len, views))
    while position + _SEARCHED.size <= size:
        base_offset, length, last_offset_delta = _unpack(views, position)
        position += max(length + LOG_OVERHEAD, HEADER_SIZE)
        if position <= size:
            last_offset = base_offset + last_offset_delta
    return last_offset


def _unpack(views: Sequence[memoryview], position: int) -> tuple[int, int, int]:
    """Return the numbers of the header at this position."""
    index = 0
    while position >= len(views[index]):
        position -= len(views[index])
        index += 1
    view = views[index]
    if position + _SEARCHED.size > len(view):
        # The header goes on in the next views.
        later = b"".join(each[: _SEARCHED.size] for each in views[index + 1 :])
        view, position = memoryview(bytes(view[position:]) + later), 0
    base_offset, length, last_offset_delta = _SEARCHED.unpack_from(view, position)
    return base_offset, length, last_offset_delta
