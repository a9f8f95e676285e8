"""The lost batches of a topic, joined by their cause: one election loses all that the new leader does not have."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from .lost_batches import LostBatch


@dataclass(frozen=True, slots=True)
class LostRange:
    """Batches of one partition that one leader acknowledged in one epoch, and that were lost for the same reason.

    batches: at least one, by offset. Batches between them may be in the log, or were not acknowledged.
    """

    batches: list[LostBatch]

    @property
    def first(self) -> LostBatch:
        """The batch with the lowest offset."""
        return self.batches[0]

    @property
    def last(self) -> LostBatch:
        """The batch with the highest offset."""
        return self.batches[-1]

    @property
    def records(self) -> int:
        """The number of records; 0 for a batch that was never in the log."""
        return sum(each.last_offset - each.base_offset + 1 for each in self.batches if each.end_offset is not None)

    @property
    def producer(self) -> tuple[int, int, int]:
        """Producer id, epoch and first sequence of the first batch; -1 if the batches are of several producers."""
        producers = {(each.producer_id, each.producer_epoch) for each in self.batches}
        first = self.first
        return (first.producer_id, first.producer_epoch, first.base_sequence) if len(producers) == 1 else (-1, -1, -1)


def join_by_cause(lost: Iterable[LostBatch]) -> list[LostRange]:
    """Return the lost batches by cause. lost: those of each cause by offset."""
    ranges: list[LostRange] = []
    newest: dict[Hashable, LostRange] = {}
    for batch in lost:
        cause = _cause_of(batch)
        found = newest.get(cause)
        # A crash may cut the log at the same offset as an earlier one.
        if found is None or batch.base_offset <= found.last.base_offset:
            found = newest[cause] = LostRange([])
            ranges.append(found)
        found.batches.append(batch)
    return ranges


def _cause_of(lost: LostBatch) -> Hashable:
    if lost.end_offset is None:
        # A false success is one of its request.
        return lost.partition, lost.request_id
    failover = lost.failover
    if failover is None:
        return lost.partition, None, lost.end_offset
    # What a leader appended after it was replaced is another cause than what its followers lacked before: acks=all
    # prevents the second, and the first is a leader that does not know that it is none.
    return lost.partition, failover.epoch, failover.change.epoch, failover.was_replaced, lost.end_offset
