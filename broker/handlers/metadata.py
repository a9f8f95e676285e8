"""Metadata (3), versions 0-13.

v0 an empty list means all topics, and v0-3 have no flag: an unknown topic is created; v1 null means all topics, rack,
controller, internal topics; v2 cluster id; v4 allow_auto_topic_creation; v5 offline replicas; v7 leader epoch;
v8 authorized operations (v8-10 of the cluster too); v9 flexible; v10 topic ids in the answer; v12 topic ids in the
request; v13 an error of its own.
Source: KafkaApis.handleTopicMetadataRequest and DefaultAutoTopicCreationManager, Kafka 4.3.0; tests/golden.
"""

from __future__ import annotations

from ...protocol.error_codes import ErrorCode
from ...protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ...protocol.primitives import ZERO_UUID
from ..cluster import INTERNAL_TOPICS, Topic
from ..request_context import ApiHandler, RequestContext
from ..topic_names import find_topic_name_error

NULL_MEANS_ALL_SINCE = 1
AUTO_CREATION_FLAG_SINCE = 4
TOPIC_IDS_SINCE = 12

# Bits of AclOperation: without an authorizer everything is allowed that the kind of resource knows.
TOPIC_OPERATIONS = sum(1 << bit for bit in (3, 4, 5, 6, 7, 8, 10, 11))
CLUSTER_OPERATIONS = sum(1 << bit for bit in (5, 7, 8, 9, 10, 11, 12))


def handle(context: RequestContext, request: MetadataRequest) -> MetadataResponse:
    """Tell the brokers, and the topics asked for."""
    cluster = context.cluster
    response = MetadataResponse(
        cluster_id=cluster.cluster_id,
        controller_id=cluster.node_id,
        brokers=[
            MetadataResponseBroker(
                node_id=broker.node_id,
                host=context.listener.advertised_host,
                port=context.listener.advertised_port,
                rack=broker.rack,
            )
            for broker in cluster.brokers()
        ],
        topics=_topics(context, request),
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    if request.include_topic_authorized_operations:
        for topic in response.topics:
            if topic.error_code == ErrorCode.NONE:
                topic.topic_authorized_operations = TOPIC_OPERATIONS
    return response


def _topics(context: RequestContext, request: MetadataRequest) -> list[MetadataResponseTopic]:
    asked = request.topics
    if asked is None or (not asked and context.api_version < NULL_MEANS_ALL_SINCE):
        return [_describe(topic) for topic in context.cluster.topics.values()]
    may_create = context.api_version < AUTO_CREATION_FLAG_SINCE or request.allow_auto_topic_creation
    return [_find(context, topic, may_create) for topic in asked]


def _find(context: RequestContext, asked: MetadataRequestTopic, may_create: bool) -> MetadataResponseTopic:
    cluster = context.cluster
    if asked.name is None or (asked.topic_id != ZERO_UUID and context.api_version >= TOPIC_IDS_SINCE):
        topic = cluster.find_topic_by_id(asked.topic_id)
        if topic is not None:
            return _describe(topic)
        return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=asked.topic_id)
    topic = cluster.find_topic(asked.name)
    if topic is not None:
        return _describe(topic)
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if may_create and cluster.config.auto_create_topics_enable:
        error = _create(context, asked.name)
    return MetadataResponseTopic(error_code=error, name=asked.name, is_internal=asked.name in INTERNAL_TOPICS)


def _create(context: RequestContext, name: str) -> ErrorCode:
    """Create the topic; the answer to this request does not show it yet, as Kafka's does not."""
    if find_topic_name_error(name) is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    context.cluster.create_topic(name, context.cluster.config.num_partitions)
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _describe(topic: Topic) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                partition_index=partition.index,
                leader_id=partition.leader_id,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.replicas,
            )
            for partition in topic.partitions
        ],
    )


HANDLER = ApiHandler(MetadataRequest.read, handle)
