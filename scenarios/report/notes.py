"""What happens beside the requests of a scenario, written down with its place among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..stages.stage import Stage
from .cached_windows import Remembered

Who = Literal["client", "broker", "test"]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that no request shows.

    after: the journal's last id when it happened. remembered: what the broker says that it remembers of producers then,
    where that changed. releases: requests that were held went on. is_stranger: the next request is somebody else's.
    """

    after: int
    who: Who
    text: str
    remembered: Remembered | None = None
    releases: bool = False
    is_stranger: bool = False


class Notes:
    """The notes of one run, in their order."""

    def __init__(self, stage: Stage, topic: str) -> None:
        """stage: the broker whose journal tells the place of a note."""
        self.items: list[Note] = []
        self._stage = stage
        self._topic = topic

    def add(self, who: Who, text: str) -> None:
        """Write down what somebody does."""
        self._add(lambda after: Note(after, who, text))

    def add_change(self, text: str) -> None:
        """Write down what the broker has done, and what it remembers of producers now."""
        remembered = self._stage.remembered(self._topic)
        self._add(lambda after: Note(after, "broker", text, remembered=remembered))

    def add_release(self, text: str) -> None:
        """Write down that the broker goes on with what it held."""
        self._add(lambda after: Note(after, "broker", text, releases=True))

    def add_stranger(self, text: str) -> None:
        """Write down that the next request is somebody else's."""
        self._add(lambda after: Note(after, "test", text, is_stranger=True))

    def _add(self, note_after: Callable[[int], Note]) -> None:
        requests = self._stage.journal()
        self.items.append(note_after(requests[-1].id if requests else 0))
