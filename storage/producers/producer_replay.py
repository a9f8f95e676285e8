"""Replay of stored batches into the producer state, without checks.

Source: UnifiedLog.updateProducers with AppendOrigin.REPLICATION, and ProducerStateManager.completeTxn, Kafka 4.3.0.
"""

from __future__ import annotations

from ...protocol.batches.control_records import decode_marker
from ...protocol.batches.record_batch import BatchHeader
from ..segments.batch_scan import ScannedBatch
from ..segments.transaction_index import AbortedTransaction, TransactionIndex
from .producer_append_info import entry_after, entry_after_marker
from .producer_state_entry import CachedBatch
from .producer_state_manager import ProducerStateManager


def replay_batch(
    producers: ProducerStateManager,
    scanned: ScannedBatch,
    batches_retained: int,
    transaction_index: TransactionIndex | None,
) -> None:
    """Update producers with a stored batch.

    transaction_index: the index of the batch's segment if it is being rebuilt, else None.
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
    producers.commit(entry_after(entry, header, batch, batches_retained))


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
    aborted = aborted_transaction(producers, None if marker.is_commit else first_offset, header)
    if aborted is not None and transaction_index is not None:
        transaction_index.append(aborted)


def aborted_transaction(
    producers: ProducerStateManager, first_offset: int | None, marker: BatchHeader
) -> AbortedTransaction | None:
    """Return the index entry of the transaction that the marker aborts; None if first_offset is None."""
    if first_offset is None:
        return None
    first_unstable = producers.first_unstable_offset_of_others(marker.producer_id)
    last_stable = marker.last_offset + 1 if first_unstable is None else first_unstable
    return AbortedTransaction(marker.producer_id, first_offset, marker.last_offset, last_stable)
