"""Notes between the requests of a timeline: events of a scenario that are not requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..brokers.scenario_broker import ScenarioBroker
from .cached_batches import CachedSequences

Who = Literal["client", "broker", "test"]


@dataclass(frozen=True, slots=True)
class Note:
    """One note.

    after: the last journal id at that time. process: the process of a client's note, "" for the first one.
    cached: the cached batches of all producers, if they changed. releases: whether held requests were released.
    """

    after: int
    who: Who
    text: str
    process: str = ""
    cached: CachedSequences | None = None
    releases: bool = False


class Notes:
    """The notes of one run, in their order."""

    def __init__(self, broker: ScenarioBroker, topic: str) -> None:
        """broker: its journal determines the position of a note."""
        self.items: list[Note] = []
        self._broker = broker
        self._topic = topic

    def add(self, who: Who, text: str, process: str = "") -> None:
        """Add a note. process: of a client's note."""
        self._add(lambda after: Note(after, who, text, process))

    def add_change(self, text: str) -> None:
        """Add a note of the broker with its cached batches."""
        cached = self._broker.cached_sequences(self._topic)
        self._add(lambda after: Note(after, "broker", text, cached=cached))

    def add_release(self, text: str) -> None:
        """Add a note that the broker releases the held requests."""
        self._add(lambda after: Note(after, "broker", text, releases=True))

    def _add(self, note_after: Callable[[int], Note]) -> None:
        requests = self._broker.journal()
        self.items.append(note_after(requests[-1].id if requests else 0))
