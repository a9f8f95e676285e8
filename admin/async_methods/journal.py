"""The journal of the requests that a broker has received.

Made of admin/methods/journal.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from typing import Unpack

from ...faults.rules.recipes import MatchFields
from ..methods.journal import Entries, Marks, condition_of, span_of
from ..methods.journal_text import expectation_text, failure_text
from ..operations import journal_operations, mark_operations
from ..operations.journal_operations import JournalCount, JournalFilter, JournalQuery
from ..paging import NumberPage
from .base import AsyncMethods


class AsyncBrokerJournal(AsyncMethods):
    """The last fauxka.journal.requests.max requests, without records; filters are the fields of a rule's match.

    Every filter raises RuleError if no request in the journal can fulfil it: an unknown API, or a key or header.
    """

    async def entries(
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
        condition, span = (condition_of(fields), span_of(since, limit))
        if span.limit == 0:
            return []
        query = JournalQuery(match=condition, since=span.since, error=error, notable=notable)
        return await self._all(journal_operations.read_journal, query, span.limit)

    async def count(
        self, *, since: int = 0, error: str | None = None, notable: bool = False, **fields: Unpack[MatchFields]
    ) -> int:
        """Return the number of matching requests. error, notable: as in entries."""
        query = JournalFilter(match=condition_of(fields), since=span_of(since).since, error=error, notable=notable)
        counted = await self._perform(journal_operations.count_journal, query=query)
        return counted.count

    async def assert_requests(
        self, *, count: int | None = None, since: int = 0, error: str | None = None, **fields: Unpack[MatchFields]
    ) -> Entries:
        """Assert that there are count matching requests, or at least one if count is None, and return them.

        count: 0 asserts that there is none. since, error: as in entries. Raises AssertionError with the requests that
        match, others of the same API, and the number of all requests by API.
        """
        __tracebackhide__ = True
        found = await self.entries(since=since, error=error, **fields)
        if len(found) == count or (count is None and found):
            return found
        of_api = await self.entries(since=since, api=fields["api"]) if "api" in fields else []
        everything = await self.entries(since=since)
        dropped = await self.dropped
        conditions = {**fields} if error is None else {**fields, "error": error}
        raise AssertionError(failure_text(expectation_text(count, conditions), found, of_api, everything, dropped))

    async def clear(self) -> JournalCount:
        """Delete all requests and reset the verdict; return how many requests there were."""
        return await self._perform(journal_operations.clear_journal)

    async def marks(self, *, since: int = 0) -> Marks:
        """Return what happened to the cluster between the requests: the newest 1,000 marks with an id above since."""
        return await self._all(mark_operations.list_marks, NumberPage(since=span_of(since).since))

    @property
    async def dropped(self) -> int:
        """The number of requests that were dropped from the journal."""
        counted = await self._perform(journal_operations.journal_extent)
        return counted.dropped

    @property
    async def last_id(self) -> int:
        """The id of the newest request, 0 without requests; as `since` it selects later requests."""
        extent = await self._perform(journal_operations.journal_extent)
        return extent.last_id
