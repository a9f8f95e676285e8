"""Which batch of a segment begins at which position: a sparse index in Kafka's own format.

Entries of 8 bytes: an offset relative to the segment's base, a position in its log file.
Source: OffsetIndex, Kafka 4.3.0.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from struct import Struct

from .file_system import File, FileSystem

_ENTRY = Struct(">ii")


class OffsetIndex:
    """The offset index of one segment; what is in the file is kept in memory too, for the look-ups."""

    def __init__(self, file_system: FileSystem, path: str, base_offset: int, index_bytes_max: int) -> None:
        """Open the index at path; the file is made with the first entry.

        index_bytes_max: segment.index.bytes, which says when the index is full.
        """
        self._file_system = file_system
        self._path = path
        self._base_offset = base_offset
        self._entries_max = index_bytes_max // _ENTRY.size
        self._relative_offsets = array("q")
        self._positions = array("q")
        self._file: File | None = None
        if file_system.exists(path):
            self._file = file_system.open(path)
            self._read(self._file)

    def _read(self, file: File) -> None:
        for relative_offset, position in _ENTRY.iter_unpack(file.read(0, file.size)):
            self._relative_offsets.append(relative_offset)
            self._positions.append(position)

    @property
    def is_full(self) -> bool:
        """Whether no entry fits any more, so that the segment must roll."""
        return len(self._positions) >= self._entries_max

    def append(self, offset: int, position: int) -> None:
        """Add the last offset of a batch and where the batch begins; both are greater than all before."""
        relative_offset = offset - self._base_offset
        if self._file is None:
            self._file = self._file_system.open(self._path)
        self._file.append(_ENTRY.pack(relative_offset, position), b"")
        self._relative_offsets.append(relative_offset)
        self._positions.append(position)

    def lookup(self, offset: int) -> int:
        """Return the position of the entry with the greatest offset that is not above offset; 0 if there is none."""
        index = bisect_right(self._relative_offsets, offset - self._base_offset) - 1
        return self._positions[index] if index >= 0 else 0

    def first_offset_above(self, position: int) -> int | None:
        """Return the offset of the first entry at or behind position."""
        index = bisect_right(self._positions, position - 1)
        return self._base_offset + self._relative_offsets[index] if index < len(self._positions) else None
