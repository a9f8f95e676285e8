"""What a cleaning keeps: of each key the record with the greatest offset, and what else has to stay.

Tombstones, and the markers of transactions without records, stay until their delete horizon has passed; a marker stays
as long as its transaction has records. Each producer's newest batch stays, and the last batch of the part that is
cleaned; these may become empty.
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
from .retained_batch import BatchRetention, BatchVerdict, RecordFilter, delete_horizon_of, retained_batch


@dataclass(frozen=True, slots=True)
class _ActiveProducer:
    """Where a producer's state comes from: its newest batch, or, if last_offset is None, a marker of its epoch."""

    last_offset: int | None
    producer_epoch: int

    def needs(self, header: BatchHeader) -> bool:
        """Whether a batch of the producer has to stay, so that loading the log finds the same producer again."""
        if self.last_offset is not None:
            return header.last_offset == self.last_offset
        return header.is_control and header.producer_epoch == self.producer_epoch


class CleaningRules:
    """The rules of one cleaning; asked once for each batch of the cleaned part, in order, from the log's first on."""

    def __init__(
        self,
        log: PartitionLog,
        offsets: KeyOffsetMap,
        aborts: Iterable[AbortedTransaction],
        *,
        end_offset: int,
        now_ms: int,
    ) -> None:
        """Take from the log what its producers are now.

        offsets: filled before the first batch; aborts: of all transactions with batches in the cleaned part.
        end_offset: where that part ends; now_ms: what delete horizons are compared with, and counted from.
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

    def retained(self, header: BatchHeader, batch: memoryview) -> memoryview | bytes | None:
        """Return what is left of the next batch; see retained_batch."""
        if header.is_control:
            is_discardable = self._transactions.is_marker_without_records(header, batch)
            horizon = delete_horizon_of(header)
            is_discarded = is_discardable and horizon is not None and horizon <= self._now_ms
        else:
            is_discardable = is_discarded = self._transactions.is_aborted(header)
        # The last batch stays, so that the offsets up to the end of the cleaned part are not lost.
        if self._is_needed(header) or header.last_offset + 1 == self._end_offset:
            retention = BatchRetention.RETAIN_EMPTY
        else:
            retention = BatchRetention.DELETE if is_discarded else BatchRetention.DELETE_EMPTY
        verdict = BatchVerdict(retention, is_discardable and header.is_control)
        is_kept = _drop_all if is_discarded else _keep_all if header.is_control else self._filter_of(header)
        return retained_batch(header, batch, verdict, is_kept, self._new_delete_horizon_ms)

    def _is_needed(self, header: BatchHeader) -> bool:
        producer = self._producers.get(header.producer_id) if header.producer_id >= 0 else None
        return producer is not None and producer.needs(header)

    def _filter_of(self, header: BatchHeader) -> RecordFilter:
        """Return what says of each record of a batch whether it is kept."""
        offsets, latest_offset = self._offsets, self._offsets.latest_offset
        horizon = delete_horizon_of(header)
        keeps_tombstones = horizon is None or self._now_ms < horizon

        def is_kept(fields: RecordFields, key: bytes | None) -> bool:
            if fields.offset > latest_offset:
                return True
            # A record without a key is from before the topic was compacted, and cannot be.
            if key is None or fields.offset < offsets.find(key):
                return False
            return fields.value_size >= 0 or keeps_tombstones

        return is_kept

    def take_retained_aborts(self) -> list[AbortedTransaction]:
        """Return the aborted transactions whose marker was kept since the last call, for the transaction index."""
        aborts = self._transactions.retained
        if aborts:
            self._transactions.retained = []
        return aborts


def _keep_all(fields: RecordFields, key: bytes | None) -> bool:
    return True


def _drop_all(fields: RecordFields, key: bytes | None) -> bool:
    return False
