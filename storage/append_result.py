"""The result of an append: the offsets of the batch, or of the batch that it repeats."""

from __future__ import annotations

from typing import Final

from ..protocol.batches.record_batch import BatchHeader
from ..protocol.compared_fields import ComparedFields
from ..protocol.sequences import NO_SEQUENCE, increment_sequence
from .producers.producer_state_entry import CachedBatch

# Kafka sends this log_start_offset with most errors.
NO_LOG_START_OFFSET: Final = -1


class AppendResult(ComparedFields):
    """The offsets of a batch. The properties are computed on demand.

    base_offset, last_offset: of the batch, or of the original batch for a duplicate.
    log_append_time_ms: -1 on a CreateTime topic; for a duplicate the timestamp of the original, on any topic.
    is_duplicate: whether the batch repeats another one, so that nothing was appended.
    header: the header of the batch as received.
    cached: the producer's cached batches before the append, oldest first.
    """

    __slots__ = (
        "base_offset",
        "cached",
        "header",
        "is_duplicate",
        "last_offset",
        "log_append_time_ms",
        "log_start_offset",
    )

    def __init__(
        self,
        offsets: tuple[int, int],
        log_append_time_ms: int,
        log_start_offset: int,
        header: BatchHeader,
        cached: tuple[CachedBatch, ...],
    ) -> None:
        """offsets: base_offset and last_offset."""
        self.base_offset, self.last_offset = offsets
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.is_duplicate = False
        self.header = header
        self.cached = cached

    def fields(self) -> tuple[object, ...]:
        """Return the fields in the order of the constructor, and is_duplicate."""
        offsets = self.base_offset, self.last_offset
        times = self.log_append_time_ms, self.log_start_offset
        return offsets, *times, self.header, self.cached, self.is_duplicate

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
