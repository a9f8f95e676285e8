"""What really happened: the journal of requests, and the verdict on what became of the batches of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from ..faults.journal.journal_entries import JournalEntry, count_entries, read_entries
from ..faults.rules.recipes import match_of
from .calls import Ask

if TYPE_CHECKING:
    from ..faults.rules.recipes import MatchFields


class JournalOfBroker:
    """Every request, as far back as fauxka.journal.requests.max reaches.

    Its filters are the fields of a rule's match; records are not kept.
    """

    def __init__(self, ask: Ask) -> None:
        """ask: runs a function on the broker's thread."""
        self._ask = ask

    def entries(self, *, since: int = 0, limit: int | None = None, **fields: Unpack[MatchFields]) -> list[JournalEntry]:
        """Return the requests that match, oldest first; since: only those with a greater id."""
        match = match_of(**fields)
        return self._ask(lambda control: read_entries(control.journal, match, since=since, limit=limit))

    def count(self, *, since: int = 0, **fields: Unpack[MatchFields]) -> int:
        """Return how many requests match."""
        match = match_of(**fields)
        return self._ask(lambda control: count_entries(control.journal, match, since=since))

    @property
    def dropped(self) -> int:
        """How many requests were too many to be kept."""
        return self._ask(lambda control: control.journal.dropped)

    @property
    def last_id(self) -> int:
        """The id of the newest request, 0 before the first: `since` of what comes next."""
        return self._ask(lambda control: control.journal.last_id)
