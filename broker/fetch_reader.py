"""Reads what one Fetch asks from the partitions' logs, within its limits (Kafka: ReplicaManager.readFromLog)."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.error_codes import ErrorCode, KafkaError
from ..protocol.fetch_codec import (
    TOPIC_IDS_SINCE,
    FetchedPartition,
    FetchedTopics,
    FetchPartition,
    FetchTopics,
)
from .cluster import Cluster, Topic
from .partition import Partition

READ_COMMITTED = 1


@dataclass(slots=True)
class FetchResult:
    """What was read: record_bytes in all, and whether a partition answers an error, which ends every wait."""

    topics: FetchedTopics
    records_bytes: int
    has_error: bool


class FetchReader:
    """One Fetch that can be read now and, while it waits for more, again."""

    __slots__ = ("_cluster", "_isolation_level", "_max_bytes", "_topics", "_uses_topic_ids")

    def __init__(
        self, cluster: Cluster, version: int, topics: FetchTopics, *, max_bytes: int, isolation_level: int
    ) -> None:
        """max_bytes: for the whole answer; the first batch of all is read even where it is larger (KIP-74)."""
        self._cluster = cluster
        self._topics = topics
        self._uses_topic_ids = version >= TOPIC_IDS_SINCE
        self._max_bytes = max_bytes
        self._isolation_level = isolation_level

    def partitions(self) -> list[Partition]:
        """Return the partitions asked for that there are."""
        found = (
            topic.find_partition(partition.partition)
            for key, partitions in self._topics
            if (topic := self._find_topic(key)) is not None
            for partition in partitions
        )
        return [partition for partition in found if partition is not None]

    def read(self) -> FetchResult:
        """Read every partition, in the order asked, until max_bytes are reached."""
        result = FetchResult([], 0, False)
        for key, partitions in self._topics:
            topic = self._find_topic(key)
            answers = [self._read_partition(topic, asked, result) for asked in partitions]
            result.topics.append((key, answers))
        return result

    def _find_topic(self, key: bytes) -> Topic | None:
        if self._uses_topic_ids:
            return self._cluster.find_topic_by_id(key)
        return self._cluster.find_topic(key.decode(errors="replace"))

    def _read_partition(self, topic: Topic | None, asked: FetchPartition, result: FetchResult) -> FetchedPartition:
        try:
            answer = self._read_found(self._partition_of(topic, asked), asked, result)
        except KafkaError as error:
            result.has_error = True
            return FetchedPartition(asked.partition, error.code)
        result.records_bytes += answer.records_bytes
        return answer

    def _partition_of(self, topic: Topic | None, asked: FetchPartition) -> Partition:
        """Return the partition; raises KafkaError where there is none, or its leader epoch is not the one asked for."""
        if topic is None and self._uses_topic_ids:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        partition = None if topic is None else topic.find_partition(asked.partition)
        if partition is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        partition.check_leader_epoch(asked.current_leader_epoch)
        return partition

    def _read_found(self, partition: Partition, asked: FetchPartition, result: FetchResult) -> FetchedPartition:
        log = partition.log
        is_committed_only = self._isolation_level == READ_COMMITTED
        fetched = log.read(
            asked.fetch_offset,
            max(0, min(asked.max_bytes, self._max_bytes - result.records_bytes)),
            upper_offset=log.last_stable_offset if is_committed_only else log.high_watermark,
            min_one_batch=result.records_bytes == 0,
        )
        return FetchedPartition(
            asked.partition,
            ErrorCode.NONE,
            log.high_watermark,
            log.last_stable_offset,
            log.log_start_offset,
            [] if is_committed_only else None,
            fetched.views,
            fetched.size,
        )
