"""Reads the journal: each request as a JournalEntry, selected by the same match as in fault rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from ...protocol.api_keys import APIS, api_name_of
from ...protocol.frames import FrameError
from ...protocol.request_facts import BatchFacts, RequestFacts, read_request_facts
from ...protocol.shortened_text import shortened
from ...storage.append_result import AppendResult
from ..rules.request_matcher import Matched, RequestMatcher
from .batch_numbers import numbers_of
from .details.models import (
    FetchDetails,
    ListOffsetsDetails,
    MemberDetails,
    OffsetsDetails,
    ResponseError,
    ShareDetails,
)
from .details.request_details import read_details
from .entry_errors import EntryErrors, entry_errors
from .journal_batches import JournalBatch, journal_batch
from .journal_record import NO_RESPONSE, PENDING, RESPONDED, JournalRecord, NotApplied
from .request_outcomes import AppliedFault

if TYPE_CHECKING:
    from ..request_view import ConnectionView
    from ..rules.match import Match
    from .journal import Journal

# The keys that limit the requests that are kept.
KEPT_BY = "fauxka.journal.requests.max, fauxka.journal.bytes.max"
# The batches of a request that its entry has; a Produce may have 100,000.
BATCHES_MAX = 10_000
# The batches that are matched in one step: within a slice.
BATCHES_AT_ONCE = 1_000
# The kind of the fault that changes nothing.
OBSERVE = "observe"
# A client that closes its connection does not wait for the response: it reads no more records, or leaves its group.
LEFT_APIS = frozenset(
    {
        "Fetch",
        "ShareFetch",
        "LeaveGroup",
        "ConsumerGroupHeartbeat",
        "ShareGroupHeartbeat",
        "StreamsGroupHeartbeat",
    }
)
_WITHOUT_RESPONSE = ("waiting", "not_written")
_NS_PER_MS = 1_000_000
_NO_RECORDS = memoryview(b"")


class JournalFault(Struct, frozen=True, kw_only=True):
    """A fault that was applied to a request."""

    rule: int
    point: str
    kind: str


class JournalEntry(Struct, frozen=True, kw_only=True):
    """A request.

    answered: whether the whole response was written. answer: the state of the response: "written", "waiting",
    "not_owed" (none expected) or "not_written".
    principal: who the client of the connection is, such as "User:alice"; also of requests before its authentication.
    error: the name of the top-level error of the response, else of the first batch or other part with an error.
    first_error: the first error inside the response, and what it is about. more_errors: how many others there are.
    rule: the rule of the last applied fault, None without one. faults: all applied faults, in order.
    topics, group_ids, transactional_id: from the body; empty for a request above 4 KiB that is not a Produce.
    batches_left_out: how many batches it has beyond BATCHES_MAX.
    fetch, list_offsets, offsets, member, share: the details of the request and its response; of those kinds.
    took_ms: from the arrival of the request until the response was written; None if it was not. injected_ms: of that,
    for how long faults held the request or its response.
    client_closed: whether the client has closed or reset its connection before a response was written.
    Long texts of the client are shortened, and have their length then: "aaa… (32000 characters)".
    """

    id: int
    at_ms: int
    node: int
    connection: int
    listener: str
    client_id: str | None
    client_host: str
    software: str
    principal: str
    api: str
    api_version: int
    correlation_id: int
    size: int
    topics: list[str]
    group_ids: list[str]
    transactional_id: str | None
    batches: list[JournalBatch]
    answered: bool
    answer: str
    error: str | None
    rule: int | None
    faults: list[JournalFault]
    batches_left_out: int = 0
    first_error: ResponseError | None = None
    more_errors: int = 0
    fetch: FetchDetails | None = None
    list_offsets: ListOffsetsDetails | None = None
    offsets: OffsetsDetails | None = None
    member: MemberDetails | None = None
    share: ShareDetails | None = None
    took_ms: float | None = None
    injected_ms: float = 0.0
    client_closed: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """The requests that fulfil all conditions, with an id greater than since, oldest first.

    before: only smaller ids, newest first. error: Kafka's name of an error; only requests with it, as a whole or inside
    their response. notable: only requests as of is_notable.
    """

    match: Match | None = None
    since: int = 0
    before: int | None = None
    error: str | None = None
    notable: bool = False


def read_entries(
    journal: Journal,
    match: Match | None = None,
    *,
    since: int = 0,
    limit: int | None = None,
    error: str | None = None,
) -> list[JournalEntry]:
    """Return at most limit requests that search_entries yields."""
    found = search_entries(journal, Selection(match, since=since, error=error))
    return list(islice((entry for entry in found if entry is not None), limit))


def search_entries(journal: Journal, selection: Selection) -> Iterator[JournalEntry | None]:
    """Yield the selected requests, and None after other steps."""
    for found in _search(journal, selection):
        yield None if found is None else _entry_of(journal, *found)


def search_matches(journal: Journal, selection: Selection) -> Iterator[bool]:
    """Yield True for each request that search_entries yields, and False after other steps."""
    return (found is not None for found in _search(journal, selection))


def iterate_entries(journal: Journal, since: int) -> Iterator[JournalEntry]:
    """Yield the requests that have an id greater than since, oldest first."""
    return (_entry_of(journal, request_id, request) for request_id, request in journal.records(since))


def find_entry(journal: Journal, request_id: int) -> JournalEntry | None:
    """Return a request; None if it is no longer kept."""
    request = journal.find(request_id)
    return None if request is None else _entry_of(journal, request_id, request)


def _search(journal: Journal, selection: Selection) -> Iterator[tuple[int, JournalRecord] | None]:
    """Yield each request that is selected with its id, and None after each other step."""
    matcher = None if selection.match is None else RequestMatcher(selection.match)
    for request_id, request in journal.records(selection.since, selection.before):
        if not _is_selected(journal, request_id, request, selection):
            yield None
            continue
        for part in _parts_of(request):
            if matcher is None or isinstance(matcher.match(JournalRecordView(journal, part)), Matched):
                yield request_id, request
                break
            yield None


def _is_selected(journal: Journal, request_id: int, request: JournalRecord, selection: Selection) -> bool:
    """Return whether a request fulfils the conditions beside the match."""
    if selection.error is not None and selection.error not in _errors_of(journal, request_id, request).names:
        return False
    return not selection.notable or is_notable(journal, request_id, request)


def is_notable(journal: Journal, request_id: int, request: JournalRecord) -> bool:
    """Return whether a request met a fault, has no response, repeats a batch, or has an error.

    A response that is missing because the client closed its connection is not notable for LEFT_APIS.
    """
    if any(fault.kind != OBSERVE for fault in journal.outcomes.faults_on(request_id)):
        return True
    state = _response_state(journal, request_id, request)
    is_left = request.connection.is_closed_by_client and api_name_of(request.api_key) in LEFT_APIS
    if state in _WITHOUT_RESPONSE and not is_left:
        return True
    if any(isinstance(result, AppendResult) and result.is_duplicate for _, _, result in request.batches or ()):
        return True
    return _errors_of(journal, request_id, request).error is not None


def _errors_of(journal: Journal, request_id: int, request: JournalRecord) -> EntryErrors:
    details = read_details(request, journal.topic_name_of)
    return entry_errors(request, journal.outcomes.find_replaced(request_id), details)


def _parts_of(request: JournalRecord) -> Iterator[JournalRecord]:
    """Yield the request with BATCHES_AT_ONCE of its batches at a time. It matches if a part does."""
    batches = request.batches or ()
    if request.body is not None or len(batches) <= BATCHES_AT_ONCE:
        yield request
        return
    for first in range(0, len(batches), BATCHES_AT_ONCE):
        yield request._replace(batches=batches[first : first + BATCHES_AT_ONCE])


@dataclass(frozen=True, slots=True)
class JournalRecordView:
    """A request of the journal as a MatchedRequest. It has no records, so key and header never match."""

    journal: Journal
    request: JournalRecord

    @property
    def connection(self) -> ConnectionView:
        """The connection that received it."""
        return self.request.connection

    @property
    def client_id(self) -> str | None:
        """The client id of the request header."""
        return self.request.client_id

    @property
    def api_name(self) -> str:
        """Kafka's name of the API."""
        return api_name_of(self.request.api_key)

    @property
    def api_version(self) -> int:
        """The API version."""
        return self.request.api_version

    @property
    def mechanism(self) -> str | None:
        """The SASL mechanism of the connection."""
        return self.request.connection.mechanism

    @property
    def principal(self) -> str:
        """Who the client of the connection is."""
        return str(self.request.connection.principal)

    @property
    def facts(self) -> RequestFacts:
        """The content of the body, or the numbers of the batches; empty if the body does not decode."""
        request = self.request
        if request.body is not None:
            api = APIS.get(request.api_key)
            try:
                body = memoryview(request.body)
                if api is not None:
                    return read_request_facts(api, request.api_version, body, self.journal.topic_name_of)
            except FrameError:
                return RequestFacts()
        batches = [
            BatchFacts(topic, partition, *numbers_of(decision), _NO_RECORDS)
            for topic, partition, decision in self.request.batches or ()
        ]
        return RequestFacts(
            topics=tuple(dict.fromkeys(batch.topic for batch in batches)),
            partitions=tuple(dict.fromkeys((batch.topic, batch.partition) for batch in batches)),
            batches=batches,
        )


