"""The origin of decoded rows and the range of wanted offsets."""

from __future__ import annotations

from dataclasses import dataclass

# Greater than every offset.
OFFSET_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RowSource:
    """A piece of a partition. file, position: set if it is of a segment file. base_offset_min: of the segment.

    A record is wanted if start_offset <= offset < end_offset; a batch if its base offset is in that range. is_first: a
    batch that begins before start_offset and reaches it is wanted too.
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
