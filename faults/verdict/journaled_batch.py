"""The fields of a batch that the verdict keeps: where it was appended, by which request, and of which producer."""

from __future__ import annotations

from dataclasses import dataclass

from ...storage.append_result import AppendResult

# Topic, partition, first offset.
BatchPlace = tuple[str, int, int]
# The fields of a JournaledBatch, in order.
BatchFields = tuple[int, str, int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class JournaledBatch:
    """A batch of a request. Subclasses add what became of it.

    request_id: 0 if unknown. base_offset, last_offset: -1 if it was not appended.
    """

    request_id: int
    topic: str
    partition: int
    base_offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int

    @property
    def place(self) -> BatchPlace:
        """Topic, partition and base offset."""
        return self.topic, self.partition, self.base_offset


def appended_fields(request_id: int, batch: tuple[str, int, AppendResult]) -> BatchFields:
    """Return the fields of a batch that a request has appended. batch: its topic, partition and result."""
    topic, partition, result = batch
    return (
        request_id,
        topic,
        partition,
        result.base_offset,
        result.last_offset,
        result.producer_id,
        result.producer_epoch,
        result.base_sequence,
    )
