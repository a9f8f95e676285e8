"""Operations that read and clear the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from time import perf_counter
from typing import Annotated, cast

from msgspec import Meta, Struct

from ...broker.runtime.long_work import SLICE_SECONDS
from ...faults.action_refusals import ERROR_NAME, unknown_error_text
from ...faults.journal.journal_entries import JournalEntry, Selection, search_entries, search_matches
from ...faults.match_values import NaturalOrNone
from ...faults.numbers import INT64_MAX, Natural
from ...faults.rule_error import RuleError
from ...faults.rules.api_checks import check_apis
from ...faults.rules.match import Match
from ...faults.rules.value_tests import check_match
from ...faults.strict_json import convert, parse
from ...protocol.error_codes import ErrorCode
from ..control import Control
from ..operation import Operation
from ..page_stream import collect_page, stream_page
from ..paging import LIMIT_DEFAULT, Limit

TAG = "truth"

# A longer match would not fit into a request line.
MATCH_CHARACTERS_MAX = 10_000

# Topic names have at most 249 characters; client ids may be longer.
Text = Annotated[str, Meta(max_length=1000)]
# Match fields of records, which the journal does not keep.
NOT_KEPT = ("key", "header")
JsonMatch = Annotated[str, Meta(max_length=MATCH_CHARACTERS_MAX, description="A match as in a fault rule, as JSON.")]


class JournalFilter(Struct, kw_only=True, forbid_unknown_fields=True):
    """The requests that fulfil all conditions, as in the `match` of a fault rule."""

    api: Text | None = None
    api_version: Natural | None = None
    node: Natural | None = None
    listener: Text | None = None
    connection: Natural | None = None
    client_id: Text | None = None
    principal: Text | None = None
    topic: Text | None = None
    group_id: Text | None = None
    transactional_id: Text | None = None
    partition: Natural | None = None
    producer_id: NaturalOrNone | None = None
    producer_epoch: NaturalOrNone | None = None
    base_sequence: NaturalOrNone | None = None
    error: (
        Annotated[Text, Meta(description="Only requests with this error, as a whole or inside the response.")] | None
    ) = None
    match: JsonMatch | None = None
    notable: Annotated[
        bool, Meta(description="Only requests with a fault, without a response, with a repeated batch or an error.")
    ] = False
    since: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Only requests with a greater id.")] = 0


class JournalQuery(JournalFilter, kw_only=True, forbid_unknown_fields=True):
    """The requests, and the size of a page."""

    before: (
        Annotated[
            int,
            Meta(ge=1, le=INT64_MAX, description="Only requests with a smaller id, newest first; next is a before."),
        ]
        | None
    ) = None
    limit: Limit = LIMIT_DEFAULT


class JournalPage(Struct, kw_only=True):
    """Requests in the order in which they were handled, with `before` newest first.

    dropped: those that are no longer kept, for number or bytes.
    """

    items: list[JournalEntry]
    next: str | None
    dropped: int


class JournalCount(Struct, kw_only=True):
    """The number of kept requests that match. dropped: those that are no longer kept."""

    count: int
    dropped: int


class JournalExtent(Struct, kw_only=True):
    """The ids of the journal, which are consecutive.

    last_id: of the newest request, 0 without requests; as `since` it selects later ones. cleared_id: of the newest one
    that was deleted on request. dropped: as in JournalPage.
    """

    last_id: int
    cleared_id: int
    dropped: int


async def read_journal(control: Control, query: JournalQuery) -> JournalPage:
    """List the requests, oldest first, or newest first before a request."""
    found = search_entries(control.journal, _selection_of(query, query.before))
    items, token = await collect_page(found, query.limit, _token_of)
    return JournalPage(items=items, next=token, dropped=control.journal.dropped)


def stream_journal(control: Control, query: JournalQuery) -> AsyncIterator[bytes]:
    """Return the page of read_journal in pieces of its JSON."""
    journal = control.journal
    found = search_entries(journal, _selection_of(query, query.before))
    return stream_page(found, query.limit, _token_of, {"dropped": journal.dropped})


def _token_of(entry: JournalEntry) -> str:
    return str(entry.id)


def journal_extent(control: Control) -> JournalExtent:
    """Return the id of the newest request, and how many are no longer kept."""
    journal = control.journal
    return JournalExtent(last_id=journal.last_id, cleared_id=journal.cleared_id, dropped=journal.dropped)


async def count_journal(control: Control, query: JournalFilter) -> JournalCount:
    """Count the requests that match."""
    count = 0
    for found in count_in_slices(control, _selection_of(query)):
        count += found
        await asyncio.sleep(0)
    return JournalCount(count=count, dropped=control.journal.dropped)


def count_in_slices(control: Control, selection: Selection) -> Iterator[int]:
    """Count the requests that search_matches yields; yield how many each slice found."""
    count, until = 0, perf_counter() + SLICE_SECONDS
    for is_matched in search_matches(control.journal, selection):
        count += is_matched
        if perf_counter() >= until:
            yield count
            count, until = 0, perf_counter() + SLICE_SECONDS
    yield count


def clear_journal(control: Control) -> JournalCount:
    """Delete all requests and reset the verdict; return how many requests there were."""
    before = JournalCount(count=control.journal.kept, dropped=control.journal.dropped)
    control.journal.clear()
    return before


def _selection_of(query: JournalFilter, before: int | None = None) -> Selection:
    """Return the selection of a query. Raises RuleError."""
    return Selection(_match_of(query), query.since, before, _error_of(query), query.notable)


def _match_of(query: JournalFilter) -> Match | None:
    """Return the match of the query; None for all requests. Raises RuleError."""
    conditions: dict[str, object] = {
        name: value
        for name in Match.__struct_fields__
        if hasattr(query, name) and (value := getattr(query, name)) is not None
    }
    if query.match is not None:
        document = parse(query.match.encode())
        if not isinstance(document, dict):
            raise RuleError("match", query.match, "an object as in the match of a rule", "match is not an object")
        conditions = {**cast("dict[str, object]", document), **conditions}
    match = convert(conditions, Match)
    check_journal_match(match)
    return match if conditions else None


def _error_of(query: JournalFilter) -> str | None:
    """Return the error of the query; None for any request. Raises RuleError for a name that no error has."""
    error = query.error
    if error is not None and (error not in ErrorCode.__members__ or error == ErrorCode.NONE.name):
        raise RuleError("error", error, ERROR_NAME, f"error: {unknown_error_text(error)}")
    return error


def check_journal_match(match: Match) -> None:
    """Raise RuleError for invalid conditions, and for those that no request in the journal can fulfil."""
    check_match(match)
    for name in NOT_KEPT:
        if getattr(match, name) is not None:
            raise RuleError(name, None, "no value", f"{name}: the journal does not keep records")
    try:
        check_apis(match)
    except RuleError as error:
        field, message = (text.removeprefix("match.") for text in (error.field, error.message))
        raise RuleError(field, error.value, error.allowed, message) from error


OPERATIONS = (
    Operation(method="GET", path="/v1/journal", perform=read_journal, tag=TAG, stream=stream_journal),
    Operation(method="DELETE", path="/v1/journal", perform=clear_journal, tag=TAG),
    Operation(method="GET", path="/v1/journal/count", perform=count_journal, tag=TAG),
    Operation(method="GET", path="/v1/journal/extent", perform=journal_extent, tag=TAG),
)
