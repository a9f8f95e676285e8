"""The offsets that retention and DeleteRecords have deleted, by topic."""

from __future__ import annotations

from dataclasses import dataclass

from ...storage.deleted_records import DeletedRecords

# Ranges that are kept of each topic; more are only counted. Adjacent ranges of the same cause are joined.
RANGES_MAX = 1000


@dataclass(frozen=True, slots=True)
class DeletedRange:
    """Adjacent offsets of a partition that were deleted for the same reason."""

    partition: int
    records: DeletedRecords

    @property
    def last_offset(self) -> int:
        """The last offset of the range."""
        return self.records.end_offset - 1


class DeletedRanges:
    """The deleted offsets of all topics, since the verdict on the topic was last reset."""

    __slots__ = ("_counts", "_ranges")

    def __init__(self) -> None:
        """Start empty."""
        self._ranges: dict[str, list[DeletedRange]] = {}
        self._counts: dict[str, int] = {}

    def add(self, topic: str, partition: int, deleted: DeletedRecords) -> None:
        """Add the next offsets of a partition."""
        self._counts[topic] = self.count_of_topic(topic) + deleted.end_offset - deleted.first_offset
        ranges = self._ranges.setdefault(topic, [])
        for index, known in enumerate(ranges):
            joined = known.records.joined(deleted) if known.partition == partition else None
            if joined is not None:
                ranges[index] = DeletedRange(partition, joined)
                return
        if len(ranges) < RANGES_MAX:
            ranges.append(DeletedRange(partition, deleted))

    def of_topic(self, topic: str) -> list[DeletedRange]:
        """Return the ranges of a topic in the order of their deletion."""
        return list(self._ranges.get(topic, ()))

    def count_of_topic(self, topic: str) -> int:
        """Return the number of deleted offsets of a topic."""
        return self._counts.get(topic, 0)

    def forget_topic(self, topic: str) -> None:
        """Delete the ranges of a topic."""
        self._ranges.pop(topic, None)
        self._counts.pop(topic, None)

    def clear(self) -> None:
        """Delete all ranges."""
        self._ranges.clear()
        self._counts.clear()
