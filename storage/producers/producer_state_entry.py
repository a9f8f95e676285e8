"""The state of one producer in one partition: its epoch and its newest batches. Entries are immutable.

Source: ProducerStateEntry and BatchMetadata, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import Final

from ...protocol.batches.record_batch import NO_PRODUCER_EPOCH, NO_TIMESTAMP
from ...protocol.compared_fields import ComparedFields
from ...protocol.sequences import MAX_SEQUENCE, NO_SEQUENCE, increment_sequence

NO_COORDINATOR_EPOCH: Final = -1


class CachedBatch(ComparedFields):
    """A batch that is recognised as a duplicate when it is sent again.

    timestamp: the greatest of its records, as stored.
    After an eviction, one placeholder without records remains, which no batch can equal.
    """

    __slots__ = ("base_offset", "base_sequence", "last_offset", "last_sequence", "timestamp")

    def __init__(
        self, base_sequence: int, last_sequence: int, base_offset: int, last_offset: int, timestamp: int
    ) -> None:
        """The sequences and offsets of the first and the last record, and the timestamp."""
        self.base_sequence = base_sequence
        self.last_sequence = last_sequence
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.timestamp = timestamp

    def fields(self) -> tuple[object, ...]:
        """Return the fields in the order of the constructor."""
        return self.base_sequence, self.last_sequence, self.base_offset, self.last_offset, self.timestamp

    @property
    def is_evicted(self) -> bool:
        """Whether this is the placeholder of evicted batches."""
        return self.base_offset > self.last_offset


class ProducerStateEntry(ComparedFields):
    """The state of a producer in a partition.

    batches: the newest batches, oldest first; empty if only a transaction marker was written.
    last_timestamp: of the newest batch or marker, for expiry.
    coordinator_epoch: of the newest marker.
    current_txn_first_offset: the first offset of its open transaction, or None.
    """

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "current_txn_first_offset",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )

    def __init__(
        self,
        producer_id: int,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        batches: tuple[CachedBatch, ...] = (),
        last_timestamp: int = NO_TIMESTAMP,
        transaction: tuple[int, int | None] = (NO_COORDINATOR_EPOCH, None),
    ) -> None:
        """transaction: coordinator_epoch and current_txn_first_offset."""
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.batches = batches
        self.last_timestamp = last_timestamp
        self.coordinator_epoch, self.current_txn_first_offset = transaction

    @property
    def transaction(self) -> tuple[int, int | None]:
        """The coordinator epoch and the first offset of the open transaction."""
        return self.coordinator_epoch, self.current_txn_first_offset

    def fields(self) -> tuple[object, ...]:
        """Return the fields in the order of the constructor."""
        return self.producer_id, self.producer_epoch, self.batches, self.last_timestamp, self.transaction

    def with_batches(self, batches: tuple[CachedBatch, ...]) -> ProducerStateEntry:
        """Return the entry with other cached batches."""
        return ProducerStateEntry(self.producer_id, self.producer_epoch, batches, self.last_timestamp, self.transaction)

    @property
    def last_sequence(self) -> int:
        """The sequence of the newest record; -1 without batches."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def next_sequence(self) -> int:
        """The next accepted sequence; 0 without batches."""
        return (self.last_sequence + 1) & MAX_SEQUENCE

    def has_open_transaction(self, producer_epoch: int) -> bool:
        """Whether the producer has an open transaction in that epoch."""
        return self.current_txn_first_offset is not None and self.producer_epoch == producer_epoch


def without_evicted(batches: tuple[CachedBatch, ...]) -> tuple[CachedBatch, ...]:
    """Return the batches without the placeholder of evicted ones, which is always the first."""
    return batches[1:] if batches and batches[0].is_evicted else batches


def without_batches(entry: ProducerStateEntry) -> ProducerStateEntry:
    """Return the entry with all batches evicted: retries are refused, the next sequence is unchanged."""
    if not entry.batches:
        return entry
    newest = entry.batches[-1]
    end = CachedBatch(
        increment_sequence(newest.last_sequence, 1),
        newest.last_sequence,
        newest.last_offset + 1,
        newest.last_offset,
        newest.timestamp,
    )
    return entry.with_batches((end,))
