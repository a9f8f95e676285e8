"""The record of one request in the journal: its numbers and the result of each batch, without texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from ...protocol.batches.record_batch import (
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_TIMESTAMP,
    BatchHeader,
    HeaderFields,
)
from ...storage.append_result import NO_LOG_START_OFFSET, AppendResult
from ..plain_append import NS_PER_US, PlainAppend

if TYPE_CHECKING:
    from ...protocol.error_codes import KafkaError
    from ..fault import Fault
    from ..request_view import ConnectionView, ReceivedRequest, RequestView
    from .details.kept_fetch import KeptResponse

# The response when the handler returned, as in broker.requests.fault_ports.
RESPONDED = 0
PENDING = 1
NO_RESPONSE = 2
# A fault withheld the request from its handler.
WITHHELD = 3


class NotApplied(NamedTuple):
    """A batch that a fault withheld from its log, for good or until later. Missing numbers are -1."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records_count: int
    kind: str
    rule_id: int
    error_code: int
    is_applied_later: bool


Decision = tuple[str, int, "AppendResult | KafkaError | NotApplied"]


# The fields of JournalRecord. Each request creates a plain tuple, at a third of the cost of a NamedTuple.
RawRecord = tuple[
    "ConnectionView",
    "str | None",
    int,
    int,
    int,
    int,
    int,
    int,
    "Sequence[Decision] | None",
    int,
    "bytes | None",
    "Answer",
]


class Answer:
    """The response to a request, completed when it is written. Times are of a monotonic clock.

    took_ns: from the arrival of the request until the response was written; 0 before that. held_ns: for how long faults
    held the request, and its response. kept: what kept_response.keep_response has kept of the response.
    """

    __slots__ = ("arrived_ns", "held_ns", "kept", "took_ns")

    def __init__(self, arrived_ns: int, took_ns: int = 0, kept: object = None) -> None:
        """arrived_ns: 0 if the time is not known."""
        self.arrived_ns = arrived_ns
        self.took_ns = took_ns
        self.held_ns = 0
        # An observer of the broker sees no type.
        self.kept = cast("KeptResponse", kept)

    def written(self, at_ns: int) -> None:
        """Set the time when the response was written; 0 if it is not known."""
        if at_ns:
            self.took_ns = at_ns - self.arrived_ns


class JournalRecord(NamedTuple):
    """A request. state: of the response when the handler returned. body: None if it is not kept."""

    connection: ConnectionView
    client_id: str | None
    api_key: int
    api_version: int
    correlation_id: int
    size: int
    at_ms: int
    error_code: int
    batches: Sequence[Decision] | None
    state: int
    body: bytes | None
    answer: Answer


def journal_record_of(raw: RawRecord | PlainAppend) -> JournalRecord:
    """Return the record of what the journal keeps of a request."""
    if not isinstance(raw, PlainAppend):
        return JournalRecord(*raw[:8], batches_of(raw), *raw[9:])
    return JournalRecord(
        connection=raw.connection,
        client_id=raw.client_id,
        api_key=raw.api_key,
        api_version=raw.api_version,
        correlation_id=raw.correlation_id,
        size=raw.size,
        at_ms=raw.at_ms,
        error_code=0,
        batches=[(raw.topic, raw.partition, _result_of(raw))],
        state=RESPONDED,
        body=None,
        answer=Answer(0, raw.took_us * NS_PER_US),
    )


def _result_of(append: PlainAppend) -> AppendResult:
    count = append.last_offset - append.base_offset + 1
    fields = HeaderFields(
        base_offset=0,
        length=0,
        partition_leader_epoch=NO_PARTITION_LEADER_EPOCH,
        magic=MAGIC_V2,
        crc=0,
        attributes=0,
        last_offset_delta=count - 1,
        base_timestamp=NO_TIMESTAMP,
        max_timestamp=NO_TIMESTAMP,
        producer_id=append.producer_id,
        producer_epoch=append.producer_epoch,
        base_sequence=append.base_sequence,
        records_count=count,
    )
    offsets = (append.base_offset, append.last_offset)
    return AppendResult(offsets, NO_TIMESTAMP, NO_LOG_START_OFFSET, BatchHeader(fields), ())


def plain_append_of(context: RequestView, size: int, batch: tuple[str, int, AppendResult]) -> PlainAppend:
    """Return what is kept of a Produce of one appended batch. size: its bytes."""
    topic, partition, result = batch
    append = PlainAppend(context.connection, context.kept_client_id, topic, partition, result)
    append.api_key, append.api_version = context.api_key, context.api_version
    append.correlation_id, append.size, append.at_ms = context.correlation_id, size, context.now_ms
    append.took_us = context.took_ns // NS_PER_US
    return append


def batches_of(raw: RawRecord) -> Sequence[Decision]:
    """Return the result of each batch of a request."""
    return raw[8] or ()


def not_applied_batches(request: ReceivedRequest, fault: Fault) -> list[Decision]:
    """Return the batches that the fault withholds from their logs: all, or those in the scope of an error.

    Raises FrameError.
    """
    return [
        (
            batch.topic,
            batch.partition,
            NotApplied(
                batch.producer_id,
                batch.producer_epoch,
                batch.base_sequence,
                batch.last_sequence,
                batch.records_count,
                fault.kind,
                fault.rule_id,
                fault.error_code,
                fault.is_applied_later,
            ),
        )
        for batch in request.facts.batches
        if fault.chooses(batch.topic, batch.partition)
    ]


def withheld_record_of(request: ReceivedRequest, fault: Fault, batches: list[Decision] | None) -> RawRecord:
    """Return the record of a request that a fault withholds from its handler. batches: see not_applied_batches."""
    return (
        request.connection,
        request.kept_client_id,
        request.api_key,
        request.api_version,
        request.correlation_id,
        request.size,
        request.now_ms,
        fault.error_code,
        batches or None,
        WITHHELD,
        request.kept_body,
        Answer(request.arrived_ns),
    )


def merged(withheld: JournalRecord, handled: RawRecord) -> RawRecord:
    """Return the record of a request that was withheld, in whole or in part, and handled later."""
    decided = list(batches_of(handled))
    places = {(topic, partition) for topic, partition, _ in decided}
    left = [decision for decision in withheld.batches or () if decision[:2] not in places]
    return (*handled[:6], withheld.at_ms, handled[7], [*decided, *left] or None, *handled[9:11], withheld.answer)


def release_traceback(error: BaseException) -> None:
    """Delete the traceback of an exception: its frames refer to the receive buffer."""
    error.__traceback__ = error.__context__ = error.__cause__ = None


def raw_record_of(context: RequestView, size: int, state: int) -> RawRecord:
    """Return the record of a handled request. size: its bytes. state: of its response."""
    return (
        context.connection,
        context.kept_client_id,
        context.api_key,
        context.api_version,
        context.correlation_id,
        size,
        context.now_ms,
        context.error_code,
        context.batches,
        state,
        # Of a Produce it would be the body of an earlier request.
        context.kept_body if context.batches is None else None,
        Answer(context.arrived_ns, context.took_ns if state == RESPONDED else 0, context.kept_response),
    )
