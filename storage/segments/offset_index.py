"""Which batch of a segment begins at which position: a sparse index in Kafka's own format.

Entries of 8 bytes: an offset relative to the segment's base, a position in its log file.
Source: OffsetIndex, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from ..file_systems.file_system import FileSystem
from .index_file import IndexFile

_ENTRY = Struct(">ii")


class IndexedBatch(NamedTuple):
    """A batch by its last offset, and where it begins."""

    last_offset: int
    position: int


class OffsetIndex:
    """The offset index of one segment."""

    __slots__ = ("_base_offset", "file")

    def __init__(self, file_system: FileSystem, path: str, base_offset: int, index_bytes_max: int) -> None:
        """Open the index at path; index_bytes_max is segment.index.bytes, which says when the index is full."""
        self._base_offset = base_offset
        self.file = IndexFile(file_system, path, _ENTRY, index_bytes_max)

    @property
    def is_full(self) -> bool:
        """Whether no entry fits any more, so that the segment must roll."""
        return self.file.count >= self.file.count_max

    @property
    def last_entry(self) -> IndexedBatch | None:
        """The batch of the last entry, if there is one."""
        return self._batch_of(self.file.entry(-1)) if self.file.count else None

    def append(self, offset: int, position: int) -> None:
        """Add the last offset of a batch and where the batch begins; both are greater than all before."""
        self.file.append(offset - self._base_offset, position)

    def find(self, offset: int) -> IndexedBatch | None:
        """Return the entry with the greatest offset that is not above offset."""
        found = self.file.find_last(offset - self._base_offset)
        return None if found is None else self._batch_of(found)

    def _batch_of(self, entry: tuple[int, int]) -> IndexedBatch:
        return IndexedBatch(self._base_offset + entry[0], entry[1])
