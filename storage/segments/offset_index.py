"""The offset index of a segment (.index): from the last offset of a batch to its position, in Kafka's format.

Entries of 8 bytes: an offset relative to the base offset of the segment, a position in its log file.
Source: OffsetIndex, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from ..file_systems.file_system import FileSystem
from .index_file import IndexFile

_ENTRY = Struct(">ii")


class IndexedBatch(NamedTuple):
    """The last offset of a batch, and its position."""

    last_offset: int
    position: int


class OffsetIndex:
    """The offset index of one segment."""

    __slots__ = ("_base_offset", "file")

    def __init__(self, file_system: FileSystem, path: str, base_offset: int, index_bytes_max: int) -> None:
        """Open the index at path; index_bytes_max: segment.index.bytes."""
        self._base_offset = base_offset
        self.file = IndexFile(file_system, path, _ENTRY, index_bytes_max)

    @property
    def is_full(self) -> bool:
        """Whether no entry fits; the segment must then roll."""
        return self.file.count >= self.file.count_max

    @property
    def last_entry(self) -> IndexedBatch | None:
        """The last entry; None if the index is empty."""
        return self._batch_of(self.file.entry(-1)) if self.file.count else None

    def append(self, offset: int, position: int) -> None:
        """Add the last offset of a batch and its position; both must be greater than in earlier entries."""
        self.file.append(offset - self._base_offset, position)

    def find(self, offset: int) -> IndexedBatch | None:
        """Return the entry with the greatest offset that is at most offset."""
        found = self.file.find_last(offset - self._base_offset)
        return None if found is None else self._batch_of(found)

    def find_in_memory(self, position: int) -> IndexedBatch | None:
        """Return the entry with the greatest position that is at most position, if the entries are in memory."""
        found = self.file.find_last_second(position)
        return None if found is None else self._batch_of(found)

    def _batch_of(self, entry: tuple[int, int]) -> IndexedBatch:
        return IndexedBatch(self._base_offset + entry[0], entry[1])
