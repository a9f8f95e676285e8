"""The journal: what was received, decided and answered."""

from __future__ import annotations

from typing import Annotated, cast

from msgspec import Meta, Struct

from ...faults.actions import INT64_MAX
from ...faults.journal.journal_entries import JournalEntry, count_entries, read_entries
from ...faults.rule_error import RuleError
from ...faults.rules.api_checks import check_apis
from ...faults.rules.match import Match, Natural, NaturalOrNone
from ...faults.rules.value_tests import check_match_value
from ...faults.strict_json import convert, parse
from ..control import Control
from ..operation import Operation
from ..paging import LIMIT_DEFAULT, Limit, page_of

TAG = "truth"

# A match that is longer would not fit into the first line of a request anyway.
MATCH_CHARACTERS_MAX = 10_000

# Kafka's names have 249 characters; what clients call themselves has a few more.
Text = Annotated[str, Meta(max_length=1000)]
# What a request may have carried, and is not kept of it.
NOT_KEPT = ("key", "header")
JsonMatch = Annotated[
    str, Meta(max_length=MATCH_CHARACTERS_MAX, description="All that the `match` of a rule can say, as JSON.")
]


class JournalFilter(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which requests: those for which all of it holds; as in the `match` of a rule."""

    api: Text | None = None
    api_version: Natural | None = None
    listener: Text | None = None
    connection: Natural | None = None
    client_id: Text | None = None
    topic: Text | None = None
    group_id: Text | None = None
    transactional_id: Text | None = None
    partition: Natural | None = None
    producer_id: NaturalOrNone | None = None
    producer_epoch: NaturalOrNone | None = None
    base_sequence: NaturalOrNone | None = None
    match: JsonMatch | None = None
    since: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Only requests with a greater id.")] = 0


class JournalQuery(JournalFilter, kw_only=True, forbid_unknown_fields=True):
    """Which requests, and how many of them."""

    limit: Limit = LIMIT_DEFAULT


class JournalPage(Struct, kw_only=True):
    """Requests in the order in which they were handled; dropped: how many were too many to be kept."""

    items: list[JournalEntry]
    next: str | None
    dropped: int


class JournalCount(Struct, kw_only=True):
    """How many of the requests that are kept match; dropped: how many were too many to be kept."""

    count: int
    dropped: int


def read_journal(control: Control, query: JournalQuery) -> JournalPage:
    """Tell what happened to each request, oldest first."""
    journal = control.journal
    found = read_entries(journal, _match_of(query), since=query.since, limit=query.limit + 1)
    items, token = page_of(found, query.limit, lambda entry: entry, lambda entry: str(entry.id))
    return JournalPage(items=items, next=token, dropped=journal.dropped)


def count_journal(control: Control, query: JournalFilter) -> JournalCount:
    """Count the requests that match."""
    journal = control.journal
    return JournalCount(count=count_entries(journal, _match_of(query), since=query.since), dropped=journal.dropped)


def clear_journal(control: Control) -> JournalCount:
    """Forget all requests, and what the verdict is judged from; tell how many there were."""
    told = JournalCount(count=count_entries(control.journal), dropped=control.journal.dropped)
    control.journal.clear()
    return told


def _match_of(query: JournalFilter) -> Match | None:
    """Return what the query asks for; None for everything. Raises RuleError."""
    asked: dict[str, object] = {
        name: value
        for name in Match.__struct_fields__
        if hasattr(query, name) and (value := getattr(query, name)) is not None
    }
    if query.match is not None:
        document = parse(query.match.encode())
        if not isinstance(document, dict):
            raise RuleError("match", query.match, "an object as in the match of a rule", "match is not an object")
        asked = {**cast("dict[str, object]", document), **asked}
    match = convert(asked, Match)
    for name in Match.__struct_fields__:
        check_match_value(name, getattr(match, name))
    _check_kept(match)
    return match if asked else None


def _check_kept(match: Match) -> None:
    """Raise RuleError for what the journal cannot tell: no request would match, whatever has happened."""
    for name in NOT_KEPT:
        if getattr(match, name) is not None:
            raise RuleError(
                name, None, "no value", f"{name}: the journal keeps the numbers of batches, and not their records"
            )
    try:
        check_apis(match)
    except RuleError as error:
        raise RuleError(error.field.removeprefix("match."), error.value, error.allowed, error.message) from error


OPERATIONS = (
    Operation(method="GET", path="/v1/journal", perform=read_journal, tag=TAG),
    Operation(method="DELETE", path="/v1/journal", perform=clear_journal, tag=TAG),
    Operation(method="GET", path="/v1/journal/count", perform=count_journal, tag=TAG),
)
