"""Explains a finding: why a batch is stored twice, lost, unacknowledged or reordered, in one sentence with numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ...protocol.shortened_text import shortened
from ...storage.deleted_records import DeletionCause
from ..journal.details.exchange import error_name_of
from ..journal.journal import Journal
from ..journal.request_outcomes import AppliedFault
from .deleted_ranges import DeletedRange
from .earlier_producers import EarlierProducer
from .hanging_transactions import HangingTransaction
from .lost_batches import Failover
from .lost_ranges import LostRange
from .stored_batches import StoredBatch
from .stored_copies import CopiedRecords
from .unacknowledged_batches import UnacknowledgedBatch
from .withheld_batches import WithheldBatch

# Event ids of lost records in a sentence; the finding has more.
EVENTS_SHOWN = 3


def explain_copies(journal: Journal, copies: CopiedRecords) -> str:
    """Return why the log has records twice."""
    original, copy = copies.original, copies.copy
    there = f"offsets {_range(copy.base_offset, copy.last_offset)}"
    if copy.partition != original.partition:
        there += f" of partition {copy.partition}"
    if copies.unacknowledged is not None:
        stored = _explain_missing_response(journal, copies.unacknowledged)
        return f"{stored}; the batch is also at {there}: {_why_not_recognised(original, copy)}"
    count = len(copies.offsets)
    again = f"{count} of its records {'is' if count == 1 else 'are'} also at {there}"
    event = f"the first has event id {_text_of(copies.event_id or b'')}"
    return f"{again}, {event}: {_why_not_recognised(original, copy)}; a broker does not compare records"


def _why_not_recognised(original: StoredBatch, copy: StoredBatch) -> str:
    """Return why the broker did not recognise the copy as a duplicate."""
    if copy.partition != original.partition:
        return "each partition has its own sequences"
    if copy.producer_id < 0:
        return "a batch without a producer id is never recognised as a duplicate"
    sequences = f"it was sent with sequences {_range(copy.base_sequence, copy.last_sequence)}"
    if copy.producer_id != original.producer_id:
        return f"{sequences} of another producer id, {copy.producer_id}"
    if copy.producer_epoch != original.producer_epoch:
        return f"{sequences} of epoch {copy.producer_epoch}, in which sequences start at 0 again"
    if copy.base_sequence == original.base_sequence:
        return f"{sequences} again, after the partition had deleted its state of them"
    return f"{sequences}, which are new"


def explain_unacknowledged(journal: Journal, batch: UnacknowledgedBatch) -> str:
    """Return why a stored batch is not acknowledged."""
    return f"{_explain_missing_response(journal, batch)}, and no later response acknowledged it"


def _explain_missing_response(journal: Journal, batch: UnacknowledgedBatch) -> str:
    stored = f"{_describe_batch(batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence)}"
    stored += f" was appended at offsets {_range(batch.base_offset, batch.last_offset)}"
    by = _describe_faults(journal.outcomes.faults_on(batch.request_id))
    if batch.is_acknowledged_late:
        return f"{stored} some time after it was received{by}"
    if journal.is_pending(batch.request_id):
        return f"{stored}, and its response is pending{by}"
    if batch.error_code is None:
        return f"{stored}, and its response was not sent{by}"
    return f"{stored}, and its response was {error_name_of(batch.error_code)}{by}"


def explain_loss(journal: Journal, lost: LostRange, events: Sequence[str]) -> str:
    """Return why acknowledged batches are not in the log. events: the event ids of their records."""
    return _explain_loss(journal, lost) + (f"; lost: {_first_of(events)}" if events else "")


def _first_of(events: Sequence[str]) -> str:
    names = [*map(repr, events[:EVENTS_SHOWN])]
    if left_out := len(events) - len(names):
        names.append(f"{left_out} more")
    return ", ".join(names)


def _explain_loss(journal: Journal, lost: LostRange) -> str:
    first, count = lost.first, len(lost.batches)
    subject = "it was" if count == 1 else f"{count} batches with {_counted(lost.records, 'record', 'records')} were"
    if first.end_offset is None:
        by = _describe_faults(journal.outcomes.faults_on(first.request_id)) if first.request_id else ""
        return f"{subject} acknowledged and not appended{by}"
    acknowledged = f"{subject} acknowledged at offsets {_range(first.base_offset, lost.last.last_offset)}"
    if first.failover is None:
        return f"{acknowledged}, and after a crash the log ended at {first.end_offset}"
    return f"{acknowledged} {_explain_failover(first.failover, first.end_offset)}"


def explain_hanging(hanging: HangingTransaction) -> str:
    """Return why a transaction has no end, and what that means to readers."""
    first, offset = hanging.first, hanging.first_offset
    batch = f"a deleted batch of producer {hanging.producer_id}"
    if first is not None:
        batch = _describe_batch(first.producer_id, first.producer_epoch, first.base_sequence, first.last_sequence)
    owner = "no transactional id has this producer id"
    if hanging.transactional_id is not None:
        owner = f"the transactional id {shortened(hanging.transactional_id)!r} is in state {hanging.state}"
        owner += " and does not have this partition"
    return (
        f"{batch} began a transaction at offset {offset} that no coordinator ends: {owner}; "
        f"read_committed consumers do not read offset {offset} and what follows"
    )


def _explain_failover(failover: Failover, end_offset: int) -> str:
    """Return which leader acknowledged a batch, and which later one does not have it, from end_offset on."""
    change = failover.change
    by = f"in epoch {failover.epoch}"
    if failover.node is not None:
        by += f" by node {failover.node}"
    is_same_node = change.node == failover.node
    if change.is_clean and not is_same_node:
        # acks=all waits for the replicas in sync, and the new leader was one of them.
        by += " (acks=1)"
    leader = f"node {change.node}, which became leader in epoch {change.epoch}"
    if not change.is_clean and not is_same_node:
        leader += " without being in sync"
    if failover.was_replaced:
        return f"{by}, which was cut off and had been replaced by {leader}"
    if change.end_offset > end_offset:
        return f"{by}, and {leader}, has other records from offset {end_offset} on"
    return f"{by}, and the log of {leader}, ended at {end_offset}"


def explain_reordering(journal: Journal, withheld: WithheldBatch, offset: int) -> str:
    """Return why a batch is behind one that was sent after it. offset: of the batch."""
    decision = withheld.decision
    batch = _describe_batch(
        decision.producer_id, decision.producer_epoch, decision.base_sequence, decision.last_sequence
    )
    by = _describe_faults(journal.outcomes.faults_on(withheld.request_id)) or f" ({decision.kind})"
    return (
        f"{batch} was received first and was not appended then{by}; the next one of its connection was appended at "
        f"offset {withheld.follower_offset}, and this one later, at offset {offset}"
    )


def explain_deletion(deleted: DeletedRange) -> str:
    """Return why records were deleted."""
    cause, limit = deleted.records.cause, deleted.records.limit
    match cause:
        case DeletionCause.RETENTION_MS:
            return f"retention.ms is {limit}, and on the broker's clock every record of the segment was older"
        case DeletionCause.RETENTION_BYTES:
            return f"retention.bytes is {limit}, and the later segments have as many bytes"
        case DeletionCause.DELETE_RECORDS:
            return f"a client deleted the records before offset {limit} (DeleteRecords)"
        case DeletionCause.DISCARDED:
            return "fauxka.records of the topic is discarded"
        case _:
            assert_never(cause)


def explain_earlier_producer(producer: EarlierProducer) -> str:
    """Return what a producer from before the last reset has sent since."""
    counts = producer.counts
    sent = [
        f"{_counted(number, 'batch', 'batches')} {decision}"
        for number, decision in (
            (counts.appended, "appended"),
            (counts.duplicates_recognised, "recognised as a duplicate"),
            (counts.refused, "refused"),
        )
        if number
    ]
    return (
        f"producer {counts.producer_id} got its id before the last reset, which deleted its state; "
        f"it has sent batches since: {', '.join(sent)}"
    )


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _describe_batch(producer_id: int, producer_epoch: int, base_sequence: int, last_sequence: int) -> str:
    if producer_id < 0:
        return "a batch without a producer id"
    return (
        f"the batch of producer {producer_id} epoch {producer_epoch}, sequences {_range(base_sequence, last_sequence)},"
    )


def _describe_faults(faults: list[AppliedFault]) -> str:
    texts = ", ".join(f"rule {each.rule_id}: {each.kind} at {each.point}" for each in faults if each.kind != "observe")
    return f" ({texts})" if texts else ""


def _range(first: int, last: int) -> str:
    return f"{first}..{last}"


def _text_of(data: bytes) -> str:
    return repr(data.decode(errors="backslashreplace"))
