"""What batches that are in the log already say of their producers: nothing is checked again, all of it is taken.

Source: UnifiedLog.updateProducers with AppendOrigin.REPLICATION, and ProducerStateManager.completeTxn, Kafka 4.3.0.
"""

from __future__ import annotations

from ..protocol.control_records import decode_marker
from .batch_scan import ScannedBatch
from .producer_append_info import entry_after, entry_after_marker
from .producer_state_entry import CachedBatch
from .producer_state_manager import ProducerStateManager
from .transaction_index import AbortedTransaction, TransactionIndex


def replay_batch(
    producers: ProducerStateManager,
    scanned: ScannedBatch,
    batches_remembered: int,
    transaction_index: TransactionIndex | None,
) -> None:
    """Have producers know the batch.

    transaction_index: of the batch's segment, where it is being written anew; None where it is there already.
    """
    header = scanned.header
    if header.producer_id < 0:
        return
    if header.is_control:
        _replay_marker(producers, scanned, transaction_index)
        return
    batch = CachedBatch(
        header.base_sequence, header.last_sequence, header.base_offset, header.last_offset, header.max_timestamp
    )
    entry = producers.find(header.producer_id)
    producers.commit(entry_after(entry, header, batch, batches_remembered))


def _replay_marker(
    producers: ProducerStateManager, scanned: ScannedBatch, transaction_index: TransactionIndex | None
) -> None:
    header = scanned.header
    marker = decode_marker(header, scanned.batch)
    if marker is None:
        return
    entry = producers.find(header.producer_id)
    first_offset = None if entry is None else entry.current_txn_first_offset
    producers.commit(entry_after_marker(entry, header, marker.coordinator_epoch))
    if first_offset is not None and not marker.is_commit and transaction_index is not None:
        transaction_index.append(aborted_transaction(producers, header.producer_id, first_offset, header.last_offset))


def aborted_transaction(
    producers: ProducerStateManager, producer_id: int, first_offset: int, marker_offset: int
) -> AbortedTransaction:
    """Return the index entry of a transaction that the marker aborts."""
    first_unstable = producers.first_unstable_without(producer_id)
    last_stable = marker_offset + 1 if first_unstable is None else first_unstable
    return AbortedTransaction(producer_id, first_offset, marker_offset, last_stable)
