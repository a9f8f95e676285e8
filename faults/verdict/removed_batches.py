"""Batches that crashes and elections have removed from logs, kept to name their records in the verdict.

A replica reports them before it truncates its log, and a fault the ones that it acknowledges without appending them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from ...protocol.batches.record_batch import parse_header
from .journaled_batch import BatchPlace

# Bytes that are kept; the oldest batches beyond that are deleted, and their records have no names.
BYTES_MAX = 16 * 1024 * 1024


@dataclass(slots=True)
class RemovedBatch:
    """A batch. epoch: of its leader; -1 if it was never in a log. data: None after its deletion."""

    place: BatchPlace
    epoch: int
    data: bytes | None


class RemovedBatches:
    """The removed batches of all topics."""

    __slots__ = ("_by_place", "_bytes", "_in_order")

    def __init__(self) -> None:
        """Start empty."""
        self._by_place: dict[BatchPlace, list[RemovedBatch]] = {}
        self._in_order: deque[RemovedBatch] = deque()
        self._bytes = 0

    def add_from_log(self, topic: str, partition: int, batches: Iterable[memoryview]) -> None:
        """Add batches that a replica is about to remove from its log."""
        for batch in batches:
            header = parse_header(batch)
            self.add((topic, partition, header.base_offset), header.partition_leader_epoch, batch)

    def add(self, place: BatchPlace, epoch: int, data: memoryview) -> RemovedBatch:
        """Add a batch, and return it. data: is copied."""
        added = RemovedBatch(place, epoch, bytes(data))
        self._by_place.setdefault(place, []).append(added)
        self._in_order.append(added)
        self._bytes += len(data)
        while self._bytes > BYTES_MAX:
            self._delete(self._in_order.popleft())
        return added

    def find(self, place: BatchPlace, epoch: int | None = None) -> RemovedBatch | None:
        """Return the newest batch that was at this place, in this epoch or in any."""
        found = reversed(self._by_place.get(place, ()))
        return next((each for each in found if epoch in (None, each.epoch)), None)

    def forget_topic(self, topic: str) -> None:
        """Delete the batches of a topic."""
        kept = [each for each in self._in_order if each.place[0] != topic]
        self.clear()
        for each in kept:
            self._by_place.setdefault(each.place, []).append(each)
            self._bytes += len(each.data or b"")
        self._in_order.extend(kept)

    def clear(self) -> None:
        """Delete all batches."""
        self._by_place.clear()
        self._in_order.clear()
        self._bytes = 0

    def _delete(self, batch: RemovedBatch) -> None:
        self._bytes -= len(batch.data or b"")
        batch.data = None
        same_place = self._by_place[batch.place]
        same_place.remove(batch)
        if not same_place:
            del self._by_place[batch.place]
