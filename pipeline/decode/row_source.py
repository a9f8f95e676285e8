"""Where rows come from, and which of them are wanted."""

from __future__ import annotations

from dataclasses import dataclass

# What no offset reaches.
OFFSET_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RowSource:
    """A piece of a partition: its name, its file and position if it is one's, and the offsets wanted of it.

    A batch is wanted if its base offset is: start_offset <= base_offset < end_offset; of the first piece of a range
    also the batch that begins before start_offset and reaches up to it. A record is wanted if its offset is in the
    range.
    """

    topic: str
    partition: int
    file: str | None = None
    position: int = 0
    base_offset_min: int = 0
    start_offset: int = 0
    end_offset: int = OFFSET_MAX
    is_first: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether all offsets are wanted."""
        return self.start_offset <= 0 and self.end_offset == OFFSET_MAX
