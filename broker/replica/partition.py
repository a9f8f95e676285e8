"""A partition on its leader: the log, its epoch, and who waits for it to grow (Kafka: cluster/Partition)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError

if TYPE_CHECKING:
    from ...storage.append_result import AppendResult
    from ...storage.coordinator_batch import CoordinatorBatch
    from ...storage.partition_log import PartitionLog
    from .partition_flusher import PartitionFlusher

logger = logging.getLogger(__name__)

# What clients send that know no leader epoch.
NO_EPOCH = -1


class Partition:
    """One partition that this node leads."""

    __slots__ = (
        "_log",
        "_make_log",
        "_waiting",
        "failing",
        "flusher",
        "index",
        "is_deleted",
        "leader_epoch",
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
        self._log = None if callable(log) else log
        self._make_log = log if callable(log) else None
        self.leader_epoch = leader_epoch
        self.is_deleted = False
        # What makes the log safe; None in memory, where nothing can be made safer.
        self.flusher: PartitionFlusher | None = None
        # What the storage does not do at present.
        self.failing: frozenset[str] = frozenset()
        self._waiting: dict[object, Callable[[], None]] = {}

    @property
    def log(self) -> PartitionLog:
        """The log, made when it is first asked for, where none was given: most partitions of tests are never used.

        Raises AppendRefused where its files cannot be made.
        """
        return self._log or self._made_log()

    def _made_log(self) -> PartitionLog:
        assert self._make_log is not None, "a partition has a log, or what makes it"
        try:
            self._log = self._make_log(self)
        except OSError as error:
            from ...storage.append_refused import AppendRefused

            message = f"cannot create the files of {self.topic_name}-{self.index}: {error.strerror or error}"
            raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR, message) from error
        self._make_log = None
        return self._log

    def find_log(self) -> PartitionLog | None:
        """Return the log, None where nobody has asked for it yet: it is empty, and as it was made."""
        return self._log

    def append(self, records: memoryview, now_ms: int) -> AppendResult:
        """Append one batch and wake who waits for it; raises KafkaError, see PartitionLog.append."""
        try:
            log = self._log or self._made_log()
            result = log.append(records, now_ms=now_ms, leader_epoch=self.leader_epoch)
        except KafkaError as error:
            self._append_failed(error)
            raise
        if self.failing:
            self.storage_works("append")
        if self._waiting:
            self.wake()
        return result

    def append_coordinated(self, coordinated: CoordinatorBatch, now_ms: int) -> AppendResult:
        """Append what a coordinator writes for a transaction, and wake who waits.

        Raises KafkaError, see PartitionLog.append_coordinated.
        """
        try:
            result = self.log.append_coordinated(coordinated, now_ms=now_ms, leader_epoch=self.leader_epoch)
        except KafkaError as error:
            self._append_failed(error)
            raise
        if self.failing:
            self.storage_works("append")
        self.wake()
        return result

    def _append_failed(self, error: KafkaError) -> None:
        if error.code == ErrorCode.KAFKA_STORAGE_ERROR and not self.is_deleted:
            self.storage_failed("append", error)

    def check_leader_epoch(self, leader_epoch: int) -> None:
        """Check the leader epoch that a client believes in; NO_EPOCH is none.

        Raises KafkaError: FENCED_LEADER_EPOCH where it is older, UNKNOWN_LEADER_EPOCH where it is newer.
        """
        if leader_epoch in (NO_EPOCH, self.leader_epoch):
            return
        is_older = leader_epoch < self.leader_epoch
        raise KafkaError(
            ErrorCode.FENCED_LEADER_EPOCH if is_older else ErrorCode.UNKNOWN_LEADER_EPOCH,
            f"leader epoch is {self.leader_epoch}, got {leader_epoch}",
        )

    def wait(self, waiter: object, grown: Callable[[], None]) -> None:
        """Have grown called after every append until waiter leaves."""
        self._waiting[waiter] = grown

    @property
    def has_waiting(self) -> bool:
        """Whether anybody waits for it to grow."""
        return bool(self._waiting)

    def leave(self, waiter: object) -> None:
        """Have the waiter no longer called; without effect if it does not wait."""
        self._waiting.pop(waiter, None)

    def wake(self) -> None:
        """Call who waits: the partition has grown, or is gone."""
        for grown in list(self._waiting.values()):
            grown()

    def storage_failed(self, doing: str, error: Exception) -> None:
        """Say, once until it works again, that the files of the partition cannot be written, flushed or read."""
        if doing not in self.failing:
            self.failing |= {doing}
            logger.error("%s-%d: %s fails: %s", self.topic_name, self.index, doing, error)

    def storage_works(self, doing: str) -> None:
        """Say that it works again, if it has failed."""
        if doing in self.failing:
            self.failing -= {doing}
            logger.warning("%s-%d: %s works again", self.topic_name, self.index, doing)
