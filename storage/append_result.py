"""The result of an append: the offsets of the batch, or of the batch that it repeats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..protocol.sequences import NO_SEQUENCE, increment_sequence

if TYPE_CHECKING:
    from ..protocol.batches.record_batch import BatchHeader
    from .producers.producer_state_entry import CachedBatch

# Kafka sends this log_start_offset with most errors.
NO_LOG_START_OFFSET = -1


class AppendResult(NamedTuple):
    """The offsets of a batch. A tuple, because every append makes one; the properties are computed on demand.

    base_offset, last_offset: of the batch, or of the original batch for a duplicate.
    log_append_time_ms: -1 on a CreateTime topic; for a duplicate the timestamp of the original, on any topic.
    header: the header of the batch as received.
    cached: the producer's cached batches before the append, oldest first.
    """

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    is_duplicate: bool
    header: BatchHeader
    cached: tuple[CachedBatch, ...]

    @property
    def producer_id(self) -> int:
        """The producer id; -1 without a producer."""
        return self.header.producer_id

    @property
    def producer_epoch(self) -> int:
        """The producer epoch; -1 without a producer."""
        return self.header.producer_epoch

    @property
    def base_sequence(self) -> int:
        """The sequence of the first record; -1 without a producer."""
        return self.header.base_sequence if self.header.producer_id >= 0 else NO_SEQUENCE

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; -1 without a producer."""
        if self.header.producer_id < 0:
            return NO_SEQUENCE
        return increment_sequence(self.header.base_sequence, self.header.last_offset_delta)

    @property
    def records_count(self) -> int:
        """The number of records in the batch."""
        return self.last_offset - self.base_offset + 1


# Builds an AppendResult from the tuple of its fields, at half the cost of calling the class.
append_result: Callable[
    [tuple[int, int, int, int, bool, BatchHeader, tuple[CachedBatch, ...]]],
    AppendResult,
] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
    AppendResult,
)
