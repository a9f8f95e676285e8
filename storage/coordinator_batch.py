"""What coordinators write to a partition for a transaction: the marker that ends it, and records of their own in it.

Clients cannot write these. Transaction version 2 raises the producer's epoch with each transaction, so that a marker
bears a greater epoch than the batches it ends; the versions before write both in the same epoch.
Source: ProducerAppendInfo.append with AppendOrigin.COORDINATOR, checkProducerEpoch, checkCoordinatorEpoch, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from ..protocol.batches.record_batch import NO_PRODUCER_EPOCH, BatchHeader, parse_header
from ..protocol.error_codes import ErrorCode
from ..protocol.sequences import NO_SEQUENCE
from .append_refused import AppendRefused
from .producers.producer_append_info import entry_after, entry_after_marker
from .producers.producer_state_entry import NO_COORDINATOR_EPOCH, ProducerStateEntry, cached_batch

# From this version on a transaction ends in an epoch of its own.
EPOCH_BUMP_SINCE = 2
# The greatest epoch there is; only markers bear it, and what ends in it cannot end in a greater one.
LAST_EPOCH = 32767


class CoordinatorBatch(Protocol):
    """What a coordinator has a log append."""

    @property
    def producer_id(self) -> int:
        """Whose transaction it is for."""
        ...

    def as_batch(self, now_ms: int, /) -> bytes:
        """Return the whole batch; its base offset and leader epoch are stamped by the log."""
        ...

    def check(self, entry: ProducerStateEntry | None, /) -> None:
        """Check it against what the partition knows of the producer; raises AppendRefused."""
        ...

    def aborts_from(self, entry: ProducerStateEntry | None, /) -> int | None:
        """Return where the transaction begins that it aborts; None if there is none."""
        ...

    def entry_after(
        self, entry: ProducerStateEntry | None, header: BatchHeader, batches_remembered: int, /
    ) -> ProducerStateEntry:
        """Return the producer's entry once it is in the log; header: as the log has it, but for the leader epoch."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMarker:
    """What ends a producer's transaction in a partition.

    producer_epoch: of the marker. coordinator_epoch: of the coordinator that decided so. transaction_version: 0 to 2.
    """

    producer_id: int
    producer_epoch: int
    is_commit: bool
    coordinator_epoch: int = 0
    transaction_version: int = 0

    def as_batch(self, now_ms: int) -> bytes:
        """Return the control batch; its base offset and leader epoch are stamped by the log."""
        return build_marker_batch(
            EndTransactionMarker(self.is_commit, self.coordinator_epoch),
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            timestamp=now_ms,
        )

    def check(self, entry: ProducerStateEntry | None) -> None:
        """Check it against what the partition knows of the producer; a producer it does not know may end, too.

        Raises AppendRefused: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
        """
        epoch = NO_PRODUCER_EPOCH if entry is None else entry.producer_epoch
        is_fenced = self.producer_epoch < epoch
        if self.transaction_version >= EPOCH_BUMP_SINCE and self.producer_epoch == epoch:
            # Without an open transaction its coordinator did not learn of its first success; it is written again.
            is_fenced = first_offset_of(entry) is not None and epoch != LAST_EPOCH
        if is_fenced:
            raise AppendRefused(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {self.producer_id}: a marker of epoch {self.producer_epoch} and transaction version "
                f"{self.transaction_version}, and the current epoch is {epoch}",
            )
        coordinator_epoch = NO_COORDINATOR_EPOCH if entry is None else entry.coordinator_epoch
        if self.coordinator_epoch < coordinator_epoch:
            raise AppendRefused(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"producer {self.producer_id}: a marker of coordinator epoch {self.coordinator_epoch}, and one of "
                f"epoch {coordinator_epoch} has written before",
            )

    def aborts_from(self, entry: ProducerStateEntry | None) -> int | None:
        """Return where the transaction begins that it aborts; None if it aborts none that has records here."""
        return None if self.is_commit else first_offset_of(entry)

    def entry_after(
        self, entry: ProducerStateEntry | None, header: BatchHeader, _batches_remembered: int
    ) -> ProducerStateEntry:
        """Return the producer's entry once the marker is in the log; header: of its batch there."""
        return entry_after_marker(entry, header, self.coordinator_epoch)


class TransactionalRecords:
    """Records of a coordinator's own topic that belong to a producer's transaction; they have no sequence."""

    __slots__ = ("_batch", "producer_id")

    def __init__(self, batch: bytes) -> None:
        """Take the batch, with the producer's id and epoch in its header."""
        self._batch = batch
        self.producer_id = parse_header(batch).producer_id

    def as_batch(self, _now_ms: int) -> bytes:
        """Return it as it came."""
        return self._batch

    def check(self, entry: ProducerStateEntry | None) -> None:
        """Check that no later epoch of the producer has written; raises AppendRefused INVALID_PRODUCER_EPOCH."""
        epoch = parse_header(self._batch).producer_epoch
        if entry is not None and epoch < entry.producer_epoch:
            raise AppendRefused(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {self.producer_id}: records of epoch {epoch}, and the current epoch is "
                f"{entry.producer_epoch}",
            )

    def aborts_from(self, _entry: ProducerStateEntry | None) -> None:
        """Abort nothing."""

    def entry_after(
        self, entry: ProducerStateEntry | None, header: BatchHeader, batches_remembered: int
    ) -> ProducerStateEntry:
        """Return the producer's entry once the records are in the log, in a transaction; header: as the log has it."""
        batch = (NO_SEQUENCE, NO_SEQUENCE, header.base_offset, header.last_offset, header.max_timestamp)
        return entry_after(entry, header, cached_batch(batch), batches_remembered)


def first_offset_of(entry: ProducerStateEntry | None) -> int | None:
    """Return where the producer's open transaction begins."""
    return None if entry is None else entry.current_txn_first_offset
