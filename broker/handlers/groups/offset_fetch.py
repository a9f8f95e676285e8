"""OffsetFetch (9), versions 1-10.

v1-7 one group; v2 all topics (null), and an error for the group; v3 throttle_time_ms; v5 committed_leader_epoch; v6
flexible; v7 require_stable: an offset with a pending transactional commit is UNSTABLE_OFFSET_COMMIT; v8 several groups;
v9 members of the consumer protocol; v10 topic ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from ...requests.request_context import ApiHandler, NodeServices, RequestContext

SEVERAL_GROUPS_SINCE = 8
TOPIC_IDS_SINCE = 10
NO_OFFSET = -1


def handle(context: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """Return the committed offsets of the groups; -1 for a partition without one, also if it does not exist."""
    version = context.api_version
    if version < SEVERAL_GROUPS_SINCE:
        return _single(_GroupFetch(context.node, request, by_id=False).fetch(_as_group(request)))
    group_fetch = _GroupFetch(context.node, request, by_id=version >= TOPIC_IDS_SINCE)
    return OffsetFetchResponse(groups=[group_fetch.fetch(group) for group in request.groups])


def _as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """Convert a request before v8 to a group of the newer versions."""
    if request.topics is None:
        return OffsetFetchRequestGroup(group_id=request.group_id, topics=None)
    topics = [OffsetFetchRequestTopics(name=t.name, partition_indexes=t.partition_indexes) for t in request.topics]
    return OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)


def _single(group: OffsetFetchResponseGroup) -> OffsetFetchResponse:
    """Convert the result of a group to a response before v8."""
    return OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=partition.partition_index,
                        committed_offset=partition.committed_offset,
                        committed_leader_epoch=partition.committed_leader_epoch,
                        metadata=partition.metadata,
                        error_code=partition.error_code,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in group.topics
        ],
    )


class _GroupFetch:
    """Looks up the offsets of one request."""

    def __init__(self, node: NodeServices, request: OffsetFetchRequest, *, by_id: bool) -> None:
        self._node = node
        self._is_stable_required = request.require_stable
        self._by_id = by_id

    def fetch(self, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
        try:
            self._node.coordinators.groups.offsets.check_fetch(group.group_id, group.member_id, group.member_epoch)
        except KafkaError as error:
            return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
        topics = self._all_topics(group.group_id) if group.topics is None else group.topics
        return OffsetFetchResponseGroup(
            group_id=group.group_id,
            topics=[
                self._topic_by_id(group.group_id, topic)
                if self._by_id
                else self._topic(group.group_id, topic.name, topic.partition_indexes)
                for topic in topics
            ],
        )

    def _all_topics(self, group_id: str) -> Iterable[OffsetFetchRequestTopics]:
        """Return all partitions with a committed offset of the group, as requested topics."""
        for name, partitions in self._node.coordinators.groups.offsets.of_group(group_id).items():
            topic = self._node.image.find_topic(name)
            if topic is not None:
                yield OffsetFetchRequestTopics(name=name, topic_id=topic.topic_id, partition_indexes=list(partitions))

    def _topic_by_id(self, group_id: str, topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
        found = self._node.image.find_topic_by_id(topic.topic_id)
        if found is None:
            unknown = [_no_offset(index, ErrorCode.UNKNOWN_TOPIC_ID) for index in topic.partition_indexes]
            return OffsetFetchResponseTopics(topic_id=topic.topic_id, partitions=unknown)
        result = self._topic(group_id, found.name, topic.partition_indexes)
        result.topic_id = topic.topic_id
        return result

    def _topic(self, group_id: str, topic_name: str, partition_indexes: Sequence[int]) -> OffsetFetchResponseTopics:
        partitions = [self._partition(group_id, topic_name, index) for index in partition_indexes]
        return OffsetFetchResponseTopics(name=topic_name, partitions=partitions)

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


def _no_offset(index: int, error_code: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=NO_OFFSET, metadata="", error_code=error_code
    )


HANDLER = ApiHandler(OffsetFetchRequest.read, handle)
