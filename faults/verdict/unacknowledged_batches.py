"""Batches that were appended and whose client was not told so: what it may send again, and perhaps store twice.

A batch stops being unacknowledged when a duplicate of it was recognised and that was answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Doubtful batches, and recognised ones, that are remembered; the oldest are then forgotten, and that is counted.
BATCHES_MAX = 10_000
# Losses of batches that are remembered, to tell what was in a log before from what is there now: requests that wait for
# an answer do not outlive their connections for long.
CUTS_MAX = 1000
# Stands for an answer that was never written, in place of the error that a lying one has.
NO_ANSWER = None

# Topic, partition, first offset.
BatchPlace = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class UnacknowledgedBatch:
    """An appended batch, the request it came in, and what its client was told.

    error_code: of an answer that did not tell the truth; NO_ANSWER where there was none.
    search_offset: where in the log copies of it may begin; it lies before the batch if that was held for a time.
    is_told: the client was told, but so late that it may have sent the batch again before.
    """

    request_id: int
    topic: str
    partition: int
    base_offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    error_code: int | None
    search_offset: int
    is_told: bool = False

    @property
    def place(self) -> BatchPlace:
        """Where it is."""
        return self.topic, self.partition, self.base_offset


@dataclass(frozen=True, slots=True)
class _Recognised:
    """A batch of which a duplicate was answered: by which request, and what had been unacknowledged about it."""

    request_id: int
    unacknowledged: UnacknowledgedBatch | None


@dataclass(frozen=True, slots=True)
class _Cut:
    """The loss of the newest batches of a log; last_request_id: of the newest request before that."""

    topic: str
    partition: int
    end_offset: int
    last_request_id: int


class UnacknowledgedBatches:
    """All that are unacknowledged. forgotten: how many were given up because they were too many."""

    __slots__ = ("_batches", "_cuts", "_recognised", "forgotten")

    def __init__(self) -> None:
        """Start without any."""
        self._batches: dict[BatchPlace, UnacknowledgedBatch] = {}
        self._recognised: dict[BatchPlace, _Recognised] = {}
        self._cuts: list[_Cut] = []
        self.forgotten = 0

    def add(self, batch: UnacknowledgedBatch) -> None:
        """The client was not told of the batch, unless it was by the answer to a duplicate."""
        place = batch.place
        if place in self._batches or place in self._recognised or self.is_cut(place, batch.request_id):
            return
        if len(self._batches) >= BATCHES_MAX:
            del self._batches[next(iter(self._batches))]
            self.forgotten += 1
        self._batches[place] = batch

    def recognised(self, place: BatchPlace, request_id: int) -> None:
        """A duplicate of the batch was recognised, and that is the answer to the request."""
        unacknowledged = self._batches.pop(place, None)
        if place in self._recognised:
            return
        if len(self._recognised) >= BATCHES_MAX:
            del self._recognised[next(iter(self._recognised))]
        self._recognised[place] = _Recognised(request_id, unacknowledged)

    def not_told(self, place: BatchPlace, request_id: int) -> None:
        """The answer to the request, which recognised a duplicate of the batch, has not come through after all."""
        recognised = self._recognised.get(place)
        if recognised is not None and recognised.request_id == request_id:
            del self._recognised[place]
            if recognised.unacknowledged is not None:
                self.add(recognised.unacknowledged)

    def is_recognised(self, place: BatchPlace) -> bool:
        """Whether the client was told of the batch by the answer to a duplicate."""
        return place in self._recognised

    def is_unacknowledged(self, place: BatchPlace) -> bool:
        """Whether the client of the batch was not told of it."""
        return place in self._batches

    def of_topic(self, topic: str) -> list[UnacknowledgedBatch]:
        """Return those of a topic, by partition and offset."""
        return sorted((each for place, each in self._batches.items() if place[0] == topic), key=_by_place)

    def truncate(self, topic: str, partition: int, end_offset: int, last_request_id: int) -> None:
        """Forget what the log has lost from end_offset on; last_request_id: of the newest request before that."""

        def is_lost(place: BatchPlace) -> bool:
            return place[:2] == (topic, partition) and place[2] >= end_offset

        self._forget([place for place in (*self._batches, *self._recognised) if is_lost(place)])
        self._cuts = [*self._cuts[1 - CUTS_MAX :], _Cut(topic, partition, end_offset, last_request_id)]

    def is_cut(self, place: BatchPlace, request_id: int) -> bool:
        """Whether what the request appended there was lost since, so that what is there now is another batch."""
        return any(
            place[:2] == (cut.topic, cut.partition) and place[2] >= cut.end_offset and request_id <= cut.last_request_id
            for cut in self._cuts
        )

    def forget_topic(self, topic: str) -> None:
        """Forget those of a topic."""
        self._forget([place for place in (*self._batches, *self._recognised) if place[0] == topic])
        self._cuts = [cut for cut in self._cuts if cut.topic != topic]

    def _forget(self, places: Iterable[BatchPlace]) -> None:
        for place in places:
            self._batches.pop(place, None)
            self._recognised.pop(place, None)

    def clear(self) -> None:
        """Forget all."""
        self._batches.clear()
        self._recognised.clear()
        self._cuts.clear()
        self.forgotten = 0


def _by_place(batch: UnacknowledgedBatch) -> BatchPlace:
    return batch.place
