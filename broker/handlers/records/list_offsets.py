"""ListOffsets (2), versions 0-11.

Left out: timeout_ms, which is for remote storage. Without remote storage, its special timestamps have no offset.
v0 starts of segments; v2 isolation level; v4 leader epochs; v6 flexible; v7 max timestamp; v8 earliest local;
v9 latest tiered; v10 timeout_ms; v11 earliest pending upload.
Source: ReplicaManager.fetchOffset and Partition.fetchOffsetForTimestamp, Kafka 4.3.0;
tests/golden/list_offsets-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ...replica.offsets_before import offsets_before
from ...replica.partition import Partition
from ...requests.request_context import RequestContext
from ...runtime.long_work import step

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -1, -2, -3, -4, -5, -6
# The first version with each special timestamp.
SPECIAL_SINCE = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
# From this version on clients know the error OFFSET_NOT_AVAILABLE.
OFFSET_NOT_AVAILABLE_SINCE = 5
CONSUMER = -1
# The replica id of Kafka's tools, which ask followers too (ListOffsetsRequest.DEBUGGING_REPLICA_ID).
DEBUGGER = -2
READ_UNCOMMITTED, READ_COMMITTED = 0, 1


async def handle(context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    """Look up an offset for each partition. A partition that appears twice has one result, an error."""
    lookup = OffsetLookup(context, request)
    response = ListOffsetsResponse()
    results: dict[str, ListOffsetsTopicResponse] = {}
    seen = set[tuple[str, int]]()
    for topic in request.topics:
        for requested in topic.partitions:
            await step()
            key = topic.name, requested.partition_index
            if key in seen and lookup.is_valid:
                continue
            seen.add(key)
            if topic.name not in results:
                results[topic.name] = ListOffsetsTopicResponse(name=topic.name)
                response.topics.append(results[topic.name])
            results[topic.name].partitions.append(lookup.find(topic.name, requested))
    return response


class OffsetLookup:
    """Looks up the offsets of one request."""

    def __init__(self, context: RequestContext, request: ListOffsetsRequest) -> None:
        """Count how often each partition appears."""
        self._replicas = context.node.replicas
        self._now_ms = context.now_ms
        self._version = context.api_version
        self._request = request
        # Kafka fails with an unknown isolation level: every partition gets UNKNOWN_SERVER_ERROR.
        self.is_valid = request.isolation_level in (READ_UNCOMMITTED, READ_COMMITTED)
        self._counts = Counter(
            (topic.name, partition.partition_index) for topic in request.topics for partition in topic.partitions
        )

    def find(self, name: str, requested: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
        """Return the offset of a partition, or its error."""
        try:
            if not self.is_valid:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"no isolation level {self._request.isolation_level}")
            return self._look_up(name, requested)
        except KafkaError as error:
            return ListOffsetsPartitionResponse(partition_index=requested.partition_index, error_code=error.code)

    def _look_up(self, name: str, requested: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
        if self._counts[name, requested.partition_index] > 1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name}-{requested.partition_index} appears more than once")
        if (
            self._version
            and requested.timestamp < 0
            and self._version < SPECIAL_SINCE.get(requested.timestamp, self._version + 1)
        ):
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"no timestamp {requested.timestamp} in v{self._version}")
        partition = self._replicas.partition_of(name, requested.partition_index)
        partition.check_leader_epoch(requested.current_leader_epoch)
        if self._request.replica_id != DEBUGGER:
            partition.check_leader()
        try:
            return self._offset_in(partition, requested)
        except OSError as error:
            partition.storage_failed("read", error)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error

    def _offset_in(self, partition: Partition, requested: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
        if not self._version:
            return self._segment_starts(partition, requested)
        match requested.timestamp:
            case _ if requested.timestamp == LATEST:
                self._check_available(partition)
                return self._latest(partition)
            case _ if requested.timestamp in (EARLIEST, EARLIEST_LOCAL):
                return _at(partition, partition.log.log_start_offset)
            case _ if requested.timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
                return ListOffsetsPartitionResponse(partition_index=partition.index)
            case _:
                return self._by_timestamp(partition, requested.timestamp)

    def _segment_starts(self, partition: Partition, requested: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
        is_consumer = self._request.replica_id == CONSUMER
        upper_offset = partition.log.high_watermark if is_consumer else None
        offsets = offsets_before(partition.log, requested.timestamp, now_ms=self._now_ms, upper_offset=upper_offset)
        if requested.max_num_offsets < 0:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"{requested.max_num_offsets} offsets were asked for")
        found = offsets[: requested.max_num_offsets]
        return ListOffsetsPartitionResponse(partition_index=partition.index, old_style_offsets=found)

    def _latest(self, partition: Partition) -> ListOffsetsPartitionResponse:
        """Return the end of what a consumer can read, with the leader's epoch, or the log end with its own."""
        offset = self._last_fetchable_offset(partition)
        if self._request.replica_id != CONSUMER:
            return _at(partition, offset)
        return ListOffsetsPartitionResponse(
            partition_index=partition.index, offset=offset, leader_epoch=partition.leader_epoch
        )

    def _last_fetchable_offset(self, partition: Partition) -> int:
        if self._request.replica_id != CONSUMER:
            return partition.log.log_end_offset
        if self._request.isolation_level == READ_COMMITTED:
            return partition.log.last_stable_offset
        return partition.log.high_watermark

    def _check_available(self, partition: Partition) -> None:
        """Raise KafkaError for an offset from the high watermark on that a new leader does not know yet (KIP-207)."""
        replication = partition.replication
        if self._request.replica_id != CONSUMER or replication is None or replication.is_high_watermark_known:
            return
        is_known_to_clients = self._version >= OFFSET_NOT_AVAILABLE_SINCE
        code = ErrorCode.OFFSET_NOT_AVAILABLE if is_known_to_clients else ErrorCode.LEADER_NOT_AVAILABLE
        raise KafkaError(code, f"the high watermark of {partition.topic_name}-{partition.index} is behind")

    def _by_timestamp(self, partition: Partition, timestamp: int) -> ListOffsetsPartitionResponse:
        log = partition.log
        is_max = timestamp == MAX_TIMESTAMP
        found = log.offset_of_max_timestamp() if is_max else log.offset_for_timestamp(timestamp)
        if found is None or found.offset >= self._last_fetchable_offset(partition):
            if found is not None:
                self._check_available(partition)
            return ListOffsetsPartitionResponse(partition_index=partition.index)
        return ListOffsetsPartitionResponse(
            partition_index=partition.index,
            timestamp=found.timestamp,
            offset=found.offset,
            leader_epoch=found.leader_epoch,
        )


def _at(partition: Partition, offset: int) -> ListOffsetsPartitionResponse:
    epoch = partition.log.leader_epochs.epoch_of(offset)
    return ListOffsetsPartitionResponse(
        partition_index=partition.index, offset=offset, leader_epoch=partition.leader_epoch if epoch < 0 else epoch
    )
