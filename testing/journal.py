"""The journal of the requests that a broker has received."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from ..faults.journal.journal_entries import JournalEntry, count_entries, read_entries
from ..faults.rules.recipes import match_of
from .calls import ControlCall

if TYPE_CHECKING:
    from ..faults.rules.recipes import MatchFields


class BrokerJournal:
    """The last fauxka.journal.requests.max requests, without records; filters are the fields of a rule's match."""

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def entries(self, *, since: int = 0, limit: int | None = None, **fields: Unpack[MatchFields]) -> list[JournalEntry]:
        """Return the matching requests, oldest first; since: only requests with a greater id."""
        match = match_of(**fields)
        return self._call(lambda control: read_entries(control.journal, match, since=since, limit=limit))

    def count(self, *, since: int = 0, **fields: Unpack[MatchFields]) -> int:
        """Return the number of matching requests."""
        match = match_of(**fields)
        return self._call(lambda control: count_entries(control.journal, match, since=since))

    @property
    def dropped(self) -> int:
        """The number of requests that were dropped from the journal."""
        return self._call(lambda control: control.journal.dropped)

    @property
    def last_id(self) -> int:
        """The id of the newest request, 0 without requests; as `since` it selects later requests."""
        return self._call(lambda control: control.journal.last_id)
