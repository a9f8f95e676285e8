"""The cached batches of each producer after each request, derived from the broker's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from .journal_requests import JournalBatch

NO_PARTITION = -1

# The first and last sequences of the cached batches, oldest first, by partition and producer id.
CachedSequences = Mapping[tuple[int, int], Sequence[tuple[int, int]]]


class CachedBatch(Struct, frozen=True):
    """One cached batch."""

    name: str
    base_sequence: int
    last_sequence: int


class CachedBatchTracker:
    """The cached batches of every producer and partition."""

    def __init__(self, batches_retained: int) -> None:
        """batches_retained: the number of cached batches per producer."""
        self._batches_retained = batches_retained
        self._epochs: dict[tuple[int, int], int] = {}
        self._batches: dict[tuple[int, int], list[CachedBatch]] = {}
        self._newest = (NO_PARTITION, NO_PRODUCER_ID)

    def after(self, batch: JournalBatch, name: str) -> list[CachedBatch]:
        """Return the cached batches of the batch's producer after the decision about it."""
        key = (batch.partition, batch.producer_id)
        if batch.decision == "appended":
            if self._epochs.get(key) != batch.producer_epoch:
                self._batches[key] = []
            self._epochs[key] = batch.producer_epoch
            newest = CachedBatch(name, batch.base_sequence, batch.last_sequence)
            self._batches[key] = [*self._batches.get(key, []), newest][-self._batches_retained :]
        self._newest = key
        return self.newest()

    def newest(self) -> list[CachedBatch]:
        """Return the cached batches of the producer of the last batch."""
        return list(self._batches.get(self._newest, []))

    def replace_all(self, cached: CachedSequences) -> None:
        """Replace the cached batches of all producers by the broker's list."""
        names = {
            (*key, batch.base_sequence, batch.last_sequence): batch.name
            for key, batches in self._batches.items()
            for batch in batches
        }
        self._batches = {
            key: [CachedBatch(names.get((*key, first, last), ""), first, last) for first, last in sequences]
            for key, sequences in cached.items()
        }
