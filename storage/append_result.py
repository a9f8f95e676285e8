"""Where an appended batch went, or where the batch it repeats had gone."""

from __future__ import annotations

from dataclasses import dataclass

from .producer_state_entry import CachedBatch


@dataclass(slots=True)
class AppendResult:
    """The answer of a log that has the batch; the numbers after is_duplicate are for the journal.

    base_offset, last_offset: of the batch; of the original one for a duplicate.
    log_append_time_ms: -1 on a CreateTime topic; for a duplicate the timestamp of the original, on any topic.
    base_sequence, last_sequence: -1 without a producer.
    cached: what was remembered of the producer when the batch came, oldest first.
    """

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    is_duplicate: bool
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    cached: tuple[CachedBatch, ...]

    @property
    def records_count(self) -> int:
        """The records in the batch."""
        return self.last_offset - self.base_offset + 1
