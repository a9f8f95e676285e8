"""The timeline of a scenario: requests, decisions, responses and notes, for the diagram and for JSON.

Each request is followed by the decision about each of its batches and by the response. For a held request these follow
its release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from .batch_names import BatchNames
from .cached_batches import CachedBatch, CachedBatchTracker
from .consumer_requests import answered_to, asked_of
from .journal_requests import HOLD, NOT_APPLIED, JournalBatch, JournalRequest
from .notes import Note, Who

RECEIVED = "received"
INIT_PRODUCER_ID = "InitProducerId"
# The process of requests and notes that name none.
CLIENT = "client"
# Actions that lose a request before the broker handles it.
_LOSSES = ("drop", "close", "reset")


class SentBatch(Struct, kw_only=True, omit_defaults=True):
    """A batch of a request. name: its name in the scenario, or ""."""

    name: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records: int


class Moment(Struct, kw_only=True, omit_defaults=True):
    """One entry of the timeline.

    who: the actor of a note. process: the client's process of a request, a decision or a response, and of a note of a
    client; it has a lane of its own in the diagram. lost: whether a request or a response did not arrive, and why_lost.
    decision, error, base_offset: of a decision. cached: the producer's cached batches, oldest first, after a decision
    or a note that changed them.
    """

    kind: Literal["request", "decision", "answer", "note"]
    text: str
    at_ms: int | None = None
    request: int | None = None
    connection: int | None = None
    who: Who | None = None
    process: str = ""
    lost: bool = False
    why_lost: str = ""
    batch: SentBatch | None = None
    decision: str = ""
    error: str = ""
    base_offset: int | None = None
    cached: list[CachedBatch] | None = None


@dataclass(frozen=True, slots=True)
class NamedRule:
    """The name, point and action kind of an armed rule."""

    name: str
    point: str
    kind: str

    def __str__(self) -> str:
        """Return the rule as text."""
        return f"{self.kind} at {self.point}: {self.name}"


def process_of(request: JournalRequest) -> str:
    """Return the process of a request: by default its client id."""
    return request.process or request.client_id or CLIENT


def build_timeline(
    requests: Iterable[JournalRequest],
    notes: Sequence[Note],
    names: BatchNames,
    rules: Mapping[int, NamedRule],
    batches_retained: int,
) -> list[Moment]:
    """Return the moments in order."""
    requests = list(requests)
    builder = _Builder(names, rules, CachedBatchTracker(batches_retained))
    builder.issued = issued_producers(requests)
    builder.names_nodes = len({request.node for request in requests}) > 1
    left = list(notes)
    for request in requests:
        while left and left[0].after < request.id:
            builder.add_note(left.pop(0))
        builder.add_request(request)
    for note in left:
        builder.add_note(note)
    builder.release()
    return builder.moments


class _Builder:
    def __init__(self, names: BatchNames, rules: Mapping[int, NamedRule], tracker: CachedBatchTracker) -> None:
        self.moments: list[Moment] = []
        self._names = names
        self._rules = rules
        self._tracker = tracker
        self._held: list[JournalRequest] = []
        # The connections that brought batches, by process.
        self._connections: dict[str, set[int]] = {}
        self.issued: dict[int, str] = {}
        # Whether requests have gone to several nodes.
        self.names_nodes = False

    def add_note(self, note: Note) -> None:
        cached: list[CachedBatch] | None = None
        if note.cached is not None:
            self._tracker.replace_all(note.cached)
            cached = self._tracker.newest()
        process = (note.process or CLIENT) if note.who == "client" else ""
        self.moments.append(Moment(kind="note", who=note.who, text=note.text, process=process, cached=cached))
        if note.releases:
            self.release()

    def add_request(self, request: JournalRequest) -> None:
        self._note_connection(request)
        rule = self._rule_of(request)
        is_lost = rule is not None and rule.point == RECEIVED and rule.kind in _LOSSES
        self.moments.append(
            Moment(
                kind="request",
                at_ms=request.at_ms,
                request=request.id,
                connection=request.connection,
                process=process_of(request),
                text=self._request_text(request),
                lost=is_lost,
                why_lost=str(rule) if is_lost else "",
                batch=self._carried(request.batches[0], request.id) if request.batches else None,
            )
        )
        if is_lost:
            return
        if rule is not None and rule.point == RECEIVED and rule.kind == HOLD:
            process = process_of(request)
            self.moments.append(
                Moment(kind="decision", request=request.id, process=process, text=str(rule), decision=NOT_APPLIED)
            )
            self._held.append(request)
        else:
            self._add_outcome(request, rule)

    def _note_connection(self, request: JournalRequest) -> None:
        """Add a note if batches of a process arrive over a new connection."""
        if not request.batches:
            return
        process = process_of(request)
        connections = self._connections.setdefault(process, set())
        if connections and request.connection not in connections:
            self.moments.append(Moment(kind="note", who="client", process=process, text="reconnects"))
        connections.add(request.connection)

    def release(self) -> None:
        """Add the decisions and responses of the held requests."""
        held, self._held = self._held, []
        for request in held:
            self._add_outcome(request, None)

    def _rule_of(self, request: JournalRequest) -> NamedRule | None:
        """Return the scenario's rule that acted on a request, ignoring counting rules."""
        rules = [self._rules[fault.rule] for fault in request.faults if fault.rule in self._rules]
        return rules[-1] if rules else None

    def _add_outcome(self, request: JournalRequest, rule: NamedRule | None) -> None:
        for batch in request.batches:
            self._add_decision(request, batch, rule)
        is_lost = not request.answered
        self.moments.append(
            Moment(
                kind="answer",
                request=request.id,
                connection=request.connection,
                process=process_of(request),
                text=self.issued.get(request.id) or response_text(request),
                lost=is_lost,
                why_lost=(str(rule) if rule else "the connection was closed") if is_lost else "",
            )
        )

    def _add_decision(self, request: JournalRequest, batch: JournalBatch, rule: NamedRule | None) -> None:
        is_not_applied = batch.decision == NOT_APPLIED
        cached = self._tracker.after(batch, self._names.name_of(batch, request.id))
        self.moments.append(
            Moment(
                kind="decision",
                request=request.id,
                process=process_of(request),
                text=f"not applied: {rule}" if is_not_applied and rule else batch.why or batch.decision,
                decision=batch.decision,
                error=batch.error or "",
                base_offset=batch.base_offset if batch.base_offset >= 0 else None,
                batch=self._carried(batch, request.id),
                cached=cached if batch.producer_id >= 0 else None,
            )
        )

    def _carried(self, batch: JournalBatch, request_id: int) -> SentBatch:
        return SentBatch(
            name=self._names.name_of(batch, request_id),
            partition=batch.partition,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            last_sequence=batch.last_sequence,
            records=batch.records,
        )

    def _request_text(self, request: JournalRequest) -> str:
        batches = ", ".join(self._batch_text(batch, request.id) for batch in request.batches)
        text = f"{request.api} {batches or asked_of(request)}".rstrip()
        return f"{text} to node {request.node}" if self.names_nodes else text

    def _batch_text(self, batch: JournalBatch, request_id: int) -> str:
        name = self._names.name_of(batch, request_id)
        words = f"{name}: " if name else ""
        if batch.producer_id < 0:
            words += f"{batch.records} record{'' if batch.records == 1 else 's'} without a producer id"
        else:
            sequences = f"sequences {batch.base_sequence}..{batch.last_sequence}"
            words += f"producer {batch.producer_id} epoch {batch.producer_epoch} {sequences}"
        return words if batch.partition == 0 else f"{words} to partition {batch.partition}"


def issued_producers(requests: Sequence[JournalRequest]) -> dict[int, str]:
    """Return the results of InitProducerId, by request id: the next new producer in a batch of the same process."""
    known: set[tuple[int, int]] = set()
    pending: dict[str, list[int]] = {}
    issued: dict[int, str] = {}
    for request in requests:
        if request.api == INIT_PRODUCER_ID and request.error is None:
            pending.setdefault(process_of(request), []).append(request.id)
        for batch in request.batches:
            producer = (batch.producer_id, batch.producer_epoch)
            asked = pending.get(process_of(request))
            if asked and batch.producer_id >= 0 and producer not in known:
                issued[asked.pop()] = f"producer {batch.producer_id} epoch {batch.producer_epoch}"
            known.add(producer)
    return issued


def response_text(request: JournalRequest) -> str:
    """Return a response as text."""
    if request.error is not None:
        return request.error
    if request.batches:
        return ", ".join(_batch_response(batch) for batch in request.batches)
    return answered_to(request) or "response"


def _batch_response(batch: JournalBatch) -> str:
    if batch.error is not None:
        return batch.error
    return f"offset {batch.base_offset}" if batch.base_offset >= 0 else "no error"
