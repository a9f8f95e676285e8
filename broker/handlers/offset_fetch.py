"""OffsetFetch (9), versions 1-10.

v1-7 one group; v2 all topics (null), and an error for the group; v3 throttle_time_ms; v5 committed_leader_epoch; v6
flexible; v7 require_stable, which changes nothing while there are no transactions; v8 several groups; v9 members of the
new consumer protocol; v10 topic ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...protocol.error_codes import ErrorCode
from ...protocol.messages.offset_fetch import (
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
from ..cluster import Cluster
from ..request_context import ApiHandler, RequestContext

SEVERAL_GROUPS_SINCE = 8
TOPIC_IDS_SINCE = 10
NO_OFFSET = -1


def handle(context: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """Answer with the groups' offsets; what was not committed, of whatever group and topic, is -1."""
    version = context.api_version
    if version < SEVERAL_GROUPS_SINCE:
        return _single(_fetch_group(context.cluster, _as_group(request), by_id=False))
    by_id = version >= TOPIC_IDS_SINCE
    return OffsetFetchResponse(groups=[_fetch_group(context.cluster, group, by_id=by_id) for group in request.groups])


def _as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """Return the one group of an old version in the form of the new ones."""
    if request.topics is None:
        return OffsetFetchRequestGroup(group_id=request.group_id, topics=None)
    topics = [OffsetFetchRequestTopics(name=t.name, partition_indexes=t.partition_indexes) for t in request.topics]
    return OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)


def _single(group: OffsetFetchResponseGroup) -> OffsetFetchResponse:
    """Return the answer for one group in the form of the old versions."""
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


def _fetch_group(cluster: Cluster, group: OffsetFetchRequestGroup, *, by_id: bool) -> OffsetFetchResponseGroup:
    topics = _all_topics(cluster, group.group_id) if group.topics is None else group.topics
    return OffsetFetchResponseGroup(
        group_id=group.group_id,
        topics=[
            _fetch_topic_by_id(cluster, group.group_id, topic)
            if by_id
            else _fetch_topic(cluster, group.group_id, topic.name, topic.partition_indexes)
            for topic in topics
        ],
    )


def _all_topics(cluster: Cluster, group_id: str) -> Iterable[OffsetFetchRequestTopics]:
    """Return everything that the group has committed, as a request for it."""
    for name, partitions in cluster.groups.offsets.of_group(group_id).items():
        topic = cluster.find_topic(name)
        if topic is not None:
            yield OffsetFetchRequestTopics(name=name, topic_id=topic.topic_id, partition_indexes=list(partitions))


def _fetch_topic_by_id(cluster: Cluster, group_id: str, topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    found = cluster.find_topic_by_id(topic.topic_id)
    if found is None:
        unknown = [_no_offset(index, ErrorCode.UNKNOWN_TOPIC_ID) for index in topic.partition_indexes]
        return OffsetFetchResponseTopics(topic_id=topic.topic_id, partitions=unknown)
    answer = _fetch_topic(cluster, group_id, found.name, topic.partition_indexes)
    answer.topic_id = topic.topic_id
    return answer


def _fetch_topic(
    cluster: Cluster, group_id: str, topic_name: str, partition_indexes: Sequence[int]
) -> OffsetFetchResponseTopics:
    partitions: list[OffsetFetchResponsePartitions] = []
    for index in partition_indexes:
        committed = cluster.groups.offsets.find(group_id, topic_name, index)
        partitions.append(
            _no_offset(index, ErrorCode.NONE)
            if committed is None
            else OffsetFetchResponsePartitions(
                partition_index=index,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                metadata=committed.metadata,
            )
        )
    return OffsetFetchResponseTopics(name=topic_name, partitions=partitions)


def _no_offset(index: int, error_code: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=NO_OFFSET, metadata="", error_code=error_code
    )


HANDLER = ApiHandler(OffsetFetchRequest.read, handle)
