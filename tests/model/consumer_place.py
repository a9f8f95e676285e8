"""Where a modelled consumer is in a partition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Place:
    """Where a consumer is in a partition, and why: "start", "seek" or "reset".

    expected: at the end of its last Fetch, at the offset that was out of range, or at the committed one.
    came_to: the end of its last Fetch, or of the log that was truncated below that. back_until: where it was before it
    went back. was_truncated: whether the log was truncated below the end of its last Fetch; unaware_of: the cause of
    that if the consumer has not noticed it, and goes on where it was.
    """

    position: int
    why: str = "start"
    is_new: bool = True
    expected: int | None = None
    came_to: int = 0
    has_jumped: bool = False
    back_until: int = 0
    out_of_range: bool = False
    was_truncated: bool = False
    unaware_of: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether its last Fetch was at its position, whatever the log was since."""
        return not (self.is_new or self.has_jumped or self.out_of_range)

    def truncate(self, end: int, *, unaware_of: str) -> None:
        """Go back to the end of a truncated log, unless the consumer does not notice it."""
        self.back_until = min(self.back_until, end)
        if self.is_new or self.came_to <= end:
            return
        if self.is_settled and not self.unaware_of:
            self.unaware_of = "" if self.was_truncated else unaware_of
            self.position = self.position if self.unaware_of else end
        self.expected, self.came_to, self.was_truncated = min(end, self.expected or 0), end, True
        if self.has_jumped and not self.out_of_range and self.position > end:
            self.why = "seek"
