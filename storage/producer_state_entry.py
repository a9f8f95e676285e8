"""One producer in one partition: its epoch and its newest batches. Entries are never changed, only replaced.

Source: ProducerStateEntry and BatchMetadata, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ..protocol.record_batch import NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP

NO_COORDINATOR_EPOCH = -1


class CachedBatch(NamedTuple):
    """A batch that is recognised when it comes again; a tuple, because one is made for every idempotent batch.

    timestamp: the greatest of its records, as the log has it.
    """

    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int


# Makes a CachedBatch of the tuple of its fields: half the price of calling the class, on the path of every batch.
cached_batch: Callable[[tuple[int, int, int, int, int]], CachedBatch] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
    CachedBatch,
)


@dataclass(slots=True)
class ProducerStateEntry:
    """What a partition knows of a producer; made anew for every batch (frozen dataclasses are three times as slow).

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
