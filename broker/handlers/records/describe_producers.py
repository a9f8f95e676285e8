"""DescribeProducers (61), version 0.

Source: KafkaApis.handleDescribeProducersRequest and ReplicaManager.activeProducerState, Kafka 4.3.0;
tests/golden/cluster-4.3.0.jsonl and nodes-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)
from ....storage.producers.producer_state_entry import ProducerStateEntry
from ...metadata.metadata_image import TopicImage
from ...metadata.topic_validation import find_topic_name_error
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, in_turn

NO_TRANSACTION = -1


async def handle(context: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    """Return the active producers of each partition."""
    topics = await in_turn(partial(_topic, context.node), request.topics)
    return DescribeProducersResponse(topics=topics)


async def _topic(node: NodeServices, requested: TopicRequest) -> TopicResponse:
    topic = node.image.find_topic(requested.name)
    if topic is not None:
        partitions = await for_each(partial(_partition, node, topic), requested.partition_indexes)
        return TopicResponse(name=requested.name, partitions=partitions)
    error = _unknown(requested.name)
    refused = [
        PartitionResponse(partition_index=index, error_code=error.code, error_message=error.message)
        for index in requested.partition_indexes
    ]
    return TopicResponse(name=requested.name, partitions=refused)


def _unknown(name: str) -> KafkaError:
    reason = find_topic_name_error(name)
    if reason is not None:
        return KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")


def _partition(node: NodeServices, topic: TopicImage, index: int) -> PartitionResponse:
    partition = node.replicas.find_partition(topic.topic_id, index)
    if partition is None:
        return PartitionResponse(partition_index=index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not partition.has_replica:
        # A follower answers too.
        return PartitionResponse(partition_index=index, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    producers = [_producer(entry) for entry in partition.log.producers.active_producers()]
    return PartitionResponse(partition_index=index, active_producers=producers)


def _producer(entry: ProducerStateEntry) -> ProducerState:
    first_offset = entry.current_txn_first_offset
    return ProducerState(
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        last_sequence=entry.last_sequence,
        last_timestamp=entry.last_timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_start_offset=NO_TRANSACTION if first_offset is None else first_offset,
    )
