"""The rules of log compaction: which records and batches a cleaning keeps.

* Of each key, the record with the greatest offset is kept. Records of aborted transactions are removed.
* Tombstones stay until their delete horizon has passed.
* A marker stays as long as its transaction has records, and then until its delete horizon has passed.
* The newest batch of each producer and the last batch of the cleaned part stay, perhaps without records.
Source: Cleaner.cleanInto and shouldRetainRecord, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...protocol.batches.record_batch import BatchHeader
from ...protocol.batches.records import RecordFields
from ..partition_log import PartitionLog
from ..segments.transaction_index import AbortedTransaction
from .cleaned_transactions import CleanedTransactions
from .key_offset_map import KeyOffsetMap
from .retained_batch import BatchRetention, BatchRetentionResult, RecordFilter, delete_horizon_of, retained_batch


@dataclass(frozen=True, slots=True)
class _ActiveProducer:
    """The source of a producer's state: its newest batch or, if last_offset is None, a marker of its epoch."""

    last_offset: int | None
    producer_epoch: int

    def needs(self, header: BatchHeader) -> bool:
        """Whether loading the log needs this batch to restore the producer."""
        if self.last_offset is not None:
            return header.last_offset == self.last_offset
        return header.is_control and header.producer_epoch == self.producer_epoch


class CleaningRules:
    """The rules of one cleaning; filter_batch must be called once per batch, in log order from the first."""

    def __init__(
        self,
        log: PartitionLog,
        offsets: KeyOffsetMap,
        aborts: Iterable[AbortedTransaction],
        *,
        end_offset: int,
        now_ms: int,
    ) -> None:
        """Copy the current producers of the log.

        offsets: must be filled before the first batch. aborts: all aborted transactions with batches in the range.
        end_offset: the end of the cleaned range. now_ms: for delete horizons.
        """
        self._offsets = offsets
        self._end_offset = end_offset
        self._now_ms = now_ms
        self._new_delete_horizon_ms = now_ms + log.config.delete_retention_ms
        self._transactions = CleanedTransactions()
        self._transactions.add_aborts(aborts)
        self._producers = {
            entry.producer_id: _ActiveProducer(
                entry.batches[-1].last_offset if entry.batches else None, entry.producer_epoch
            )
            for entry in log.producers.active_producers()
        }

    def filter_batch(self, header: BatchHeader, batch: memoryview) -> memoryview | bytes | None:
        """Return the kept part of the next batch; None if nothing is kept."""
        if header.is_control:
            is_discardable = self._transactions.on_control_batch_read(header, batch)
            horizon = delete_horizon_of(header)
            is_discarded = is_discardable and horizon is not None and horizon <= self._now_ms
        else:
            is_discardable = is_discarded = self._transactions.on_batch_read(header)
        # The last batch stays, so that the log keeps the offsets up to the end of the cleaned part.
        producer = self._producers.get(header.producer_id) if header.producer_id >= 0 else None
        if (producer is not None and producer.needs(header)) or header.last_offset + 1 == self._end_offset:
            retention = BatchRetention.RETAIN_EMPTY
        else:
            retention = BatchRetention.DELETE if is_discarded else BatchRetention.DELETE_EMPTY
        verdict = BatchRetentionResult(retention, is_discardable and header.is_control)
        is_kept = self._filter_of(header)
        if is_discarded or header.is_control:
            is_kept = _discard_all if is_discarded else _keep_all
        return retained_batch(header, batch, verdict, is_kept, self._new_delete_horizon_ms)

    def _filter_of(self, header: BatchHeader) -> RecordFilter:
        """Return the filter for the records of a batch."""
        offsets, latest_offset = self._offsets, self._offsets.latest_offset
        horizon = delete_horizon_of(header)
        keeps_tombstones = horizon is None or self._now_ms < horizon

        def is_kept(fields: RecordFields, key: bytes | None) -> bool:
            if fields.offset > latest_offset:
                return True
            # A record without a key was written before the topic was compacted, and is removed.
            if key is None or fields.offset < offsets.find(key):
                return False
            return fields.value_size >= 0 or keeps_tombstones

        return is_kept

    def take_retained_aborts(self) -> list[AbortedTransaction]:
        """Remove and return the aborted transactions whose markers were kept since the last call."""
        aborts = self._transactions.retained
        if aborts:
            self._transactions.retained = []
        return aborts


def _keep_all(_fields: RecordFields, _key: bytes | None) -> bool:
    return True


def _discard_all(_fields: RecordFields, _key: bytes | None) -> bool:
    return False
