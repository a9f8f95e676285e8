"""DescribeTopicPartitions (75), version 0: topics sorted by name, in pages.

Source: DescribeTopicPartitionsRequestHandler and KRaftMetadataCache.describeTopicResponse, Kafka 4.3.0;
tests/golden/cluster-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.acl_types import ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from ...metadata.metadata_image import MetadataImage, TopicImage, is_internal_topic
from ...metadata.topic_validation import find_topic_name_error
from ...requests.permissions import authorized_operations, describable_topics, may_describe_topic
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step

START = Cursor(topic_name="", partition_index=0)


async def handle(context: RequestContext, request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    """Describe the topics from the cursor on, up to the partition limit of a page."""
    asked = set[str]()
    for topic in request.topics:
        asked.add(topic.name)
        await step()
    error = _request_error(asked, request.cursor)
    if error is not ErrorCode.NONE:
        refused = await for_each(
            lambda topic: DescribeTopicPartitionsResponseTopic(error_code=error, name=topic.name), request.topics
        )
        return DescribeTopicPartitionsResponse(topics=refused)
    node = context.node
    cursor = request.cursor or START
    # A request for all topics gets the topics that the client may describe.
    names = asked or await describable_topics(context, node.image.topics)
    limit = max(1, min(request.response_partition_limit, node.config.max_request_partition_size_limit))
    return await _page(context, sorted(name for name in names if name >= cursor.topic_name), cursor, limit)


def _request_error(names: set[str], cursor: Cursor | None) -> ErrorCode:
    if cursor is not None and ((names and cursor.topic_name not in names) or cursor.partition_index < 0):
        return ErrorCode.INVALID_REQUEST
    # Kafka's authorizer fails with an empty name.
    return ErrorCode.UNKNOWN_SERVER_ERROR if "" in names else ErrorCode.NONE


async def _page(
    context: RequestContext, names: list[str], cursor: Cursor, limit: int
) -> DescribeTopicPartitionsResponse:
    response = DescribeTopicPartitionsResponse()
    left = limit
    for name in names:
        await step()
        if not left:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        if not may_describe_topic(context, name):
            denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            response.topics.append(DescribeTopicPartitionsResponseTopic(error_code=denied, name=name))
            continue
        operations = authorized_operations(context, ResourceType.TOPIC, name)
        topic = context.node.image.find_topic(name)
        if topic is None:
            response.topics.append(_unknown(name, operations))
            continue
        first = cursor.partition_index if name == cursor.topic_name else 0
        described = _described(context.node.image, topic, first, left)
        described.topic_authorized_operations = operations
        response.topics.append(described)
        left -= len(described.partitions)
        if first + len(described.partitions) < len(topic.partitions):
            next_index = first + len(described.partitions)
            response.next_cursor = Cursor(topic_name=name, partition_index=next_index)
            break
    return response


def _unknown(name: str, operations: int) -> DescribeTopicPartitionsResponseTopic:
    is_valid = find_topic_name_error(name) is None
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_valid else ErrorCode.INVALID_TOPIC_EXCEPTION,
        name=name,
        is_internal=is_internal_topic(name),
        topic_authorized_operations=operations,
    )


def _described(image: MetadataImage, topic: TopicImage, first: int, count: int) -> DescribeTopicPartitionsResponseTopic:
    online = image.online_brokers()
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=partition.index,
                leader_id=partition.leader_id,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=partition.elr,
                last_known_elr=partition.last_known_elr,
                offline_replicas=partition.offline_replicas(online),
            )
            for partition in topic.partitions[first : first + count]
        ],
    )
