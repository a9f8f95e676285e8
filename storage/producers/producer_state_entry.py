"""The state of one producer in one partition: its epoch and its newest batches. Entries are immutable.

Source: ProducerStateEntry and BatchMetadata, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ...protocol.batches.record_batch import NO_PRODUCER_EPOCH, NO_TIMESTAMP
from ...protocol.sequences import MAX_SEQUENCE, NO_SEQUENCE, increment_sequence

NO_COORDINATOR_EPOCH = -1


class CachedBatch(NamedTuple):
    """A batch that is recognised as a duplicate when it is sent again; a tuple, because every batch makes one.

    timestamp: the greatest of its records, as stored.
    After an eviction, one placeholder without records remains, which no batch can equal.
    """

    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int

    @property
    def is_evicted(self) -> bool:
        """Whether this is the placeholder of evicted batches."""
        return self.base_offset > self.last_offset


# Builds a CachedBatch from the tuple of its fields, at half the cost of calling the class.
cached_batch: Callable[[tuple[int, int, int, int, int]], CachedBatch] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
    CachedBatch,
)


class ProducerStateEntry(NamedTuple):
    """The state of a producer in a partition; a tuple, because every batch makes one.

    batches: the newest batches, oldest first; empty if only a transaction marker was written.
    last_timestamp: of the newest batch or marker, for expiry.
    current_txn_first_offset: the first offset of its open transaction, or None.
    """

    producer_id: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    batches: tuple[CachedBatch, ...] = ()
    last_timestamp: int = NO_TIMESTAMP
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    current_txn_first_offset: int | None = None

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


# Builds an entry from the tuple of its fields, like cached_batch.
producer_state_entry: Callable[[tuple[int, int, tuple[CachedBatch, ...], int, int, int | None]], ProducerStateEntry] = (
    partial(
        tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
        ProducerStateEntry,
    )
)


def without_evicted(batches: tuple[CachedBatch, ...]) -> tuple[CachedBatch, ...]:
    """Return the batches without the placeholder of evicted ones, which is always the first."""
    return batches[1:] if batches and batches[0].is_evicted else batches


def without_batches(entry: ProducerStateEntry) -> ProducerStateEntry:
    """Return the entry with all batches evicted: retries are refused, the next sequence is unchanged."""
    if not entry.batches:
        return entry
    newest = entry.batches[-1]
    end = cached_batch(
        (
            increment_sequence(newest.last_sequence, 1),
            newest.last_sequence,
            newest.last_offset + 1,
            newest.last_offset,
            newest.timestamp,
        )
    )
    return entry._replace(batches=(end,))
