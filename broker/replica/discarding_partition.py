"""A partition of a topic with fauxka.records=discarded: every record is deleted as soon as all replicas have it.

Batches are validated, checked and replicated as those of any partition, so offsets, producer states and transactions go
on as in Kafka. Then the log start moves to the high watermark, as after a DeleteRecords. At most two segments remain,
which the log needs to go on after a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .partition import Partition

if TYPE_CHECKING:
    from ...storage.append_result import AppendResult
    from ...storage.coordinator_batch import CoordinatorBatch
    from ...storage.log_validator import ValidatedBatch
    from ...storage.partition_log import PartitionLog


class DiscardingPartition(Partition):
    """A partition that keeps no records. Its methods are those of Partition, with the same arguments and exceptions."""

    __slots__ = ()

    def append(
        self, records: bytes | memoryview, now_ms: int, validated: ValidatedBatch | None = None, ahead_ms: int = 0
    ) -> AppendResult:
        """Append one batch, and delete it if it is replicated."""
        result = super().append(records, now_ms, validated, ahead_ms)
        self.log.discard_records()
        self._delete_segments(now_ms)
        return result

    def append_coordinated(self, coordinated: CoordinatorBatch, now_ms: int) -> AppendResult:
        """Append a batch of a coordinator, and delete it if it is replicated."""
        result = super().append_coordinated(coordinated, now_ms)
        self.log.discard_records()
        self._delete_segments(now_ms)
        return result

    def append_fetched(self, batch: memoryview, now_ms: int, source: PartitionLog | None = None) -> bool:
        """Append a batch of the leader's log, and delete the segments before the log start of the leader."""
        is_appended = super().append_fetched(batch, now_ms, source)
        self._delete_segments(now_ms)
        return is_appended

    def wake(self) -> None:
        """Delete what is replicated, and call the waiting requests. A moved high watermark wakes the leader."""
        log = self.find_log()
        if self.is_leader and log is not None:
            log.discard_records()
        super().wake()

    def _delete_segments(self, now_ms: int) -> None:
        log = self.log
        if len(log.segments) > 1:
            try:
                log.enforce_retention(now_ms)
            except OSError as error:
                self.storage_failed("delete", error)
