"""Metadata (3), versions 0-13.

v0 an empty list means all topics; v0-3 always create an unknown topic; v1 null means all topics, rack, controller,
internal topics; v2 cluster id; v4 allow_auto_topic_creation; v5 offline replicas; v7 leader epoch; v8 authorized
operations (v8-10 of the cluster too); v9 flexible; v10 topic ids in the response; v12 topic ids in the request; v13
top-level error code.
Source: KafkaApis.handleTopicMetadataRequest and DefaultAutoTopicCreationManager, Kafka 4.3.0; tests/golden.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from functools import partial

from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ....protocol.primitives import ZERO_UUID
from ...coordinators.internal_topics import INTERNAL_TOPICS, ensure_internal_topic
from ...metadata.metadata_image import NO_LEADER, TopicImage, is_internal_topic
from ...metadata.replica_placement import with_replication_key
from ...metadata.topic_validation import PARTITIONS_PER_REQUEST_MAX, collision_key_of, find_topic_name_error
from ...requests.advertised_endpoint import alive_brokers, controller_id_of
from ...requests.mutation_quota import record_mutations
from ...requests.permissions import (
    authorized_operations,
    authorized_operations_on_cluster,
    describable_topics,
    may_describe_topic,
    permits,
    permits_on_cluster,
)
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step

logger = logging.getLogger(__name__)

NULL_MEANS_ALL_SINCE = 1
AUTO_CREATION_FLAG_SINCE = 4
TOPIC_IDS_SINCE = 12
# The errors of topics without authorized operations.
_WITHOUT_OPERATIONS = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_TOPIC_ID)


async def handle(context: RequestContext, request: MetadataRequest) -> MetadataResponse:
    """Return the brokers and the requested topics; create unknown topics if that is enabled."""
    node = context.node
    error = _request_error(context.api_version, request.topics or [])
    if error is not ErrorCode.NONE:
        return _error_response(request.topics or [], error)
    response = MetadataResponse(
        cluster_id=node.image.cluster_id,
        controller_id=controller_id_of(context),
        brokers=[
            MetadataResponseBroker(node_id=broker.node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
            for broker, endpoint in alive_brokers(context)
        ],
        topics=await _topics(context, request),
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = authorized_operations_on_cluster(context)
    if request.include_topic_authorized_operations:
        for topic in response.topics:
            if topic.error_code not in _WITHOUT_OPERATIONS:
                topic.topic_authorized_operations = authorized_operations(context, ResourceType.TOPIC, topic.name or "")
            await step()
    # A topic is returned only after it is saved: otherwise records could outlive their topic.
    await node.controller.saved()
    return response


def _request_error(version: int, requested: list[MetadataRequestTopic]) -> ErrorCode:
    """Return the error of the whole request, or NONE."""
    uses_ids = any(topic.topic_id != ZERO_UUID for topic in requested)
    has_no_name = any(topic.name is None for topic in requested)
    if version < TOPIC_IDS_SINCE:
        return ErrorCode.INVALID_REQUEST if uses_ids or has_no_name else ErrorCode.NONE
    return ErrorCode.UNKNOWN_SERVER_ERROR if has_no_name and not uses_ids else ErrorCode.NONE


def _error_response(requested: list[MetadataRequestTopic], error: ErrorCode) -> MetadataResponse:
    return MetadataResponse(
        error_code=error,
        topics=[
            MetadataResponseTopic(error_code=error, name=topic.name or "", topic_id=topic.topic_id)
            for topic in requested
        ],
    )


async def _topics(context: RequestContext, request: MetadataRequest) -> list[MetadataResponseTopic]:
    requested, image = request.topics, context.node.image
    if requested is None or (not requested and context.api_version < NULL_MEANS_ALL_SINCE):
        visible = await describable_topics(context, image.topics)
        topics = [topic for name in visible if (topic := image.find_topic(name)) is not None]
        return await for_each(partial(_describe, image.online_brokers()), topics)
    # A topic that appears twice has one result. If any topic has an id, names are ignored.
    topic_ids = dict.fromkeys(topic.topic_id for topic in requested if topic.topic_id != ZERO_UUID)
    if topic_ids:
        return await for_each(partial(_describe_id, context, image.online_brokers()), topic_ids)
    may_create = context.api_version < AUTO_CREATION_FLAG_SINCE or request.allow_auto_topic_creation
    names = dict.fromkeys(topic.name or "" for topic in requested)
    results = await for_each(partial(_describe_name, context, image.online_brokers()), names)
    if may_create and context.node.config.auto_create_topics_enable:
        unknown = [each for each in results if each.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        allowed = await _may_create(context, unknown)
        if context.node.reaches_controller:
            # As in Kafka, this response does not have the new topics, and none is created without the controller.
            await _create(context, [topic.name or "" for topic in allowed])
            if not context.rules.creates_topics_after_metadata:
                await for_each(partial(_report_creation, context), allowed)
    return results


async def _may_create(context: RequestContext, unknown: list[MetadataResponseTopic]) -> list[MetadataResponseTopic]:
    """Return the results of unknown topics that the client may create; the others get their error."""
    if permits_on_cluster(context, AclOperation.CREATE):
        return unknown
    allowed: list[MetadataResponseTopic] = []
    for topic in unknown:
        if permits(context, AclOperation.CREATE, ResourceType.TOPIC, topic.name or ""):
            allowed.append(topic)
        else:
            topic.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        await step()
    return allowed


def _report_creation(context: RequestContext, topic: MetadataResponseTopic) -> None:
    """Report a new topic as one that has no leader yet, like a broker with ZooKeeper."""
    if context.node.image.find_topic(topic.name or "") is not None:
        topic.error_code = ErrorCode.LEADER_NOT_AVAILABLE


def _describe_id(context: RequestContext, online: Collection[int], topic_id: bytes) -> MetadataResponseTopic:
    topic = context.node.image.find_topic_by_id(topic_id)
    if topic is not None:
        if not may_describe_topic(context, topic.name):
            return MetadataResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=None, topic_id=topic_id)
        return _describe(online, topic)
    return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id)


def _describe_name(context: RequestContext, online: Collection[int], name: str) -> MetadataResponseTopic:
    if not may_describe_topic(context, name):
        return MetadataResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name)
    topic = context.node.image.find_topic(name)
    if topic is not None:
        return _describe(online, topic)
    is_allowed = find_topic_name_error(name) is None
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_allowed else ErrorCode.INVALID_TOPIC_EXCEPTION
    return MetadataResponseTopic(error_code=error, name=name, is_internal=is_internal_topic(name))


async def _create(context: RequestContext, names: list[str]) -> None:
    """Create topics on demand, one a step; internal topics with the configs of their coordinator.

    A name that collides with an existing topic is skipped, but not one that collides with another new name. If the
    files of a topic cannot be created, the error is logged, and the client retries.
    """
    node = context.node
    if len(names) * node.config.num_partitions > PARTITIONS_PER_REQUEST_MAX:
        # Kafka's broker asks its controller for all of them in one request, which the controller refuses.
        logger.warning("%d topics are not created: more than %d partitions", len(names), PARTITIONS_PER_REQUEST_MAX)
        return
    taken = {collision_key_of(name) for name in node.image.topics} if names else set[str]()
    coordinators = {internal.name: coordinator_type for coordinator_type, internal in INTERNAL_TOPICS.items()}
    for name in names:
        try:
            if name in coordinators:
                ensure_internal_topic(node.controller, coordinators[name])
            elif collision_key_of(name) not in taken:
                record_mutations(context, node.config.num_partitions, strict_since=0)
                node.controller.create_topic(name, node.config.num_partitions)
        except KafkaError as error:
            logger.error("topic %s is not created: %s", name, with_replication_key(error, node.config))
        await step()


def _describe(online: Collection[int], topic: TopicImage) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                error_code=ErrorCode.LEADER_NOT_AVAILABLE if partition.leader_id == NO_LEADER else ErrorCode.NONE,
                partition_index=partition.index,
                leader_id=partition.leader_id,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                offline_replicas=partition.offline_replicas(online),
            )
            for partition in topic.partitions
        ],
    )
