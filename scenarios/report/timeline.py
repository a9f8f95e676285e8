"""What happened in a scenario, moment by moment, as data: the diagram is drawn from it, and JSON is made of it.

A request is a moment, then what the broker decided about each batch in it, then the answer. Notes stand between them.
A request that is held is decided about when it is released.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from .batch_names import BatchNames
from .cached_windows import CachedWindows, Window
from .notes import Note, Who
from .seen_requests import NOT_APPLIED, SeenBatch, SeenRequest

RECEIVED = "received"
HOLD = "hold"
INIT_PRODUCER_ID = "InitProducerId"
# What keeps a request from arriving at all.
_LOSSES = ("drop", "close", "reset")


class Carried(Struct, kw_only=True, omit_defaults=True):
    """A batch on its way; name is the scenario's, "" where it has none."""

    name: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records: int


class Moment(Struct, kw_only=True, omit_defaults=True):
    """One thing that happened.

    who: of a note, who did it. lost: a request or an answer did not arrive; why_lost: by what.
    decision, error, base_offset: of a decision. cached: after a decision, and after a note of what the broker forgot,
    what it remembers of the producer, oldest first.
    """

    kind: Literal["request", "decision", "answer", "note"]
    text: str
    at_ms: int | None = None
    request: int | None = None
    connection: int | None = None
    who: Who | None = None
    lost: bool = False
    why_lost: str = ""
    batch: Carried | None = None
    decision: str = ""
    error: str = ""
    base_offset: int | None = None
    cached: list[Window] | None = None


@dataclass(frozen=True, slots=True)
class RuleInWords:
    """A rule as the scenario armed it."""

    name: str
    point: str
    kind: str

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.kind} at {self.point}: {self.name}"


def build_timeline(
    requests: Iterable[SeenRequest],
    notes: Sequence[Note],
    names: BatchNames,
    rules: Mapping[int, RuleInWords],
    batches_retained: int,
) -> list[Moment]:
    """Return the moments in order."""
    requests = list(requests)
    builder = _Builder(names, rules, CachedWindows(batches_retained))
    builder.issued = issued_producers(requests)
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
    def __init__(self, names: BatchNames, rules: Mapping[int, RuleInWords], windows: CachedWindows) -> None:
        self.moments: list[Moment] = []
        self._names = names
        self._rules = rules
        self._windows = windows
        self._held: list[SeenRequest] = []
        self._connections: set[int] = set()
        self._is_stranger = False
        self.issued: dict[int, str] = {}

    def add_note(self, note: Note) -> None:
        cached: list[Window] | None = None
        if note.remembered is not None:
            self._windows.learn(note.remembered)
            cached = self._windows.newest()
        self.moments.append(Moment(kind="note", who=note.who, text=note.text, cached=cached))
        if note.releases:
            self.release()
        self._is_stranger = note.is_stranger

    def add_request(self, request: SeenRequest) -> None:
        self._note_connection(request)
        rule = self._rule_of(request)
        is_lost = rule is not None and rule.point == RECEIVED and rule.kind in _LOSSES
        self.moments.append(
            Moment(
                kind="request",
                at_ms=request.at_ms,
                request=request.id,
                connection=request.connection,
                text=f"{request.api} {', '.join(map(self._in_words, request.batches))}".rstrip(),
                lost=is_lost,
                why_lost=str(rule) if is_lost else "",
                batch=self._carried(request.batches[0]) if request.batches else None,
            )
        )
        if is_lost:
            return
        if rule is not None and rule.point == RECEIVED and rule.kind == HOLD:
            self.moments.append(Moment(kind="decision", request=request.id, text=str(rule), decision=NOT_APPLIED))
            self._held.append(request)
        else:
            self._add_outcome(request, rule)

    def _note_connection(self, request: SeenRequest) -> None:
        """Note where batches come over another connection than before."""
        if not request.batches:
            return
        if self._is_stranger:
            self._is_stranger = False
            return
        if self._connections and request.connection not in self._connections:
            self.moments.append(Moment(kind="note", who="client", text="connects anew"))
        self._connections.add(request.connection)

    def release(self) -> None:
        """What was held is decided about."""
        held, self._held = self._held, []
        for request in held:
            self._add_outcome(request, None)

    def _rule_of(self, request: SeenRequest) -> RuleInWords | None:
        """Return the scenario's rule that acted on a request; those that only count are none of them."""
        rules = [self._rules[fault.rule] for fault in request.faults if fault.rule in self._rules]
        return rules[-1] if rules else None

    def _add_outcome(self, request: SeenRequest, rule: RuleInWords | None) -> None:
        for batch in request.batches:
            self._add_decision(request, batch, rule)
        is_lost = not request.answered
        self.moments.append(
            Moment(
                kind="answer",
                request=request.id,
                connection=request.connection,
                text=self.issued.get(request.id) or answer_text(request),
                lost=is_lost,
                why_lost=(str(rule) if rule else "the connection is gone") if is_lost else "",
            )
        )

    def _add_decision(self, request: SeenRequest, batch: SeenBatch, rule: RuleInWords | None) -> None:
        is_kept_back = batch.decision == NOT_APPLIED
        window = self._windows.after(batch, self._names.name_of(batch))
        self.moments.append(
            Moment(
                kind="decision",
                request=request.id,
                text=f"not applied: {rule}" if is_kept_back and rule else batch.why or batch.decision,
                decision=batch.decision,
                error=batch.error or "",
                base_offset=batch.base_offset if batch.base_offset >= 0 else None,
                batch=self._carried(batch),
                cached=window if batch.producer_id >= 0 else None,
            )
        )

    def _carried(self, batch: SeenBatch) -> Carried:
        return Carried(
            name=self._names.name_of(batch),
            partition=batch.partition,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            last_sequence=batch.last_sequence,
            records=batch.records,
        )

    def _in_words(self, batch: SeenBatch) -> str:
        name = self._names.name_of(batch)
        words = f"{name}: " if name else ""
        if batch.producer_id < 0:
            words += f"{batch.records} records of no producer"
        else:
            sequences = f"sequences {batch.base_sequence}..{batch.last_sequence}"
            words += f"producer {batch.producer_id} epoch {batch.producer_epoch} {sequences}"
        return words if batch.partition == 0 else f"{words} to partition {batch.partition}"


def issued_producers(requests: Sequence[SeenRequest]) -> dict[int, str]:
    """Return what InitProducerId was answered with, by request: the next producer and epoch that was new."""
    known: set[tuple[int, int]] = set()
    asked: list[int] = []
    issued: dict[int, str] = {}
    for request in requests:
        if request.api == INIT_PRODUCER_ID and request.error is None:
            asked.append(request.id)
        for batch in request.batches:
            producer = (batch.producer_id, batch.producer_epoch)
            if asked and producer not in known:
                issued[asked.pop()] = f"producer {batch.producer_id} epoch {batch.producer_epoch}"
            known.add(producer)
    return issued


def answer_text(request: SeenRequest) -> str:
    """Return an answer in words."""
    if request.error is not None:
        return request.error
    return ", ".join(_batch_answer(batch) for batch in request.batches) if request.batches else "answer"


def _batch_answer(batch: SeenBatch) -> str:
    if batch.error is not None:
        return batch.error
    return f"offset {batch.base_offset}" if batch.base_offset >= 0 else "no error"
