"""Batches that a leader has appended and that the log of a later leader does not have.

They are kept until a leader has them again: a replica that kept them may be elected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .journaled_batch import BatchPlace
from .lost_batches import LostBatch
from .unacknowledged_batches import UnacknowledgedBatch

# Batches that are kept; of more, only the lost ones are counted.
DIVERGED_MAX = 10_000


@dataclass(slots=True)
class DivergedBatch:
    """A batch with its place in a log that is not the present one.

    epoch: of the leader that appended it. acknowledged_by: the request whose response acknowledged it, 0 if unknown;
    None if there is none, or if it is pending. unacknowledged: set for an error and a missing response.
    """

    batch: LostBatch
    epoch: int
    acknowledged_by: int | None
    unacknowledged: UnacknowledgedBatch | None = None


class DivergedBatches:
    """The diverged batches of all topics. lost_beyond_max: acknowledged ones beyond DIVERGED_MAX, by topic."""

    __slots__ = ("_by_place", "_count", "lost_beyond_max")

    def __init__(self) -> None:
        """Start empty."""
        self._by_place: dict[BatchPlace, list[DivergedBatch]] = {}
        self._count = 0
        self.lost_beyond_max: dict[str, int] = {}

    def add(self, diverged: DivergedBatch) -> None:
        """Add a batch."""
        batch = diverged.batch
        if self._count < DIVERGED_MAX:
            self._count += 1
            self._by_place.setdefault(batch.place, []).append(diverged)
        elif diverged.acknowledged_by is not None:
            self.lost_beyond_max[batch.topic] = self.lost_beyond_max.get(batch.topic, 0) + 1

    def find(self, place: BatchPlace, request_id: int) -> DivergedBatch | None:
        """Return what the request has appended at this place, if it has diverged."""
        return next((each for each in self._by_place.get(place, ()) if each.batch.request_id == request_id), None)

    def find_newest(self, place: BatchPlace, epoch_max: int) -> DivergedBatch | None:
        """Return the batch at this place with the greatest epoch up to epoch_max."""
        found = (each for each in self._by_place.get(place, ()) if each.epoch <= epoch_max)
        return max(found, key=_epoch_of, default=None)

    def response_lost(self, place: BatchPlace, request_id: int) -> None:
        """Note that the response to a duplicate, which acknowledged a batch at this place, was not sent."""
        for each in self._by_place.get(place, ()):
            if each.acknowledged_by == request_id != each.batch.request_id:
                each.acknowledged_by = None

    def take(self, topic: str, partition: int, is_taken: Callable[[DivergedBatch], bool]) -> list[DivergedBatch]:
        """Remove the batches of a partition that is_taken chooses. Return them by their offsets."""
        places = [place for place in self._by_place if place[:2] == (topic, partition)]
        taken = [each for place in sorted(places) for each in self._by_place[place] if is_taken(each)]
        for each in taken:
            left = self._by_place[each.batch.place]
            left.remove(each)
            if not left:
                del self._by_place[each.batch.place]
        self._count -= len(taken)
        return taken

    def lost_in(self, topic: str) -> Iterator[LostBatch]:
        """Yield the acknowledged batches of a topic."""
        for place, batches in self._by_place.items():
            if place[0] == topic:
                yield from (each.batch for each in batches if each.acknowledged_by is not None)

    def forget_topic(self, topic: str) -> None:
        """Delete the batches of a topic."""
        for place in [place for place in self._by_place if place[0] == topic]:
            self._count -= len(self._by_place.pop(place))
        self.lost_beyond_max.pop(topic, None)

    def clear(self) -> None:
        """Delete all batches."""
        self._by_place.clear()
        self._count = 0
        self.lost_beyond_max.clear()


def _epoch_of(diverged: DivergedBatch) -> int:
    return diverged.epoch
