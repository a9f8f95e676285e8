"""A partition on one node: its log, its leader epoch and the requests that wait for it (Kafka: cluster.Partition)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ... import storage
from ...protocol.error_codes import ErrorCode, KafkaError
from ..metadata.metadata_image import NO_LEADER

if TYPE_CHECKING:
    from ...storage.append_result import AppendResult
    from ...storage.coordinator_batch import CoordinatorBatch
    from ...storage.log_validator import ValidatedBatch
    from ...storage.partition_log import PartitionLog
    from .partition_flusher import PartitionFlusher
    from .replication import Replication

logger = logging.getLogger(__name__)

# What clients without a leader epoch send.
NO_EPOCH = -1


class Partition:
    """One partition. Only its leader appends what clients send; a follower has a log too, other nodes have none."""

    __slots__ = (
        "_log",
        "_make_log",
        "_waiting",
        "failing",
        "flusher",
        "has_replica",
        "index",
        "is_deleted",
        "is_leader",
        "is_replicated",
        "leader_epoch",
        "leader_id",
        "replication",
        "topic_id",
        "topic_name",
    )

    def __init__(
        self,
        topic_name: str,
        topic_id: bytes,
        index: int,
        log: PartitionLog | Callable[[Partition], PartitionLog],
        leader_epoch: int,
    ) -> None:
        """log: the partition's log, or the function that creates it on first use."""
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.index = index
        self._log: PartitionLog | None = None if callable(log) else log
        self._make_log = log if callable(log) else None
        # The leader as this node knows it, and its epoch.
        self.leader_id = NO_LEADER
        self.leader_epoch = leader_epoch
        # Whether this node has a replica, whether that is the leader, and whether others have one too.
        self.has_replica = self.is_leader = True
        self.is_replicated = False
        self.is_deleted = False
        # On the leader of a partition with other replicas.
        self.replication: Replication | None = None
        # Flushes the log; None in memory.
        self.flusher: PartitionFlusher | None = None
        # The operations on its files that failed last: "append", "flush" or "read".
        self.failing: frozenset[str] = frozenset()
        self._waiting: dict[object, Callable[[], None]] = {}

    @property
    def log(self) -> PartitionLog:
        """The log, created on first use if none was given. Raises AppendRefused if its files cannot be created."""
        return self._log or self._create_log()

    def _create_log(self) -> PartitionLog:
        assert self._make_log is not None, "a partition without a log has the function that creates it"
        try:
            log = self._make_log(self)
            if self.is_replicated:
                log.replicated_offset = 0
                if self.is_leader:
                    log.assign_leader_epoch(self.leader_epoch)
        except OSError as error:
            message = f"cannot create the files of {self.topic_name}-{self.index}: {error.strerror or error}"
            raise storage.append_refused.AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, message) from error
        self._log, self._make_log = log, None
        return log

    def set_log(self, log: PartitionLog) -> None:
        """Take the first log of a replica that is new on this node."""
        self._log, self._make_log = log, None
        if self.is_replicated:
            log.replicated_offset = 0

    def forget_log(self, make_log: Callable[[Partition], PartitionLog]) -> None:
        """Have no log any more, because the replica was moved to another node. make_log: creates one on later use."""
        self._log, self._make_log, self.flusher = None, make_log, None

    def replace_log(self, log: PartitionLog) -> None:
        """Take another log of the same partition, because this one was truncated."""
        before = self._log
        assert before is not None, "the log that was truncated"
        if self.is_replicated:
            log.replicated_offset = min(max(before.high_watermark, log.log_start_offset), log.log_end_offset)
        self._log = log
        if self.flusher is not None:
            self.flusher = self.flusher.of_log(log)

    def find_log(self) -> PartitionLog | None:
        """Return the log, or None if it is not created yet, because it was never used."""
        return self._log

    def append(
        self, records: bytes | memoryview, now_ms: int, validated: ValidatedBatch | None = None, ahead_ms: int = 0
    ) -> AppendResult:
        """Append one batch and wake the waiting requests. Arguments and exceptions are those of PartitionLog.append."""
        try:
            log = self._log or self._create_log()
            result = log.append(
                records, now_ms=now_ms, leader_epoch=self.leader_epoch, ahead_ms=ahead_ms, validated=validated
            )
        except KafkaError as error:
            self._append_failed(error)
            raise
        if self.failing:
            self.storage_works("append")
        if self.replication is not None and not result.is_duplicate:
            self.replication.appended(result, now_ms)
        elif self._waiting:
            self.wake()
        return result

    def append_coordinated(self, coordinated: CoordinatorBatch, now_ms: int) -> AppendResult:
        """Append a batch of a coordinator and wake the waiting requests.

        Raises the KafkaErrors of PartitionLog.append_coordinated, and NOT_LEADER_OR_FOLLOWER.
        """
        self.check_leader()
        try:
            result = self.log.append_coordinated(coordinated, now_ms=now_ms, leader_epoch=self.leader_epoch)
        except KafkaError as error:
            self._append_failed(error)
            raise
        if self.failing:
            self.storage_works("append")
        if self.replication is not None:
            self.replication.appended(result, now_ms)
        else:
            self.wake()
        return result

    def stored_batch(self, result: AppendResult) -> memoryview:
        """Return the batch of an append as the log has it."""
        fetched = self.log.read(result.base_offset, 1, upper_offset=result.last_offset + 1, min_one_batch=True)
        return fetched.views[0] if len(fetched.views) == 1 else memoryview(b"".join(fetched.views))

    def append_fetched(self, batch: memoryview, now_ms: int, source: PartitionLog | None = None) -> bool:
        """Append a batch of the leader's log to the log of this follower, and return whether that was possible.

        source: the leader's log, if the batch is the last one there.
        """
        try:
            self.log.append_replicated(batch, now_ms=now_ms, source=source)
        except KafkaError as error:
            self._append_failed(error)
            return False
        if self.failing:
            self.storage_works("append")
        if self.flusher is not None and self.flusher.must_wait():
            self.flusher.flush_soon()
        return True

    def follow_high_watermark(self, leader_log: PartitionLog) -> None:
        """Take over the high watermark and the log start of the leader."""
        log, offset = self.find_log(), leader_log.replicated_offset
        if log is None:
            return
        if leader_log.log_start_offset > log.log_start_offset:
            log.follow_log_start(leader_log.log_start_offset)
        if offset is not None and offset != log.replicated_offset:
            log.replicated_offset = min(offset, log.log_end_offset)
            if self._waiting:
                self.wake()

    def check_in_sync(self) -> None:
        """Raise AppendRefused NOT_ENOUGH_REPLICAS if too few replicas are in sync for an append with acks=all."""
        if self.replication is not None:
            self.replication.check_min_isr()

    @property
    def has_too_few_replicas(self) -> bool:
        """Whether min.insync.replicas is above the number of replicas. Raises AppendRefused, see log."""
        replicas = 1 if self.replication is None else len(self.replication.followers) + 1
        return self.log.config.min_insync_replicas > replicas

    def delete_records_before(self, offset: int) -> int:
        """Move the log start forward on all nodes, and return it. Raises KafkaError, see PartitionLog."""
        log_start_offset = self.log.delete_records_before(offset)
        if self.replication is not None:
            self.replication.advance()
        return log_start_offset

    def _append_failed(self, error: KafkaError) -> None:
        if error.code == ErrorCode.KAFKA_STORAGE_ERROR and not self.is_deleted:
            self.storage_failed("append", error)

    def check_leader(self) -> None:
        """Raise KafkaError NOT_LEADER_OR_FOLLOWER if another node leads the partition, or none."""
        if not self.is_leader:
            raise KafkaError(
                ErrorCode.NOT_LEADER_OR_FOLLOWER, f"this node does not lead {self.topic_name}-{self.index}"
            )

    def check_leader_epoch(self, leader_epoch: int) -> None:
        """Check the leader epoch in a client's request; NO_EPOCH passes.

        Raises KafkaError: NOT_LEADER_OR_FOLLOWER without a replica, FENCED_LEADER_EPOCH if the epoch is older,
        UNKNOWN_LEADER_EPOCH if it is newer.
        """
        if not self.has_replica:
            self.check_leader()
        if leader_epoch in (NO_EPOCH, self.leader_epoch):
            return
        is_older = leader_epoch < self.leader_epoch
        raise KafkaError(
            ErrorCode.FENCED_LEADER_EPOCH if is_older else ErrorCode.UNKNOWN_LEADER_EPOCH,
            f"leader epoch is {self.leader_epoch}, got {leader_epoch}",
        )

    def wait(self, waiter: object, grown: Callable[[], None]) -> None:
        """Call grown after every append, until waiter leaves."""
        self._waiting[waiter] = grown

    @property
    def has_waiting(self) -> bool:
        """Whether a request waits for the partition."""
        return bool(self._waiting)

    def leave(self, waiter: object) -> None:
        """Stop the calls for waiter, if there are any."""
        self._waiting.pop(waiter, None)

    def wake(self) -> None:
        """Call the waiting requests, because the partition has grown or was deleted."""
        for grown in list(self._waiting.values()):
            grown()

    def storage_failed(self, doing: str, error: Exception) -> None:
        """Log that an operation on the files fails, once until it works again. doing: "append", "flush" or "read"."""
        if doing not in self.failing:
            self.failing |= {doing}
            logger.error("%s-%d: %s fails: %s", self.topic_name, self.index, doing, error)

    def storage_works(self, doing: str) -> None:
        """Log that an operation on the files works again, if it has failed."""
        if doing in self.failing:
            self.failing -= {doing}
            logger.warning("%s-%d: %s works again", self.topic_name, self.index, doing)
