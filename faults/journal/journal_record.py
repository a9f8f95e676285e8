"""What the journal keeps of a request: numbers, and what the log said of each batch; no word is made of it here."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple, cast

from ...storage.append_result import NO_LOG_START_OFFSET, AppendResult

if TYPE_CHECKING:
    from ...protocol.error_codes import KafkaError
    from ..fault import Fault
    from ..request_view import ConnectionView, ReceivedRequest

# What became of the answer when the request was handled; the numbers that a broker says.
RESPONDED = 0
PENDING = 1
NO_RESPONSE = 2
# Of a request that did not come to its handler.
WITHHELD = 3


class NotApplied(NamedTuple):
    """A batch that did not come to its log, because of a fault; its numbers, -1 where it has none."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records_count: int
    kind: str
    rule_id: int
    error_code: int


Decision = tuple[str, int, "AppendResult | KafkaError | NotApplied"]


# The fields of JournalRecord. On the path of every request a bare tuple is made, which is three times as cheap.
RawRecord = tuple[
    "ConnectionView", "str | None", int, int, int, int, int, int, "Sequence[Decision] | None", int, "bytes | None"
]

# A Produce of one batch that was simply appended and answered at once: connection, client_id, api_key, api_version,
# topic, partition, and APPEND_NUMBERS. Nearly every Produce is one. Two objects are kept of it: as many as it has
# numbers, each in a place of its own, would push what the broker works with out of the processor's cache.
RawAppend = tuple["ConnectionView", "str | None", int, int, str, int, bytes]
# correlation_id, size, at_ms, base_offset, last_offset, producer_id, producer_epoch, base_sequence.
APPEND_NUMBERS = Struct("=iiqqqqhi")


class JournalRecord(NamedTuple):
    """A request in the journal; state is what was known of its answer when it was handled.

    body: what followed its header, where that was kept.
    """

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


def journal_record_of(raw: RawRecord | RawAppend) -> JournalRecord:
    """Return what was kept as it is read."""
    # Told apart by their length, which a type checker does not do for a union of this kind.
    if len(raw) == len(JournalRecord._fields):
        whole = cast(RawRecord, raw)
        return JournalRecord(*whole[:8], batches_of(whole), *whole[9:])
    connection, client_id, api_key, api_version, topic, partition, numbers = cast(RawAppend, raw)
    (
        correlation_id,
        size,
        at_ms,
        base_offset,
        last_offset,
        producer_id,
        producer_epoch,
        base_sequence,
    ) = APPEND_NUMBERS.unpack(numbers)
    result = _plain_result(base_offset, last_offset, producer_id, producer_epoch, base_sequence)
    batches = [(topic, partition, result)]
    return JournalRecord(
        connection, client_id, api_key, api_version, correlation_id, size, at_ms, 0, batches, RESPONDED, None
    )


def _plain_result(
    base_offset: int, last_offset: int, producer_id: int, producer_epoch: int, base_sequence: int
) -> AppendResult:
    # Loaded only where somebody reads: a start is to be short.
    from ...protocol.batches.record_batch import MAGIC_V2, NO_PARTITION_LEADER_EPOCH, NO_TIMESTAMP, BatchHeader

    count = last_offset - base_offset + 1
    header = BatchHeader(
        base_offset=0,
        length=0,
        partition_leader_epoch=NO_PARTITION_LEADER_EPOCH,
        magic=MAGIC_V2,
        crc=0,
        attributes=0,
        last_offset_delta=count - 1,
        base_timestamp=NO_TIMESTAMP,
        max_timestamp=NO_TIMESTAMP,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        records_count=count,
    )
    return AppendResult(base_offset, last_offset, NO_TIMESTAMP, NO_LOG_START_OFFSET, False, header, ())


def batches_of(raw: RawRecord) -> Sequence[Decision]:
    """Return what the log said of each batch of a request; none where it has none."""
    return raw[8] or ()


def not_applied_batches(request: ReceivedRequest, fault: Fault) -> list[Decision]:
    """Return the batches of the request that the fault keeps from their logs; raises FrameError.

    An error may be for some of them only.
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
            ),
        )
        for batch in request.facts.batches
        if fault.chooses(batch.topic, batch.partition)
    ]


def merged(kept_back: JournalRecord, handled: RawRecord) -> RawRecord:
    """Return what is known of a request that was kept back, all or in part, and then handled after all."""
    decided = list(batches_of(handled))
    places = {(topic, partition) for topic, partition, _ in decided}
    left = [decision for decision in kept_back.batches or () if decision[:2] not in places]
    return (*handled[:6], kept_back.at_ms, handled[7], [*decided, *left] or None, *handled[9:])


def release(error: BaseException) -> None:
    """Let go of the frames in which an exception was raised: they hold what the connection received."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