def _entry_of(journal: Journal, request_id: int, request: JournalRecord) -> JournalEntry:
    """Return the entry of a request."""
    outcomes = journal.outcomes
    faults = outcomes.faults_on(request_id)
    before_reset = journal.producers_before_reset(request_id)
    decisions = request.batches or ()
    batches = [journal_batch(batch, faults, before_reset) for batch in decisions[:BATCHES_MAX]]
    details = read_details(request, journal.topic_name_of)
    errors = entry_errors(request, outcomes.find_replaced(request_id), details)
    answer = _response_state(journal, request_id, request)
    connection = request.connection
    facts = JournalRecordView(journal, request._replace(batches=decisions[:BATCHES_MAX])).facts
    return JournalEntry(
        id=request_id,
        at_ms=request.at_ms,
        node=connection.node_id,
        connection=connection.connection_id,
        listener=connection.listener_name,
        client_id=request.client_id,
        client_host=connection.client_host,
        software=connection.client_software,
        principal=shortened(str(connection.principal)),
        api=api_name_of(request.api_key),
        api_version=request.api_version,
        correlation_id=request.correlation_id,
        size=request.size,
        topics=[shortened(topic) for topic in facts.topics],
        group_ids=[shortened(group_id) for group_id in facts.group_ids],
        transactional_id=None if facts.transactional_id is None else shortened(facts.transactional_id),
        batches=batches,
        batches_left_out=len(decisions) - len(batches),
        answered=answer == "written",
        answer=answer,
        error=errors.error,
        first_error=errors.first,
        more_errors=errors.more,
        fetch=details.fetch,
        list_offsets=details.list_offsets,
        offsets=details.offsets,
        member=details.member,
        share=details.share,
        took_ms=_ms(request.answer.took_ns) or None,
        injected_ms=_ms(request.answer.held_ns),
        client_closed=answer in _WITHOUT_RESPONSE and connection.is_closed_by_client,
        rule=_rule_of(faults, request),
        faults=[JournalFault(rule=fault.rule_id, point=fault.point, kind=fault.kind) for fault in faults],
    )


def _ms(duration_ns: int) -> float:
    return round(duration_ns / _NS_PER_MS, 3)


def _response_state(journal: Journal, request_id: int, request: JournalRecord) -> str:
    if request.state == NO_RESPONSE:
        return "not_owed"
    if journal.is_pending(request_id):
        return "waiting"
    is_answered = journal.outcomes.is_answered(request_id)
    if is_answered is None:
        is_answered = request.state in (RESPONDED, PENDING)
    return "written" if is_answered else "not_written"


def _rule_of(faults: list[AppliedFault], request: JournalRecord) -> int | None:
    if faults:
        return faults[-1].rule_id
    withheld = (batch[2] for batch in request.batches or () if isinstance(batch[2], NotApplied))
    return next((decision.rule_id for decision in withheld), None)
