"""The end of a transaction in one partition: what a coordinator has written there, and whether it may.

Transaction version 2 raises the producer's epoch with each transaction, so that a marker bears a greater epoch than the
batches it ends; the versions before write both in the same epoch.
Source: ProducerAppendInfo.appendEndTxnMarker, checkProducerEpoch and checkCoordinatorEpoch, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.control_records import EndTransactionMarker, build_marker_batch
from ..protocol.error_codes import ErrorCode
from ..protocol.record_batch import NO_PRODUCER_EPOCH
from .append_refused import AppendRefused
from .producer_state_entry import NO_COORDINATOR_EPOCH, ProducerStateEntry

# From this version on a transaction ends in an epoch of its own.
EPOCH_BUMP_SINCE = 2
# The greatest epoch there is; only markers bear it, and what ends in it cannot end in a greater one.
LAST_EPOCH = 32767


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


def check_marker(entry: ProducerStateEntry | None, marker: TransactionMarker) -> None:
    """Check a marker against what the partition knows of the producer; a producer it does not know may end, too.

    Raises AppendRefused: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
    """
    epoch = NO_PRODUCER_EPOCH if entry is None else entry.producer_epoch
    is_fenced = marker.producer_epoch < epoch
    if marker.transaction_version >= EPOCH_BUMP_SINCE and marker.producer_epoch == epoch:
        # Without an open transaction it is a coordinator that did not learn of its first success; it is written again.
        has_open = entry is not None and entry.current_txn_first_offset is not None
        is_fenced = has_open and epoch != LAST_EPOCH
    if is_fenced:
        raise AppendRefused(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {marker.producer_id}: a marker of epoch {marker.producer_epoch} and transaction version "
            f"{marker.transaction_version}, and the current epoch is {epoch}",
        )
    coordinator_epoch = NO_COORDINATOR_EPOCH if entry is None else entry.coordinator_epoch
    if marker.coordinator_epoch < coordinator_epoch:
        raise AppendRefused(
            ErrorCode.TRANSACTION_COORDINATOR_FENCED,
            f"producer {marker.producer_id}: a marker of coordinator epoch {marker.coordinator_epoch}, and one of "
            f"epoch {coordinator_epoch} has written before",
        )
