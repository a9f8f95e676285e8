"""Batches that coordinators append for a transaction: the end marker, and transactional records of their own topics.

Clients cannot write these. Transaction version 2 raises the producer epoch with each transaction, so a marker has a
greater epoch than the batches it ends. Earlier versions write both in the same epoch.
Source: ProducerAppendInfo.append with AppendOrigin.COORDINATOR, checkProducerEpoch, checkCoordinatorEpoch, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from ..protocol.batches.record_batch import NO_PRODUCER_EPOCH, BatchHeader, parse_header
from ..protocol.error_codes import ErrorCode
from ..protocol.sequences import NO_SEQUENCE
from .append_refused import AppendRefused
from .producers.producer_append_info import entry_after, entry_after_marker
from .producers.producer_state_entry import NO_COORDINATOR_EPOCH, CachedBatch, ProducerStateEntry

# The first transaction version whose markers have a greater epoch than the batches.
EPOCH_BUMP_SINCE = 2
# The greatest epoch. Only markers have it; a transaction of this epoch ends in the same epoch.
LAST_EPOCH = 32767


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMarker:
    """The marker that ends a producer's transaction in a partition; transaction_version is 0, 1 or 2."""

    producer_id: int
    producer_epoch: int
    is_commit: bool
    coordinator_epoch: int = 0
    transaction_version: int = 0

    def as_batch(self, now_ms: int) -> bytes:
        """Return the control batch; the log sets its base offset and leader epoch."""
        return build_marker_batch(
            EndTransactionMarker(self.is_commit, self.coordinator_epoch),
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            timestamp=now_ms,
        )

    def check(self, entry: ProducerStateEntry | None) -> None:
        """Check the epochs of the marker; a producer without an entry is accepted.

        Raises AppendRefused: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
        """
        epoch = NO_PRODUCER_EPOCH if entry is None else entry.producer_epoch
        is_fenced = self.producer_epoch < epoch
        if self.transaction_version >= EPOCH_BUMP_SINCE and self.producer_epoch == epoch:
            # Without an open transaction, the coordinator repeats a marker whose response it did not receive.
            is_fenced = first_offset_of(entry) is not None and epoch != LAST_EPOCH
        if is_fenced:
            raise AppendRefused(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {self.producer_id}: the marker has epoch {self.producer_epoch} and transaction version "
                f"{self.transaction_version}, the current epoch is {epoch}",
            )
        coordinator_epoch = NO_COORDINATOR_EPOCH if entry is None else entry.coordinator_epoch
        if self.coordinator_epoch < coordinator_epoch:
            raise AppendRefused(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"producer {self.producer_id}: the marker has coordinator epoch {self.coordinator_epoch}, "
                f"an earlier marker had {coordinator_epoch}",
            )

    def aborts_from(self, entry: ProducerStateEntry | None) -> int | None:
        """Return the first offset of the transaction; None for a commit, or without records in the partition."""
        return None if self.is_commit else first_offset_of(entry)

    def entry_after(
        self, entry: ProducerStateEntry | None, header: BatchHeader, _batches_retained: int
    ) -> ProducerStateEntry:
        """Return the producer's entry after the marker: its transaction is closed."""
        return entry_after_marker(entry, header, self.coordinator_epoch)


class TransactionalRecords:
    """Records of a coordinator's own topic inside a producer's transaction; they have no sequence."""

    __slots__ = ("_batch", "producer_id")

    def __init__(self, batch: bytes) -> None:
        """batch: its header has the producer's id and epoch."""
        self._batch = batch
        self.producer_id = parse_header(batch).producer_id

    def as_batch(self, _now_ms: int) -> bytes:
        """Return the batch unchanged."""
        return self._batch

    def check(self, entry: ProducerStateEntry | None) -> None:
        """Raise AppendRefused INVALID_PRODUCER_EPOCH if the producer has a later epoch in the partition."""
        epoch = parse_header(self._batch).producer_epoch
        if entry is not None and epoch < entry.producer_epoch:
            raise AppendRefused(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {self.producer_id}: the records have epoch {epoch}, the current epoch is "
                f"{entry.producer_epoch}",
            )

    def aborts_from(self, _entry: ProducerStateEntry | None) -> None:
        """Return None: records abort no transaction."""

    def entry_after(
        self, entry: ProducerStateEntry | None, header: BatchHeader, batches_retained: int
    ) -> ProducerStateEntry:
        """Return the producer's entry after the records, with an open transaction."""
        batch = CachedBatch(NO_SEQUENCE, NO_SEQUENCE, header.base_offset, header.last_offset, header.max_timestamp)
        return entry_after(entry, header, batch, batches_retained)


CoordinatorBatch: TypeAlias = TransactionMarker | TransactionalRecords


def first_offset_of(entry: ProducerStateEntry | None) -> int | None:
    """Return the first offset of the producer's open transaction."""
    return None if entry is None else entry.current_txn_first_offset
