"""OffsetFetch (9), versions 0-10.

v1-7 one group; v2 all topics (null), and an error for the group; v3 throttle_time_ms; v5 committed_leader_epoch; v6
flexible; v7 require_stable: an offset with a pending transactional commit is UNSTABLE_OFFSET_COMMIT; v8 several groups;
v9 members of the consumer protocol; v10 topic ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from ...requests.permissions import may_describe_topic
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, in_turn

# Version 0 is for offsets in ZooKeeper. With ZooKeeper, they are here those of the coordinator.
COORDINATOR_SINCE = 1
GROUP_ERROR_SINCE = 2
SEVERAL_GROUPS_SINCE = 8
TOPIC_IDS_SINCE = 10
NO_OFFSET = -1


async def handle(context: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """Return the committed offsets of the groups; -1 for a partition without one, also if it does not exist."""
    version = context.api_version
    if version < SEVERAL_GROUPS_SINCE:
        group = await _as_group(request)
        if version < COORDINATOR_SINCE and not context.node.image.features.uses_zookeeper:
            refused = await for_each(partial(_refuse_topic, ErrorCode.UNSUPPORTED_VERSION), group.topics or [])
            return await _single(OffsetFetchResponseGroup(topics=refused))
        fetched = await _GroupFetch(context, request, by_id=False).fetch(group)
        if fetched.error_code and version < GROUP_ERROR_SINCE:
            fetched.topics = await for_each(partial(_refuse_topic, fetched.error_code), group.topics or [])
        return await _single(fetched)
    group_fetch = _GroupFetch(context, request, by_id=version >= TOPIC_IDS_SINCE)
    return OffsetFetchResponse(groups=await in_turn(group_fetch.fetch, request.groups))


async def _as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """Convert a request before v8 to a group of the newer versions."""
    if request.topics is None:
        return OffsetFetchRequestGroup(group_id=request.group_id, topics=None)
    topics = await for_each(
        lambda each: OffsetFetchRequestTopics(name=each.name, partition_indexes=each.partition_indexes), request.topics
    )
    return OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)


def _refuse_topic(error_code: int, topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    """Return the error of the group for each partition."""
    partitions = [_no_offset(index, error_code) for index in topic.partition_indexes]
    return OffsetFetchResponseTopics(name=topic.name, partitions=partitions)


async def _single(group: OffsetFetchResponseGroup) -> OffsetFetchResponse:
    """Convert the result of a group to a response before v8."""
    topics = await in_turn(_single_topic, group.topics)
    return OffsetFetchResponse(error_code=group.error_code, topics=topics)


async def _single_topic(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic:
    partitions = await for_each(_single_partition, topic.partitions)
    return OffsetFetchResponseTopic(name=topic.name, partitions=partitions)


def _single_partition(partition: OffsetFetchResponsePartitions) -> OffsetFetchResponsePartition:
    return OffsetFetchResponsePartition(
        partition_index=partition.partition_index,
        committed_offset=partition.committed_offset,
        committed_leader_epoch=partition.committed_leader_epoch,
        metadata=partition.metadata,
        error_code=partition.error_code,
    )


class _GroupFetch:
    """Looks up the offsets of one request."""

    def __init__(self, context: RequestContext, request: OffsetFetchRequest, *, by_id: bool) -> None:
        self._context = context
        self._node = context.node
        self._is_stable_required = request.require_stable
        self._by_id = by_id

    async def fetch(self, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
        try:
            self._node.coordinators.groups.offsets.check_fetch(group.group_id, group.member_id, group.member_epoch)
        except KafkaError as error:
            return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
        asked = list(self._all_topics(group.group_id)) if group.topics is None else group.topics
        topics = await in_turn(partial(self._topic, group.group_id), asked)
        try:
            # Another node may coordinate the group since a step: what was read after that is no offset.
            self._node.coordinators.groups.check_coordinator(group.group_id)
        except KafkaError as error:
            return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
        return OffsetFetchResponseGroup(group_id=group.group_id, topics=topics)

    def _all_topics(self, group_id: str) -> Iterable[OffsetFetchRequestTopics]:
        """Return all partitions with a committed offset of the group that the client may describe, as requested."""
        for name, partitions in self._node.coordinators.groups.offsets.of_group(group_id).items():
            topic = self._node.image.find_topic(name)
            if topic is not None and may_describe_topic(self._context, name):
                yield OffsetFetchRequestTopics(name=name, topic_id=topic.topic_id, partition_indexes=list(partitions))

    async def _topic(self, group_id: str, topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
        indexes = topic.partition_indexes
        found = self._node.image.find_topic_by_id(topic.topic_id) if self._by_id else None
        if self._node.consumption is not None:
            name = topic.name if found is None else found.name
            self._node.consumption.asked(self._context, group_id, name, indexes)
        if not self._by_id:
            partitions = await for_each(partial(self._partition, group_id, topic.name), indexes)
            return OffsetFetchResponseTopics(name=topic.name, partitions=partitions)
        if found is None:
            partitions = await for_each(lambda index: _no_offset(index, ErrorCode.UNKNOWN_TOPIC_ID), indexes)
            return OffsetFetchResponseTopics(topic_id=topic.topic_id, partitions=partitions)
        partitions = await for_each(partial(self._partition, group_id, found.name), indexes)
        return OffsetFetchResponseTopics(name=found.name, topic_id=topic.topic_id, partitions=partitions)

    def _partition(self, group_id: str, topic_name: str, index: int) -> OffsetFetchResponsePartitions:
        offsets = self._node.coordinators.groups.offsets
        if self._is_stable_required and offsets.is_pending(group_id, topic_name, index):
            return _no_offset(index, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        committed = offsets.find(group_id, topic_name, index)
        topic = self._node.image.find_topic(topic_name)
        if committed is None or (topic is not None and not committed.is_of_topic(topic.topic_id)):
            # No offset, or one of a deleted topic of that name.
            return _no_offset(index, ErrorCode.NONE)
        return OffsetFetchResponsePartitions(
            partition_index=index,
            committed_offset=committed.offset,
            committed_leader_epoch=committed.leader_epoch,
            metadata=committed.metadata,
        )


def _no_offset(index: int, error_code: int) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=NO_OFFSET, metadata="", error_code=error_code
    )
