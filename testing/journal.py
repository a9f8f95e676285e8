"""The journal of the requests that a broker has received."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from msgspec import Struct

from ..admin.operations.journal_operations import JournalCount, check_journal_match, clear_journal, count_in_slices
from ..faults.journal.journal_entries import JournalEntry, read_entries
from ..faults.numbers import Natural
from ..faults.rules.match import Match
from ..faults.rules.recipes import match_of
from ..faults.strict_json import convert
from .calls import ControlCall
from .journal_text import expectation_text, failure_text

if TYPE_CHECKING:
    from ..admin.control import Control
    from ..faults.rules.recipes import MatchFields


class _Span(Struct):
    since: Natural = 0
    limit: Natural | None = None


class BrokerJournal:
    """The last fauxka.journal.requests.max requests, without records; filters are the fields of a rule's match.

    Every filter raises RuleError if no request in the journal can fulfil it: an unknown API, or a key or header.
    """

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def entries(self, *, since: int = 0, limit: int | None = None, **fields: Unpack[MatchFields]) -> list[JournalEntry]:
        """Return the matching requests, oldest first; since: only requests with a greater id."""
        match, span = _match_of(fields), convert({"since": since, "limit": limit}, _Span)
        return self._call(lambda control: read_entries(control.journal, match, since=span.since, limit=span.limit))

    def count(self, *, since: int = 0, **fields: Unpack[MatchFields]) -> int:
        """Return the number of matching requests."""
        match, span = _match_of(fields), convert({"since": since}, _Span)
        slices = self._call(lambda control: count_in_slices(control, match, since=span.since))
        count = 0
        # A call for each slice: clients of the broker are served in between.
        while (found := self._call(lambda _: next(slices, None))) is not None:
            count += found
        return count

    def assert_requests(
        self, *, count: int | None = None, since: int = 0, **fields: Unpack[MatchFields]
    ) -> list[JournalEntry]:
        """Assert that there are count matching requests, or at least one if count is None, and return them.

        count: 0 asserts that there is none. since: only requests with a greater id. Raises AssertionError with the
        requests that match, others of the same API, and the number of all requests by API.
        """
        __tracebackhide__ = True
        match, span = _match_of(fields), convert({"since": since}, _Span)

        def entries_or_text(control: Control) -> list[JournalEntry] | str:
            entries = read_entries(control.journal, match, since=span.since)
            if len(entries) == count or (count is None and entries):
                return entries
            return failure_text(control.journal, match, entries, expectation_text(count, fields), since=span.since)

        found = self._call(entries_or_text)
        if isinstance(found, str):
            raise AssertionError(found)
        return found

    def clear(self) -> JournalCount:
        """Delete all requests and reset the verdict; return how many requests there were."""
        return self._call(clear_journal)

    @property
    def dropped(self) -> int:
        """The number of requests that were dropped from the journal."""
        return self._call(lambda control: control.journal.dropped)

    @property
    def last_id(self) -> int:
        """The id of the newest request, 0 without requests; as `since` it selects later requests."""
        return self._call(lambda control: control.journal.last_id)


def _match_of(fields: MatchFields) -> Match:
    """Return the match. Raises RuleError as the admin API does."""
    match = match_of(**fields)
    check_journal_match(match)
    return match
