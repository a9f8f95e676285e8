"""DescribeShareGroupOffsets (90), versions 0-1 (KIP-932).

v1 lag.
Source: KafkaApis.handleDescribeShareGroupOffsetsRequest and GroupCoordinatorService.describeShareGroupOffsets, Kafka
4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
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
from ....protocol.primitives import ZERO_UUID
from ....protocol.stored_records.share_state_records import ShareKey
from ...coordinators.share.state_batches import NO_OFFSET
from ...requests.group_protocols import SHARE_PROTOCOL, serves_protocol
from ...requests.permissions import may_describe_topic
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, in_turn, step


async def handle(
    context: RequestContext, request: DescribeShareGroupOffsetsRequest
) -> DescribeShareGroupOffsetsResponse:
    """Return the start offsets of the groups. Without topics in the request: of all consumed partitions."""
    if not serves_protocol(context.node, SHARE_PROTOCOL):
        groups = await for_each(_refuse, request.groups)
        return DescribeShareGroupOffsetsResponse(groups=groups)
    groups = await in_turn(partial(_describe, context), request.groups)
    return DescribeShareGroupOffsetsResponse(groups=groups)


def _refuse(group: DescribeShareGroupOffsetsRequestGroup) -> GroupResult:
    """Return the error without the message that the other APIs of share groups send."""
    return GroupResult(group_id=group.group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)


async def _describe(context: RequestContext, group: DescribeShareGroupOffsetsRequestGroup) -> GroupResult:
    result = GroupResult(group_id=group.group_id)
    if group.topics is None:
        # Only the group's coordinator knows all its partitions. The offsets of named ones are known to every node.
        try:
            context.node.coordinators.groups.check_coordinator(group.group_id)
        except KafkaError as error:
            return GroupResult(group_id=group.group_id, error_code=error.code, error_message=ERROR_MESSAGES[error.code])
    for name, indexes in _asked(context, group):
        topic = context.node.image.find_topic(name)
        topic_id = ZERO_UUID if topic is None else topic.topic_id
        partitions = await for_each(partial(_partition, context, group.group_id, topic_id), indexes)
        entry = TopicResult(topic_name=name, partitions=partitions)
        if topic is not None:
            entry.topic_id = topic.topic_id
        result.topics.append(entry)
        # A topic without partitions is a step, too.
        await step()
    return result


def _asked(
    context: RequestContext, group: DescribeShareGroupOffsetsRequestGroup
) -> Iterable[tuple[str, Iterable[int]]]:
    if group.topics is not None:
        return [(topic.topic_name, topic.partitions) for topic in group.topics]
    found: dict[str, list[int]] = {}
    for key in context.node.coordinators.groups.share_groups.keys_of(group.group_id):
        name = context.node.image.topic_name_of(key.topic_id)
        if name is not None and may_describe_topic(context, name):
            found.setdefault(name, []).append(key.partition)
    return [(name, sorted(indexes)) for name, indexes in sorted(found.items())]


def _partition(context: RequestContext, group_id: str, topic_id: bytes, index: int) -> PartitionResult:
    try:
        found = context.node.coordinators.groups.share_groups.find_offset(ShareKey(group_id, topic_id, index))
    except KafkaError as error:
        # The node that coordinates the state cannot be reached.
        return PartitionResult(partition_index=index, start_offset=NO_OFFSET, error_code=error.code)
    if found is None:
        return PartitionResult(partition_index=index, start_offset=NO_OFFSET)
    start_offset, leader_epoch, lag = found
    return PartitionResult(partition_index=index, start_offset=start_offset, leader_epoch=leader_epoch, lag=lag)
