"""DescribeShareGroupOffsets (90), versions 0-1 (KIP-932).

v1 lag.
Source: KafkaApis.handleDescribeShareGroupOffsetsRequest and GroupCoordinatorService.describeShareGroupOffsets, Kafka
4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)
from ....protocol.messages.describe_share_group_offsets import DescribeShareGroupOffsetsResponseGroup as GroupResult
from ....protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponsePartition as PartitionResult,
)
from ....protocol.messages.describe_share_group_offsets import DescribeShareGroupOffsetsResponseTopic as TopicResult
from ....protocol.stored_records.share_state_records import ShareKey
from ...coordinators.share.share_state import NO_OFFSET
from ...requests.request_context import ApiHandler, RequestContext


def handle(context: RequestContext, request: DescribeShareGroupOffsetsRequest) -> DescribeShareGroupOffsetsResponse:
    """Return the start offsets of the groups. Without topics in the request: of all consumed partitions."""
    return DescribeShareGroupOffsetsResponse(groups=[_describe(context, group) for group in request.groups])


def _describe(context: RequestContext, group: DescribeShareGroupOffsetsRequestGroup) -> GroupResult:
    result = GroupResult(group_id=group.group_id)
    for name, indexes in _asked(context, group):
        topic = context.node.image.find_topic(name)
        partitions = [
            PartitionResult(partition_index=index, start_offset=NO_OFFSET)
            if topic is None
            else _partition(context, group.group_id, topic.topic_id, index)
            for index in indexes
        ]
        entry = TopicResult(topic_name=name, partitions=partitions)
        if topic is not None:
            entry.topic_id = topic.topic_id
        result.topics.append(entry)
    return result


def _asked(
    context: RequestContext, group: DescribeShareGroupOffsetsRequestGroup
) -> Iterable[tuple[str, Iterable[int]]]:
    if group.topics is not None:
        return [(topic.topic_name, topic.partitions) for topic in group.topics]
    found: dict[str, list[int]] = {}
    for key in context.node.coordinators.groups.share_groups.states.keys_of(group.group_id):
        name = context.node.image.topic_name_of(key.topic_id)
        if name is not None:
            found.setdefault(name, []).append(key.partition)
    return [(name, sorted(indexes)) for name, indexes in sorted(found.items())]


def _partition(context: RequestContext, group_id: str, topic_id: bytes, index: int) -> PartitionResult:
    found = context.node.coordinators.groups.share_groups.find_offset(ShareKey(group_id, topic_id, index))
    if found is None:
        return PartitionResult(partition_index=index, start_offset=NO_OFFSET)
    start_offset, leader_epoch, lag = found
    return PartitionResult(partition_index=index, start_offset=start_offset, leader_epoch=leader_epoch, lag=lag)


HANDLER = ApiHandler(DescribeShareGroupOffsetsRequest.read, handle)
