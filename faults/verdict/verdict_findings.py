"""Findings: what is not stored exactly once and in order, with its numbers, its requests and the reason."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from ..journal.journal import Journal
from .batch_requests import BatchIdentity, BatchRequests, named_requests
from .deleted_ranges import DeletedRange
from .earlier_producers import EarlierProducer
from .explanations import (
    explain_copies,
    explain_deletion,
    explain_earlier_producer,
    explain_hanging,
    explain_loss,
    explain_reordering,
    explain_unacknowledged,
)
from .hanging_transactions import HangingTransaction
from .journaled_batch import JournaledBatch
from .lost_ranges import LostRange
from .stored_batches import StoredBatch
from .stored_copies import CopiedRecords
from .unacknowledged_batches import UnacknowledgedBatch
from .withheld_batches import WithheldBatch

APPENDED_TWICE = "appended_twice"
ACKNOWLEDGED_LOST = "acknowledged_lost"
STORED_UNACKNOWLEDGED = "stored_unacknowledged"
REORDERED = "reordered"
HANGING_TRANSACTION = "hanging_transaction"
DELETED = "deleted"
PRODUCER_BEFORE_RESET = "producer_before_reset"


# Event ids of lost records that a finding has.
EVENTS_MAX = 100


class StoredCopy(Struct, frozen=True, kw_only=True):
    """One of the places of the same records."""

    partition: int
    base_offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int


class Finding(Struct, frozen=True, kw_only=True):
    """Batches that are not stored exactly once, deleted records, or a producer from before the last reset.

    kind: "appended_twice", "acknowledged_lost" (all batches that were lost for one reason), "stored_unacknowledged",
    "reordered", "hanging_transaction", "deleted" (by retention or DeleteRecords) or "producer_before_reset" (its
    batches since then).
    offsets: appended_twice: the two offsets of the first copied record. reordered: the offset of the batch and of its
    follower. hanging_transaction: of its first batch. Otherwise the first and last offset; empty if no batch was or is
    in the log.
    partition, producer_id, producer_epoch, base_sequence: of the first batch; -1 for missing numbers, and if the
    batches are of several producers.
    batches: acknowledged_lost: their number. records: the number of records; deleted: of offsets.
    events: acknowledged_lost: the event ids of the records, their keys by default, as far as a replica or the broker
    still has the batches; at most 100.
    copies: both places of copied records. leader_epoch: acknowledged_lost: in which the batches were appended; None
    without an election. rule: of the fault that caused it. why: the reason as a sentence.
    requests: the ids of the requests that sent the batches, those that are still in the journal, at most 100.
    """

    kind: str
    partition: int
    offsets: list[int]
    producer_id: int
    producer_epoch: int
    base_sequence: int
    why: str
    records: int
    batches: int = 1
    events: list[str] = []
    copies: list[StoredCopy] = []
    leader_epoch: int | None = None
    rule: int | None = None
    requests: list[int] = []


class FindingMaker:
    """Makes the findings on one topic."""

    def __init__(self, journal: Journal, topic: str) -> None:
        """journal: has the requests and the faults."""
        self._journal = journal
        self._topic = topic

    @cached_property
    def _requests(self) -> BatchRequests:
        """The requests by batch. Most verdicts have no finding."""
        return BatchRequests(self._journal, self._topic)

    def twice(self, copies: CopiedRecords) -> Finding:
        """Return the finding for records that are in the log twice."""
        first = copies.original
        request_id = 0 if copies.unacknowledged is None else copies.unacknowledged.request_id
        return Finding(
            kind=APPENDED_TWICE,
            partition=first.partition,
            offsets=list(min(copies.offsets)),
            producer_id=first.producer_id,
            producer_epoch=first.producer_epoch,
            base_sequence=first.base_sequence,
            why=explain_copies(self._journal, copies),
            records=len(copies.offsets),
            copies=[_stored_copy(first), _stored_copy(copies.copy)],
            rule=self._rule_of([request_id]),
            requests=named_requests([request_id, *self._requests.at(first.place, copies.copy.place)]),
        )

    def lost(self, lost: LostRange, events: list[str]) -> Finding:
        """Return the finding for acknowledged batches that are not in the log. events: the names of their records."""
        first, failover = lost.first, lost.first.failover
        producer_id, producer_epoch, base_sequence = lost.producer
        request_ids = [each.request_id for each in lost.batches]
        node = None if failover is None else failover.node
        sent = [
            request_id
            for each in lost.batches
            if each.producer_id >= 0
            for request_id in self._requests.of_batch(_identity_of(each), node)
        ]
        return Finding(
            kind=ACKNOWLEDGED_LOST,
            partition=first.partition,
            offsets=[first.base_offset, lost.last.last_offset] if first.end_offset is not None else [],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            why=explain_loss(self._journal, lost, events),
            records=lost.records,
            events=events[:EVENTS_MAX],
            batches=len(lost.batches),
            leader_epoch=None if failover is None else failover.epoch,
            rule=self._rule_of(request_ids),
            requests=named_requests([*request_ids, *sent]),
        )

    def unacknowledged(self, batch: UnacknowledgedBatch) -> Finding:
        """Return the finding for a stored batch that is not acknowledged."""
        return Finding(
            kind=STORED_UNACKNOWLEDGED,
            partition=batch.partition,
            offsets=[batch.base_offset, batch.last_offset],
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            why=explain_unacknowledged(self._journal, batch),
            records=batch.last_offset - batch.base_offset + 1,
            rule=self._rule_of([batch.request_id]),
            requests=named_requests([batch.request_id, *self._requests.of_batch(_identity_of(batch))]),
        )

    def reordered(self, withheld: WithheldBatch, offset: int) -> Finding:
        """Return the finding for a batch that is behind a later one. offset: of the batch."""
        assert withheld.follower_offset is not None, "a reordered batch has a follower"
        decision, partition = withheld.decision, withheld.partition
        identity = BatchIdentity(partition, *decision[:3])
        followers = self._requests.at((partition, withheld.follower_offset), (partition, offset))
        return Finding(
            kind=REORDERED,
            partition=partition,
            offsets=[offset, withheld.follower_offset],
            producer_id=decision.producer_id,
            producer_epoch=decision.producer_epoch,
            base_sequence=decision.base_sequence,
            why=explain_reordering(self._journal, withheld, offset),
            records=decision.records_count,
            rule=decision.rule_id,
            requests=named_requests([withheld.request_id, *followers, *self._requests.of_batch(identity)]),
        )

    def hanging(self, hanging: HangingTransaction) -> Finding:
        """Return the finding for a transaction without an end."""
        first = hanging.first
        requests = self._requests.at((hanging.partition, hanging.first_offset))
        return Finding(
            kind=HANGING_TRANSACTION,
            partition=hanging.partition,
            offsets=[hanging.first_offset, hanging.first_offset if first is None else first.last_offset],
            producer_id=hanging.producer_id,
            producer_epoch=hanging.producer_epoch if first is None else first.producer_epoch,
            base_sequence=-1 if first is None else first.base_sequence,
            why=explain_hanging(hanging),
            records=0 if first is None else first.records_count,
            rule=self._rule_of(requests),
            requests=named_requests(requests),
        )

    def deleted(self, deleted: DeletedRange) -> Finding:
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

    def earlier_producer(self, producer: EarlierProducer) -> Finding:
        """Return the finding for the batches of a producer from before the last reset."""
        partition, producer_id = producer.counts.partition, producer.counts.producer_id
        return Finding(
            kind=PRODUCER_BEFORE_RESET,
            partition=partition,
            offsets=[producer.base_offset, producer.last_offset] if producer.records else [],
            producer_id=producer_id,
            producer_epoch=producer.producer_epoch,
            base_sequence=producer.base_sequence,
            why=explain_earlier_producer(producer),
            records=producer.records,
            requests=named_requests(self._requests.of_earlier_producer(partition, producer_id)),
        )

    def _rule_of(self, request_ids: Iterable[int]) -> int | None:
        """Return the rule of the first of these requests that a fault was applied to."""
        faults = (self._journal.outcomes.faults_on(request_id) for request_id in request_ids if request_id)
        return next((each[-1].rule_id for each in faults if each), None)


def _identity_of(batch: JournaledBatch) -> BatchIdentity:
    return BatchIdentity(batch.partition, batch.producer_id, batch.producer_epoch, batch.base_sequence)


def _stored_copy(batch: StoredBatch) -> StoredCopy:
    return StoredCopy(
        partition=batch.partition,
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
    )
