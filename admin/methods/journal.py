"""The journal of the requests that a broker has received."""

from __future__ import annotations

from typing import Unpack

from msgspec import Struct, to_builtins

from ...faults import strict_json
from ...faults.journal.journal_entries import JournalEntry
from ...faults.numbers import Natural
from ...faults.rules.match import Match
from ...faults.rules.recipes import MatchFields, match_of
from ..operations import journal_operations, mark_operations
from ..operations.journal_operations import JournalCount, JournalFilter, JournalQuery, check_journal_match
from ..operations.mark_operations import MarkInfo
from ..paging import NumberPage
from .base import Methods
from .journal_text import expectation_text, failure_text

# Within the class, `entries` is a method.
Entries = list[JournalEntry]
Marks = list[MarkInfo]


class Span(Struct):
    """The requests to return: those with a greater id than since, at most limit."""

    since: Natural = 0
    limit: Natural | None = None


class BrokerJournal(Methods):
    """The last fauxka.journal.requests.max requests, without records; filters are the fields of a rule's match.

    Every filter raises RuleError if no request in the journal can fulfil it: an unknown API, or a key or header.
    """

    def entries(
        self,
        *,
        since: int = 0,
        limit: int | None = None,
        error: str | None = None,
        notable: bool = False,
        **fields: Unpack[MatchFields],
    ) -> Entries:
        """Return the matching requests, oldest first; since: only requests with a greater id.

        error: only requests with this error, such as "ILLEGAL_GENERATION", as a whole or inside the response.
        notable: only requests with a fault, without a response, with a repeated batch or an error.
        """
        condition, span = condition_of(fields), span_of(since, limit)
        if span.limit == 0:
            return []
        query = JournalQuery(match=condition, since=span.since, error=error, notable=notable)
        return self._all(journal_operations.read_journal, query, span.limit)

    def count(
        self, *, since: int = 0, error: str | None = None, notable: bool = False, **fields: Unpack[MatchFields]
    ) -> int:
        """Return the number of matching requests. error, notable: as in entries."""
        query = JournalFilter(match=condition_of(fields), since=span_of(since).since, error=error, notable=notable)
        counted = self._perform(journal_operations.count_journal, query=query)
        return counted.count

    def assert_requests(
        self, *, count: int | None = None, since: int = 0, error: str | None = None, **fields: Unpack[MatchFields]
    ) -> Entries:
        """Assert that there are count matching requests, or at least one if count is None, and return them.

        count: 0 asserts that there is none. since, error: as in entries. Raises AssertionError with the requests that
        match, others of the same API, and the number of all requests by API.
        """
        __tracebackhide__ = True
        found = self.entries(since=since, error=error, **fields)
        if len(found) == count or (count is None and found):
            return found
        of_api = self.entries(since=since, api=fields["api"]) if "api" in fields else []
        everything = self.entries(since=since)
        dropped = self.dropped
        conditions = {**fields} if error is None else {**fields, "error": error}
        raise AssertionError(failure_text(expectation_text(count, conditions), found, of_api, everything, dropped))

    def clear(self) -> JournalCount:
        """Delete all requests and reset the verdict; return how many requests there were."""
        return self._perform(journal_operations.clear_journal)

    def marks(self, *, since: int = 0) -> Marks:
        """Return what happened to the cluster between the requests: the newest 1,000 marks with an id above since."""
        return self._all(mark_operations.list_marks, NumberPage(since=span_of(since).since))

    @property
    def dropped(self) -> int:
        """The number of requests that were dropped from the journal."""
        counted = self._perform(journal_operations.journal_extent)
        return counted.dropped

    @property
    def last_id(self) -> int:
        """The id of the newest request, 0 without requests; as `since` it selects later requests."""
        extent = self._perform(journal_operations.journal_extent)
        return extent.last_id


def condition_of(fields: MatchFields) -> str | None:
    """Return the match as the journal's operations take it; None for all requests. Raises RuleError as they do."""
    match = match_of(**fields)
    check_journal_match(match)
    if match == Match():
        return None
    given: dict[str, object] = to_builtins(match)
    return strict_json.encode({name: value for name, value in given.items() if value is not None}).decode()


def span_of(since: int, limit: int | None = None) -> Span:
    """Return the requests to return. Raises InvalidValueError for a negative number."""
    return strict_json.convert({"since": since, "limit": limit}, Span)
