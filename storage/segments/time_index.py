"""The time index of a segment (.timeindex): the greatest timestamp up to an offset, in Kafka's format.

Entries of 12 bytes: the greatest timestamp so far, the relative last offset of the batch that has it.
Source: TimeIndex, Kafka 4.3.0.
"""

from __future__ import annotations

from struct import Struct

from ...protocol.batches.record_batch import NO_TIMESTAMP
from ..file_systems.file_system import FileSystem
from .index_file import IndexFile

_ENTRY = Struct(">qi")


class TimeIndex:
    """The time index of one segment."""

    __slots__ = ("_base_offset", "_last", "file")

    def __init__(self, file_system: FileSystem, path: str, base_offset: int, index_bytes_max: int) -> None:
        """Open the index at path; index_bytes_max: segment.index.bytes."""
        self._base_offset = base_offset
        self.file = IndexFile(file_system, path, _ENTRY, index_bytes_max)
        # The number of entries after the last append, and its timestamp.
        self._last = (-1, NO_TIMESTAMP)

    @property
    def is_full(self) -> bool:
        """Whether the segment must roll; one entry stays free for the one that rolling writes."""
        return self.file.count >= self.file.count_max - 1

    @property
    def last_entry(self) -> tuple[int, int] | None:
        """The greatest timestamp, and the last offset of its batch; None if the index is empty."""
        if not self.file.count:
            return None
        timestamp, relative_offset = self.file.entry(-1)
        return timestamp, self._base_offset + relative_offset

    def append(self, timestamp: int, offset: int) -> None:
        """Add a timestamp and the last offset of its batch; does nothing if timestamp is not above the last entry's."""
        file = self.file
        count, last_timestamp = self._last
        if count != file.count:
            last_timestamp = file.entry(-1)[0] if file.count else NO_TIMESTAMP
        if timestamp > last_timestamp:
            file.append(timestamp, offset - self._base_offset)
            last_timestamp = timestamp
        self._last = (file.count, last_timestamp)

    def lookup(self, timestamp: int) -> int:
        """Return an offset up to which no timestamp is above timestamp; the base offset if no entry helps."""
        found = self.file.find_last(timestamp)
        return self._base_offset + (0 if found is None else found[1])
