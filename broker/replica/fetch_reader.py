"""Reads the partitions of one Fetch within its limits (Kafka: ReplicaManager.readFromLog)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.fetch_codec import (
    NO_REPLICA,
    TOPIC_IDS_SINCE,
    FetchedPartition,
    FetchedPartitions,
    FetchPartition,
    FetchPartitions,
    PartitionKey,
)
from .partition import NO_EPOCH, Partition
from .replica_manager import ReplicaManager

if TYPE_CHECKING:
    from ...storage.partition_log import PartitionLog

# Takes a partition and an offset, and returns the node that a client should read it from, or None for this one.
FindPreferredReplica = Callable[[Partition, int], "int | None"]

READ_COMMITTED = 1
# Stands for this node as the preferred read replica.
NO_NODE = -1
# From this version on, a client may fetch from a follower (KIP-392).
FOLLOWERS_SINCE = 11
# From this version on, the first batch is returned even if it is larger than the limits (KIP-74).
LARGE_BATCH_SINCE = 3


@dataclass(slots=True)
class FetchResult:
    """The result of one read.

    records_bytes: the sum over all partitions. has_error: a partition has an error. is_final: a partition has something
    else to tell that ends a wait.
    """

    partitions: FetchedPartitions
    records_bytes: int
    has_error: bool
    is_final: bool = False


def is_enough(result: FetchResult, min_bytes: int) -> bool:
    """Whether a Fetch is completed with result without a wait."""
    return result.has_error or result.is_final or result.records_bytes >= min_bytes


class FetchReader:
    """Reads one Fetch, once or again while it waits."""

    __slots__ = (
        "_asked",
        "_has_large_batch",
        "_is_from_leader_only",
        "_isolation_level",
        "_known",
        "_max_bytes",
        "_replicas",
        "_uses_topic_ids",
        "denied",
        "find_preferred",
        "replica_id",
    )

    def __init__(
        self, replicas: ReplicaManager, version: int, asked: FetchPartitions, *, max_bytes: int, isolation_level: int
    ) -> None:
        """max_bytes: of the whole response."""
        self._replicas = replicas
        self._asked = asked
        # Finds the replica that the client should fetch from (KIP-392); None for this one.
        self.find_preferred: FindPreferredReplica | None = None
        # The errors of partitions that the client may not read.
        self.denied: FetchedPartitions = []
        # The node id of the follower that fetches, NO_REPLICA for a consumer.
        self.replica_id = NO_REPLICA
        self._uses_topic_ids = version >= TOPIC_IDS_SINCE
        self._is_from_leader_only = version < FOLLOWERS_SINCE
        self._has_large_batch = version >= LARGE_BATCH_SINCE
        self._max_bytes = max_bytes
        self._isolation_level = isolation_level
        self._known = {key for key in asked if self._find_partition(key) is not None}

    @property
    def can_wait(self) -> bool:
        """Whether a partition exists that may still grow."""
        return bool(self._known)

    def partitions(self) -> list[Partition]:
        """Return the requested partitions that exist."""
        return [partition for key in self._asked if (partition := self._find_partition(key)) is not None]

    def read(self) -> FetchResult:
        """Read every partition, in the order of the request, until max_bytes are reached.

        Unknown and denied partitions come last in the response. They end a wait only if they existed when it began
        (Kafka: KafkaApis.handleFetchRequest).
        """
        result = FetchResult([], 0, False)
        unknown: FetchedPartitions = []
        for key, asked in self._asked.items():
            partition = self._find_partition(key)
            if partition is None:
                if key in self._known:
                    # It was deleted while the Fetch waited.
                    result.has_error = True
                    answer = FetchedPartition(key[1], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                else:
                    answer = self._unknown_partition(key)
                unknown.append((key[0], answer))
            else:
                answer = self._read_partition(partition, asked, result)
                result.partitions.append((key[0], answer))
            answer.fetch_offset = asked.fetch_offset
        result.partitions += unknown + self.denied
        return result

    def _find_partition(self, key: PartitionKey) -> Partition | None:
        topic_key, index = key
        if self._uses_topic_ids:
            return self._replicas.find_partition(topic_key, index)
        return self._replicas.find_partition_by_name(topic_key.decode(errors="replace"), index)

    def _unknown_partition(self, key: PartitionKey) -> FetchedPartition:
        topic_key, index = key
        is_id_unknown = self._uses_topic_ids and self._replicas.image.find_topic_by_id(topic_key) is None
        error = ErrorCode.UNKNOWN_TOPIC_ID if is_id_unknown else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return FetchedPartition(index, error, aborted_transactions=[])

    def _read_partition(self, partition: Partition, asked: FetchPartition, result: FetchResult) -> FetchedPartition:
        try:
            # Any negative epoch means none, unlike in ListOffsets, where only -1 does (FetchRequest.optionalEpoch).
            partition.check_leader_epoch(max(NO_EPOCH, asked.current_leader_epoch))
            if self._is_from_leader_only or self.replica_id > NO_REPLICA:
                partition.check_leader()
            if self.replica_id > NO_REPLICA:
                self._check_follower(partition, asked)
            fetched = self._read_log(partition, asked, result)
        except KafkaError as error:
            result.has_error = True
            return FetchedPartition(asked.partition, error.code)
        except OSError as error:
            partition.storage_failed("read", error)
            result.has_error = True
            return FetchedPartition(asked.partition, ErrorCode.KAFKA_STORAGE_ERROR)
        if partition.failing:
            partition.storage_works("read")
        return fetched

    def _check_follower(self, partition: Partition, asked: FetchPartition) -> None:
        """Check that the follower has a replica (Partition.followerReplicaOrThrow, Kafka 4.3.0).

        Raises KafkaError: UNKNOWN_LEADER_EPOCH for a request with a leader epoch, because the follower may have newer
        metadata; NOT_LEADER_OR_FOLLOWER for one without.
        """
        replication = partition.replication
        if replication is None or self.replica_id not in replication.followers:
            has_epoch = asked.current_leader_epoch > NO_EPOCH
            raise KafkaError(
                ErrorCode.UNKNOWN_LEADER_EPOCH if has_epoch else ErrorCode.NOT_LEADER_OR_FOLLOWER,
                f"node {self.replica_id} has no replica of {partition.topic_name}-{partition.index}",
            )

    def _read_log(self, partition: Partition, asked: FetchPartition, result: FetchResult) -> FetchedPartition:
        """Read the records, or what keeps the client from reading here. Raises KafkaError and OSError."""
        log = partition.log
        answer = FetchedPartition(
            asked.partition, ErrorCode.NONE, log.high_watermark, log.last_stable_offset, log.log_start_offset
        )
        answer.diverging_epoch = _find_diverging_epoch(log, asked)
        if answer.diverging_epoch is None and self.find_preferred is not None:
            preferred = self.find_preferred(partition, asked.fetch_offset)
            if preferred is not None:
                answer.preferred_read_replica = preferred
        if answer.diverging_epoch is not None or answer.preferred_read_replica != NO_NODE:
            result.is_final = True
            return answer
        if asked.max_bytes < 0 or self._max_bytes < 0:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"max bytes {asked.max_bytes} of {self._max_bytes}")
        is_committed_only = self._isolation_level == READ_COMMITTED
        upper_offset = answer.last_stable_offset if is_committed_only else answer.high_watermark
        max_bytes = min(asked.max_bytes, max(0, self._max_bytes - result.records_bytes))
        min_one_batch = self._has_large_batch and result.records_bytes == 0
        fetched = log.read(asked.fetch_offset, max_bytes, upper_offset=upper_offset, min_one_batch=min_one_batch)
        if is_committed_only:
            answer.aborted_transactions = _aborted_transactions(log, asked.fetch_offset, upper_offset)
        answer.records, answer.records_bytes, answer.last_offset = fetched.views, fetched.size, fetched.last_offset
        result.records_bytes += fetched.size
        return answer


def _aborted_transactions(log: PartitionLog, offset: int, upper_offset: int) -> list[tuple[int, int]]:
    """Return the producer ids and first offsets of the aborted transactions in a range."""
    if offset >= upper_offset:
        return []
    return [
        (transaction.producer_id, transaction.first_offset)
        for transaction in log.segments.aborted_transactions(offset, upper_offset)
    ]


def _find_diverging_epoch(log: PartitionLog, asked: FetchPartition) -> tuple[int, int] | None:
    """Return the last epoch that the client's log has in common with this one, and its end, if they have parted.

    Raises KafkaError OFFSET_OUT_OF_RANGE for a last fetched epoch that this log does not know.
    Source: Partition.readRecords, Kafka 4.3.0.
    """
    if asked.last_fetched_epoch < 0:
        return None
    end = log.end_offset_for_epoch(asked.last_fetched_epoch)
    if end.leader_epoch < 0:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"last fetched epoch {asked.last_fetched_epoch} is not known")
    has_parted = end.leader_epoch < asked.last_fetched_epoch or end.end_offset < asked.fetch_offset
    return (end.leader_epoch, end.end_offset) if has_parted else None
