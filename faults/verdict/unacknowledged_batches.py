"""Batches that were appended and not acknowledged: the client may send them again.

A batch becomes acknowledged when a duplicate of it is recognised and the response to the duplicate is sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .journaled_batch import BatchPlace, JournaledBatch

# Unacknowledged batches, and recognised ones, that are kept; the oldest beyond that are deleted and counted.
BATCHES_MAX = 10_000
# Truncations that are kept, to distinguish offsets before a truncation from the same offsets after it.
TRUNCATIONS_MAX = 1000
# The error code of a batch whose response was never written.
NO_RESPONSE_SENT = None


@dataclass(frozen=True, slots=True)
class UnacknowledgedBatch(JournaledBatch):
    """An appended batch, its request and its response.

    error_code: of the response; NO_RESPONSE_SENT without one.
    search_offset: the first offset where a copy may be; before the batch if the batch was held or delayed.
    is_acknowledged_late: the response was sent, but the client may have sent the batch again before.
    """

    last_sequence: int
    error_code: int | None
    search_offset: int
    is_acknowledged_late: bool = False


@dataclass(frozen=True, slots=True)
class _Recognised:
    """A batch acknowledged by the response to a duplicate. unacknowledged: its state before."""

    request_id: int
    unacknowledged: UnacknowledgedBatch | None


@dataclass(frozen=True, slots=True)
class _Truncation:
    """The truncation of a log by a crash. last_request_id: of the newest request before it."""

    topic: str
    partition: int
    end_offset: int
    last_request_id: int


class UnacknowledgedBatches:
    """The unacknowledged batches of all topics. forgotten: the number of those deleted beyond BATCHES_MAX."""

    __slots__ = ("_batches", "_recognised", "_truncations", "forgotten")

    def __init__(self) -> None:
        """Start empty."""
        self._batches: dict[BatchPlace, UnacknowledgedBatch] = {}
        self._recognised: dict[BatchPlace, _Recognised] = {}
        self._truncations: list[_Truncation] = []
        self.forgotten = 0

    def add(self, batch: UnacknowledgedBatch) -> None:
        """Add a batch, unless the response to a duplicate acknowledged it."""
        place = batch.place
        if place in self._batches or place in self._recognised or self.is_truncated(place, batch.request_id):
            return
        if len(self._batches) >= BATCHES_MAX:
            del self._batches[next(iter(self._batches))]
            self.forgotten += 1
        self._batches[place] = batch

    def recognised(self, place: BatchPlace, request_id: int) -> None:
        """Record that a duplicate of the batch was recognised by this request, whose response acknowledges it."""
        unacknowledged = self._batches.pop(place, None)
        if place in self._recognised:
            return
        if len(self._recognised) >= BATCHES_MAX:
            del self._recognised[next(iter(self._recognised))]
        self._recognised[place] = _Recognised(request_id, unacknowledged)

    def response_lost(self, place: BatchPlace, request_id: int) -> None:
        """Undo recognised: the response to the request was not sent."""
        recognised = self._recognised.get(place)
        if recognised is not None and recognised.request_id == request_id:
            del self._recognised[place]
            if recognised.unacknowledged is not None:
                self.add(recognised.unacknowledged)

    def is_recognised(self, place: BatchPlace) -> bool:
        """Return whether the response to a duplicate acknowledged the batch."""
        return place in self._recognised

    def is_unacknowledged(self, place: BatchPlace) -> bool:
        """Return whether the batch is unacknowledged."""
        return place in self._batches

    def find(self, place: BatchPlace) -> UnacknowledgedBatch | None:
        """Return the unacknowledged batch at this place."""
        return self._batches.get(place)

    def of_topic(self, topic: str) -> list[UnacknowledgedBatch]:
        """Return the batches of a topic, sorted by partition and offset."""
        return sorted((each for place, each in self._batches.items() if place[0] == topic), key=_by_place)

    def truncate(self, topic: str, partition: int, end_offset: int, last_request_id: int) -> None:
        """Delete the batches of a partition from end_offset on. last_request_id: of the newest request."""
        self.remove(topic, partition, end_offset)
        self._truncations = [
            *self._truncations[1 - TRUNCATIONS_MAX :],
            _Truncation(topic, partition, end_offset, last_request_id),
        ]

    def remove(self, topic: str, partition: int, end_offset: int) -> None:
        """Delete the batches of a partition from end_offset on, of which nothing is added any more."""

        def is_removed(place: BatchPlace) -> bool:
            return place[:2] == (topic, partition) and place[2] >= end_offset

        self._delete([place for place in (*self._batches, *self._recognised) if is_removed(place)])

    def is_truncated(self, place: BatchPlace, request_id: int) -> bool:
        """Return whether a later truncation deleted what the request appended at this place."""
        return any(
            place[:2] == (each.topic, each.partition)
            and place[2] >= each.end_offset
            and request_id <= each.last_request_id
            for each in self._truncations
        )

    def forget_topic(self, topic: str) -> None:
        """Delete the batches of a topic."""
        self._delete([place for place in (*self._batches, *self._recognised) if place[0] == topic])
        self._truncations = [each for each in self._truncations if each.topic != topic]

    def _delete(self, places: Iterable[BatchPlace]) -> None:
        for place in places:
            self._batches.pop(place, None)
            self._recognised.pop(place, None)

    def clear(self) -> None:
        """Delete all batches."""
        self._batches.clear()
        self._recognised.clear()
        self._truncations.clear()
        self.forgotten = 0


def _by_place(batch: UnacknowledgedBatch) -> BatchPlace:
    return batch.place
