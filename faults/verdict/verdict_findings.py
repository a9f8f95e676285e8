"""Findings: each batch that is not stored exactly once, with its numbers and the reason."""

from __future__ import annotations

from msgspec import Struct

from ..journal.journal import Journal
from .deleted_ranges import DeletedRange
from .earlier_producers import EarlierProducer
from .explanations import (
    explain_copies,
    explain_deletion,
    explain_earlier_producer,
    explain_loss,
    explain_reordering,
    explain_unacknowledged,
)
from .lost_batches import LostBatch
from .stored_batches import StoredBatch
from .stored_copies import CopiedRecords
from .unacknowledged_batches import UnacknowledgedBatch
from .withheld_batches import WithheldBatch

APPENDED_TWICE = "appended_twice"
ACKNOWLEDGED_LOST = "acknowledged_lost"
STORED_UNACKNOWLEDGED = "stored_unacknowledged"
REORDERED = "reordered"
DELETED = "deleted"
PRODUCER_BEFORE_RESET = "producer_before_reset"


class StoredCopy(Struct, frozen=True, kw_only=True):
    """One of the places of the same records."""

    partition: int
    base_offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int


class Finding(Struct, frozen=True, kw_only=True):
    """A batch that is not stored exactly once, deleted records, or a producer from before the last reset.

    kind: "appended_twice", "acknowledged_lost", "stored_unacknowledged", "reordered", "deleted" (by retention or
    DeleteRecords) or "producer_before_reset" (its batches since then).
    offsets: appended_twice: the two offsets of the first copied record. reordered: the offset of the batch and of its
    follower. Otherwise the first and last offset; empty if no batch was or is in the log.
    partition, producer_id, producer_epoch, base_sequence: of the first batch; -1 for missing numbers.
    records: the number of records; deleted: of offsets. copies: both places of copied records.
    rule: of the fault that caused it. why: the reason as a sentence.
    """

    kind: str
    partition: int
    offsets: list[int]
    producer_id: int
    producer_epoch: int
    base_sequence: int
    why: str
    records: int
    copies: list[StoredCopy] = []
    rule: int | None = None


def twice_finding(journal: Journal, copies: CopiedRecords) -> Finding:
    """Return the finding for records that are in the log twice."""
    first = copies.original
    request_id = None if copies.unacknowledged is None else copies.unacknowledged.request_id
    return Finding(
        kind=APPENDED_TWICE,
        partition=first.partition,
        offsets=list(min(copies.offsets)),
        producer_id=first.producer_id,
        producer_epoch=first.producer_epoch,
        base_sequence=first.base_sequence,
        why=explain_copies(journal, copies),
        records=len(copies.offsets),
        copies=[_stored_copy(copies.original), _stored_copy(copies.copy)],
        rule=_rule_of(journal, request_id),
    )


def _stored_copy(batch: StoredBatch) -> StoredCopy:
    return StoredCopy(
        partition=batch.partition,
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
    )


def lost_finding(journal: Journal, lost: LostBatch) -> Finding:
    """Return the finding for an acknowledged batch that is not in the log."""
    was_stored = lost.end_offset is not None
    return Finding(
        kind=ACKNOWLEDGED_LOST,
        partition=lost.partition,
        offsets=[lost.base_offset, lost.last_offset] if was_stored else [],
        producer_id=lost.producer_id,
        producer_epoch=lost.producer_epoch,
        base_sequence=lost.base_sequence,
        why=explain_loss(journal, lost),
        records=lost.last_offset - lost.base_offset + 1 if was_stored else 0,
        rule=_rule_of(journal, lost.request_id),
    )


def unacknowledged_finding(journal: Journal, batch: UnacknowledgedBatch) -> Finding:
    """Return the finding for a stored batch that is not acknowledged."""
    return Finding(
        kind=STORED_UNACKNOWLEDGED,
        partition=batch.partition,
        offsets=[batch.base_offset, batch.last_offset],
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        why=explain_unacknowledged(journal, batch),
        records=batch.last_offset - batch.base_offset + 1,
        rule=_rule_of(journal, batch.request_id),
    )


def reordered_finding(journal: Journal, withheld: WithheldBatch, offset: int) -> Finding:
    """Return the finding for a batch that is behind a later one. offset: of the batch."""
    assert withheld.follower_offset is not None, "a reordered batch has a follower"
    decision = withheld.decision
    return Finding(
        kind=REORDERED,
        partition=withheld.partition,
        offsets=[offset, withheld.follower_offset],
        producer_id=decision.producer_id,
        producer_epoch=decision.producer_epoch,
        base_sequence=decision.base_sequence,
        why=explain_reordering(journal, withheld, offset),
        records=decision.records_count,
        rule=decision.rule_id,
    )


def deleted_finding(deleted: DeletedRange) -> Finding:
    """Return the finding for deleted records."""
    records = deleted.records
    return Finding(
        kind=DELETED,
        partition=deleted.partition,
        offsets=[records.first_offset, deleted.last_offset],
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        why=explain_deletion(deleted),
        records=records.end_offset - records.first_offset,
    )


def earlier_producer_finding(producer: EarlierProducer) -> Finding:
    """Return the finding for the batches of a producer from before the last reset."""
    return Finding(
        kind=PRODUCER_BEFORE_RESET,
        partition=producer.counts.partition,
        offsets=[producer.base_offset, producer.last_offset] if producer.records else [],
        producer_id=producer.counts.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=producer.base_sequence,
        why=explain_earlier_producer(producer),
        records=producer.records,
    )


def _rule_of(journal: Journal, request_id: int | None) -> int | None:
    faults = [] if request_id is None else journal.outcomes.faults_on(request_id)
    return faults[-1].rule_id if faults else None
