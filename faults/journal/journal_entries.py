"""Reads the journal: each request as a JournalEntry, selected by the same match as in fault rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from ...protocol.api_keys import APIS, api_name_of
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.frames import FrameError
from ...protocol.request_facts import BatchFacts, RequestFacts, read_request_facts
from ...protocol.shortened_text import shortened
from ...storage.append_decision import describe_decision
from ...storage.append_refused import AppendRefused
from ...storage.append_result import AppendResult
from ..rules.request_matcher import Matched, RequestMatcher
from .batch_numbers import numbers_of
from .journal_record import NO_RESPONSE, PENDING, RESPONDED, Decision, JournalRecord, NotApplied
from .request_outcomes import AppliedFault, RequestOutcomes

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
# The sentence about a batch, with the names in it.
WHY_CHARACTERS_MAX = 1000

_NONE = -1
_NO_RECORDS = memoryview(b"")


class BatchInfo(Struct, frozen=True, kw_only=True):
    """A batch of a request. Missing numbers are -1."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records: int


class JournalBatch(BatchInfo, frozen=True, kw_only=True):
    """A batch and its result.

    decision: "appended", "duplicate", "refused" or "not_applied". error: Kafka's name, None without an error.
    base_offset: of the original for a duplicate; -1 if the batch is not in the log. why: the reason as a sentence.
    expected_sequence: the base sequence that the partition would have accepted from the producer; set for a batch that
    was refused because of its sequence.
    producer_before_reset: whether the producer got its id before the last reset, and sent the batch after it.
    """

    decision: str
    error: str | None
    base_offset: int
    why: str
    expected_sequence: int | None = None
    producer_before_reset: bool = False


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
    error: the name of the top-level error of the response, else of the first batch with an error.
    rule: the rule of the last applied fault, None without one. faults: all applied faults, in order.
    topics, group_ids, transactional_id: from the body; empty for a request above 4 KiB that is not a Produce.
    batches_left_out: how many batches it has beyond BATCHES_MAX.
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


def read_entries(
    journal: Journal, match: Match | None = None, *, since: int = 0, limit: int | None = None
) -> list[JournalEntry]:
    """Return at most limit requests that match and have an id greater than since, oldest first."""
    found = (entry for entry in search_entries(journal, match, since=since) if entry is not None)
    return list(islice(found, limit))


def search_entries(journal: Journal, match: Match | None = None, *, since: int = 0) -> Iterator[JournalEntry | None]:
    """Yield the requests that match and have an id greater than since, oldest first, and None after other steps."""
    for found in _search(journal, match, since):
        yield None if found is None else _entry_of(journal, *found)


def search_matches(journal: Journal, match: Match | None = None, *, since: int = 0) -> Iterator[bool]:
    """Yield True for each request that search_entries yields, and False after other steps."""
    return (found is not None for found in _search(journal, match, since))


def iterate_entries(journal: Journal, since: int) -> Iterator[JournalEntry]:
    """Yield the requests that have an id greater than since, oldest first."""
    return (_entry_of(journal, request_id, request) for request_id, request in journal.records(since))


def find_entry(journal: Journal, request_id: int) -> JournalEntry | None:
    """Return a request; None if it is no longer kept."""
    request = journal.find(request_id)
    return None if request is None else _entry_of(journal, request_id, request)


def _search(journal: Journal, match: Match | None, since: int) -> Iterator[tuple[int, JournalRecord] | None]:
    """Yield each request that matches with its id, and None after each other step."""
    matcher = None if match is None else RequestMatcher(match)
    for request_id, request in journal.records(since):
        for part in _parts_of(request):
            if matcher is None or isinstance(matcher.match(JournalRecordView(journal, part)), Matched):
                yield request_id, request
                break
            yield None


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


def error_name_of(error_code: int) -> str | None:
    """Return Kafka's name of an error code, None for 0."""
    if error_code == ErrorCode.NONE:
        return None
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error {error_code}"


def _entry_of(journal: Journal, request_id: int, request: JournalRecord) -> JournalEntry:
    """Return the entry of a request."""
    outcomes = journal.outcomes
    faults = outcomes.faults_on(request_id)
    before_reset = journal.producers_before_reset(request_id)
    decisions = request.batches or ()
    batches = [_journal_batch(batch, faults, before_reset) for batch in decisions[:BATCHES_MAX]]
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
        error=_response_error(outcomes, request_id, request, batches),
        rule=_rule_of(faults, request),
        faults=[JournalFault(rule=fault.rule_id, point=fault.point, kind=fault.kind) for fault in faults],
    )


def _response_state(journal: Journal, request_id: int, request: JournalRecord) -> str:
    if request.state == NO_RESPONSE:
        return "not_owed"
    if journal.is_pending(request_id):
        return "waiting"
    is_answered = journal.outcomes.is_answered(request_id)
    if is_answered is None:
        is_answered = request.state in (RESPONDED, PENDING)
    return "written" if is_answered else "not_written"


def _response_error(
    outcomes: RequestOutcomes, request_id: int, request: JournalRecord, batches: list[JournalBatch]
) -> str | None:
    replaced = outcomes.find_replaced(request_id)
    if replaced is not None:
        return error_name_of(replaced.error_code)
    if request.error_code:
        return error_name_of(request.error_code)
    return next((batch.error for batch in batches if batch.error is not None), None)


def _rule_of(faults: list[AppliedFault], request: JournalRecord) -> int | None:
    if faults:
        return faults[-1].rule_id
    withheld = (batch[2] for batch in request.batches or () if isinstance(batch[2], NotApplied))
    return next((decision.rule_id for decision in withheld), None)


def _journal_batch(batch: Decision, faults: list[AppliedFault], before_reset: range) -> JournalBatch:
    """Return the entry of a batch. before_reset: as of producers_before_reset."""
    topic, partition, decision = batch
    numbers = numbers_of(decision)
    decided, error, base_offset, why = "refused", None, _NONE, ""
    if isinstance(decision, AppendResult):
        decided = "duplicate" if decision.is_duplicate else "appended"
        base_offset = decision.base_offset
        why = describe_decision(decision)
    elif isinstance(decision, NotApplied):
        decided = "not_applied"
        error = error_name_of(decision.error_code) if decision.error_code else None
        why = explain_not_applied(decision, faults)
    else:
        error = decision.code.name
        why = describe_decision(decision) if isinstance(decision, AppendRefused) else decision.message
    return JournalBatch(
        topic=shortened(topic),
        partition=partition,
        producer_id=numbers.producer_id,
        producer_epoch=numbers.producer_epoch,
        base_sequence=numbers.base_sequence,
        last_sequence=numbers.last_sequence,
        records=numbers.records_count,
        decision=decided,
        error=error,
        base_offset=base_offset,
        why=shortened(why or (error or ""), WHY_CHARACTERS_MAX),
        expected_sequence=_expected_sequence_of(decision),
        producer_before_reset=numbers.producer_id in before_reset,
    )


def _expected_sequence_of(decision: AppendResult | KafkaError | NotApplied) -> int | None:
    if not isinstance(decision, AppendRefused) or decision.refusal is None:
        return None
    return decision.refusal.expected_sequence


def explain_not_applied(decision: NotApplied, faults: list[AppliedFault]) -> str:
    """Return which rule withheld a batch from its log."""
    point = next((fault.point for fault in faults if fault.rule_id == decision.rule_id), "received")
    error = ""
    if decision.kind == "error":
        error = f" {error_name_of(decision.error_code) or 'NONE'}"
    return f"rule {decision.rule_id} ({decision.kind}{error} at {point}) withheld it from the log"
