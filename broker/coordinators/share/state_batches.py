"""Combines the batches of a share group's state with new ones.

Of two batches that overlap, the one with the higher delivery count has the offset, then the one with the higher
delivery state. Overlapping and adjacent batches with the same state and count become one.
Source: PersisterStateBatchCombiner, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from ....protocol.stored_records.share_state_records import StateBatch

# Without a start offset, no batch is dropped.
NO_OFFSET = -1


def combine_batches(batches: Iterable[StateBatch], start_offset: int) -> tuple[StateBatch, ...]:
    """Return the batches without overlaps, in the order of their offsets, from start_offset on.

    batches: in any order; the last_offset of each is at least its first_offset.
    A batch that took the place of an earlier one stays beside its neighbour of the same state, as in Kafka.
    """
    pending = list(batches)
    if start_offset != NO_OFFSET:
        pending = [
            each._replace(first_offset=max(each.first_offset, start_offset))
            for each in pending
            if each.last_offset >= start_offset
        ]
    heapify(pending)
    combined: list[StateBatch] = []
    while pending:
        before = heappop(pending)
        if not pending or not _are_joined(before, pending[0]):
            combined.append(before)
            continue
        for part in _join(before, heappop(pending)):
            heappush(pending, part)
    return tuple(combined)


def _are_joined(before: StateBatch, batch: StateBatch) -> bool:
    is_adjacent = before.last_offset + 1 == batch.first_offset and _rank(before) == _rank(batch)
    return is_adjacent or batch.first_offset <= before.last_offset


def _join(before: StateBatch, batch: StateBatch) -> list[StateBatch]:
    """Return the parts of two batches, of which before is the first in their order."""
    if _rank(before) == _rank(batch):
        return [before._replace(last_offset=max(before.last_offset, batch.last_offset))]
    if _rank(before) > _rank(batch):
        parts = [before, batch._replace(first_offset=before.last_offset + 1)]
    else:
        parts = [
            before._replace(last_offset=batch.first_offset - 1),
            batch,
            before._replace(first_offset=batch.last_offset + 1),
        ]
    return [each for each in parts if each.first_offset <= each.last_offset]


def _rank(batch: StateBatch) -> tuple[int, int]:
    return batch.delivery_count, batch.delivery_state
