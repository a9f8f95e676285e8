"""Which timestamp a segment had reached by which offset: a sparse index in Kafka's own format.

Entries of 12 bytes: the greatest timestamp so far, the relative last offset of the batch that had it.
Source: TimeIndex, Kafka 4.3.0.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from struct import Struct

from ..protocol.record_batch import NO_TIMESTAMP
from .file_system import File, FileSystem

_ENTRY = Struct(">qi")


class TimeIndex:
    """The time index of one segment; what is in the file is kept in memory too, for the look-ups."""

    def __init__(self, file_system: FileSystem, path: str, base_offset: int, index_bytes_max: int) -> None:
        """Open the index at path; the file is made with the first entry.

        index_bytes_max: segment.index.bytes; one entry of room is kept for the one written when the segment rolls.
        """
        self._file_system = file_system
        self._path = path
        self._base_offset = base_offset
        self._entries_max = index_bytes_max // _ENTRY.size - 1
        self._timestamps = array("q")
        self._relative_offsets = array("q")
        self._file: File | None = None
        if file_system.exists(path):
            self._file = file_system.open(path)
            self._read(self._file)

    def _read(self, file: File) -> None:
        for timestamp, relative_offset in _ENTRY.iter_unpack(file.read(0, file.size)):
            self._timestamps.append(timestamp)
            self._relative_offsets.append(relative_offset)

    @property
    def is_full(self) -> bool:
        """Whether no entry fits any more, so that the segment must roll."""
        return len(self._timestamps) >= self._entries_max

    def append(self, timestamp: int, offset: int) -> None:
        """Add the greatest timestamp and the offset of its batch; without effect if the last entry has reached it."""
        if timestamp <= (self._timestamps[-1] if self._timestamps else NO_TIMESTAMP):
            return
        relative_offset = offset - self._base_offset
        if self._file is None:
            self._file = self._file_system.open(self._path)
        self._file.append(_ENTRY.pack(timestamp, relative_offset), b"")
        self._timestamps.append(timestamp)
        self._relative_offsets.append(relative_offset)

    def lookup(self, timestamp: int) -> int:
        """Return the offset up to which no timestamp is known to be above timestamp; the base if none is known."""
        index = bisect_right(self._timestamps, timestamp) - 1
        return self._base_offset + (self._relative_offsets[index] if index >= 0 else 0)
