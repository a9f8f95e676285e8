"""One producer in one partition: its epoch and its newest batches. Entries are never changed, only replaced.

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
    """A batch that is recognised when it comes again; a tuple, because one is made for every idempotent batch.

    timestamp: the greatest of its records, as the log has it.
    Where all were evicted on purpose, one without records is left at their end: none that comes is like it.
    """

    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int

    @property
    def is_evicted(self) -> bool:
        """Whether it only says where the batches ended that were evicted."""
        return self.base_offset > self.last_offset


# Makes a CachedBatch of the tuple of its fields: half the price of calling the class, on the path of every batch.
cached_batch: Callable[[tuple[int, int, int, int, int]], CachedBatch] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
    CachedBatch,
)


class ProducerStateEntry(NamedTuple):
    """What a partition knows of a producer; a tuple, because one is made for every idempotent batch.

    batches: the newest, oldest first; none if only a transaction marker was seen.
    last_timestamp: of the newest batch or marker; the producer expires by it.
    current_txn_first_offset: where its open transaction begins, None if there is none.
    """

    producer_id: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    batches: tuple[CachedBatch, ...] = ()
    last_timestamp: int = NO_TIMESTAMP
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    current_txn_first_offset: int | None = None

    @property
    def last_sequence(self) -> int:
        """The sequence of the newest record; -1 if no batch is known."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def next_sequence(self) -> int:
        """The sequence that is accepted next; 0 if no batch is known."""
        return (self.last_sequence + 1) & MAX_SEQUENCE

    def has_open_transaction(self, producer_epoch: int) -> bool:
        """Whether its producer has a transaction open in that epoch."""
        return self.current_txn_first_offset is not None and self.producer_epoch == producer_epoch


# Makes an entry of the tuple of its fields, as cached_batch does.
producer_state_entry: Callable[[tuple[int, int, tuple[CachedBatch, ...], int, int, int | None]], ProducerStateEntry] = (
    partial(
        tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
        ProducerStateEntry,
    )
)


def recognised(batches: tuple[CachedBatch, ...]) -> tuple[CachedBatch, ...]:
    """Return the remembered batches without what is left of evicted ones, which is always the oldest."""
    return batches[1:] if batches and batches[0].is_evicted else batches


def without_batches(entry: ProducerStateEntry) -> ProducerStateEntry:
    """Return the entry with all its batches evicted: their retry is refused, and the next sequence is what it was."""
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
