"""What a broker remembers of each producer after each batch, followed from its decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from .seen_requests import SeenBatch

NO_PARTITION = -1

# By partition and producer id the sequences of the batches that a broker remembers, oldest first.
Remembered = Mapping[tuple[int, int], Sequence[tuple[int, int]]]


class Window(Struct, frozen=True):
    """One remembered batch."""

    name: str
    base_sequence: int
    last_sequence: int


class CachedWindows:
    """The cached batches of every producer and partition."""

    def __init__(self, remembered: int) -> None:
        """remembered: how many batches of a producer are."""
        self._remembered = remembered
        self._epochs: dict[tuple[int, int], int] = {}
        self._windows: dict[tuple[int, int], list[Window]] = {}
        self._newest = (NO_PARTITION, NO_PRODUCER_ID)

    def after(self, batch: SeenBatch, name: str) -> list[Window]:
        """Return what is remembered of the batch's producer once the batch was decided about."""
        key = (batch.partition, batch.producer_id)
        if batch.decision == "appended":
            if self._epochs.get(key) != batch.producer_epoch:
                self._windows[key] = []
            self._epochs[key] = batch.producer_epoch
            newest = Window(name, batch.base_sequence, batch.last_sequence)
            self._windows[key] = [*self._windows.get(key, []), newest][-self._remembered :]
        self._newest = key
        return self.newest()

    def newest(self) -> list[Window]:
        """Return what is remembered of the producer whose batch came last."""
        return list(self._windows.get(self._newest, []))

    def learn(self, remembered: Remembered) -> None:
        """Go on from what the broker itself says that it remembers, of all producers."""
        names = {
            (*key, window.base_sequence, window.last_sequence): window.name
            for key, windows in self._windows.items()
            for window in windows
        }
        self._windows = {
            key: [Window(names.get((*key, first, last), ""), first, last) for first, last in sequences]
            for key, sequences in remembered.items()
        }
