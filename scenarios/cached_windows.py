"""What a broker remembers of each producer after each batch, followed from its decisions."""

from __future__ import annotations

from msgspec import Struct

from .seen_requests import SeenBatch


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

    def after(self, batch: SeenBatch, name: str) -> list[Window]:
        """Return what is remembered of the batch's producer once the batch was decided about."""
        key = (batch.partition, batch.producer_id)
        if batch.decision == "appended":
            if self._epochs.get(key) != batch.producer_epoch:
                self._windows[key] = []
            self._epochs[key] = batch.producer_epoch
            newest = Window(name, batch.base_sequence, batch.last_sequence)
            self._windows[key] = [*self._windows.get(key, []), newest][-self._remembered :]
        return list(self._windows.get(key, []))

    def forget(self, partition: int, producer_id: int) -> None:
        """The broker was made to forget them."""
        self._windows.pop((partition, producer_id), None)

    def of(self, partition: int, producer_id: int) -> list[Window]:
        """Return what is remembered."""
        return list(self._windows.get((partition, producer_id), []))
