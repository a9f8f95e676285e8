"""What retention, DeleteRecords and fauxka.records have deleted from a log, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class DeletionCause(Enum):
    """What has moved the log start: a config, or a request of a client."""

    RETENTION_MS = "retention.ms"
    RETENTION_BYTES = "retention.bytes"
    DELETE_RECORDS = "DeleteRecords"
    DISCARDED = "fauxka.records"


@dataclass(frozen=True, slots=True)
class DeletedRecords:
    """The offsets from first_offset to before end_offset, which are deleted.

    limit: the value of the config; the offset that the client requested; 0 for discarded records.
    """

    first_offset: int
    end_offset: int
    cause: DeletionCause
    limit: int

    def joined(self, following: DeletedRecords) -> DeletedRecords | None:
        """Return this and the following offsets as one range, or None if there are others between, or other causes."""
        mine, theirs = (
            (self.end_offset, self.cause, self.limit),
            (following.first_offset, following.cause, following.limit),
        )
        return replace(self, end_offset=following.end_offset) if mine == theirs else None


class Deletions:
    """What was deleted from a log and not reported yet."""

    __slots__ = ("_ranges",)

    def __init__(self) -> None:
        """Start without ranges."""
        self._ranges: list[DeletedRecords] = []

    def add(self, deleted: DeletedRecords) -> None:
        """Add the next offsets."""
        joined = self._ranges[-1].joined(deleted) if self._ranges else None
        if joined is None:
            self._ranges.append(deleted)
        else:
            self._ranges[-1] = joined

    def take(self) -> list[DeletedRecords]:
        """Return what was deleted since the last call."""
        taken, self._ranges = self._ranges, []
        return taken
