"""Where an appended batch went, or where the batch it repeats had gone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..protocol.sequences import NO_SEQUENCE, increment_sequence

if TYPE_CHECKING:
    from ..protocol.batches.record_batch import BatchHeader
    from .producers.producer_state_entry import CachedBatch

# What the answer carries as log_start_offset when Kafka leaves the real one out.
NO_LOG_START_OFFSET = -1


class AppendResult(NamedTuple):
    """The answer of a log that has the batch; what the journal needs of it is worked out when it is asked for.

    A tuple, because one is made for every batch.

    base_offset, last_offset: of the batch; of the original one for a duplicate.
    log_append_time_ms: -1 on a CreateTime topic; for a duplicate the timestamp of the original, on any topic.
    header: of the batch as it came.
    cached: what was remembered of the producer when the batch came, oldest first.
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
        """Who wrote the batch; below 0 for none."""
        return self.header.producer_id

    @property
    def producer_epoch(self) -> int:
        """The epoch it wrote in."""
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
        """The records in the batch."""
        return self.last_offset - self.base_offset + 1


# Makes an AppendResult of the tuple of its fields, as with cached_batch.
append_result: Callable[
    [tuple[int, int, int, int, bool, BatchHeader, tuple[CachedBatch, ...]]],
    AppendResult,
] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType]
    AppendResult,
)
