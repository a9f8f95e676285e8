"""DescribeQuorum (55), versions 0-2.

The quorum is one controller in the brokers' process: the only node, or one beside several nodes, which are observers
then. Its log is the sequence of changes of the metadata image. It has no listener of its own: the response has the
broker's listener, under the name of Kafka's controller listener. A node that does not fetch the metadata any more
stays an observer for five minutes, with what it had at its last fetch.
v1 times of replicas; v2 error messages, directory ids and nodes.
Source: KafkaApis.handleDescribeQuorumRequest and KafkaRaftClient.handleDescribeQuorumRequest, Kafka 4.3.0;
tests/golden/quorum-4.3.0.jsonl and nodes-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
    ResponseTopicData,
)
from ....protocol.primitives import ZERO_UUID
from ...metadata.features import KRAFT_VERSION
from ...metadata.quorum_observers import Observer
from ...metadata.raft_voters import controller_replica
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, in_turn

METADATA_TOPIC, METADATA_PARTITION = "__cluster_metadata", 0
# The first epoch of Kafka's only controller. Here the leader never changes.
LEADER_EPOCH = 1


async def handle(context: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """Return the state of the metadata partition. A request for any other partition fails for all its partitions."""
    if _is_of_metadata(request):
        topic = ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[_metadata_partition(context)])
        return DescribeQuorumResponse(topics=[topic], nodes=[_controller_node(context)])
    return DescribeQuorumResponse(topics=await in_turn(_unknown_topic, request.topics))


def _is_of_metadata(request: DescribeQuorumRequest) -> bool:
    """Return whether the request names the metadata partition alone."""
    if len(request.topics) != 1 or request.topics[0].topic_name != METADATA_TOPIC:
        return False
    partitions = request.topics[0].partitions
    return len(partitions) == 1 and partitions[0].partition_index == METADATA_PARTITION


async def _unknown_topic(topic: RequestTopicData) -> ResponseTopicData:
    return ResponseTopicData(
        topic_name=topic.topic_name, partitions=await for_each(_unknown_partition, topic.partitions)
    )


def _unknown_partition(partition: RequestPartitionData) -> ResponsePartitionData:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ResponsePartitionData(
        partition_index=partition.partition_index, error_code=code, error_message=ERROR_MESSAGES[code]
    )


def _metadata_partition(context: RequestContext) -> ResponsePartitionData:
    image = context.node.image
    # Before KIP-853 (kraft.version 1) Kafka's voters have no directory ids.
    has_directories = image.features.level_of(KRAFT_VERSION) > 0
    controller_id, log_directory_id = controller_replica(image, context.node.replicas)
    replica = partial(
        ReplicaState,
        log_end_offset=image.offset,
        last_fetch_timestamp=context.now_ms,
        last_caught_up_timestamp=context.now_ms,
    )
    lost = context.node.controller.lost_observers
    directory_id = log_directory_id if has_directories else ZERO_UUID
    return ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=controller_id,
        leader_epoch=LEADER_EPOCH,
        high_watermark=image.offset,
        current_voters=[replica(replica_id=controller_id, replica_directory_id=directory_id)],
        observers=[
            *(
                replica(replica_id=broker.node_id, replica_directory_id=broker.directory_id)
                for broker in image.brokers
                if broker.node_id != controller_id and not lost.is_lost(broker.node_id)
            ),
            *map(_lost_observer, lost.recent(context.now_ms)),
        ],
    )


def _lost_observer(observer: Observer) -> ReplicaState:
    return ReplicaState(
        replica_id=observer.replica.replica_id,
        replica_directory_id=observer.replica.directory_id,
        log_end_offset=observer.log_end_offset,
        last_fetch_timestamp=observer.last_fetch_ms,
        last_caught_up_timestamp=observer.last_fetch_ms,
    )


def _controller_node(context: RequestContext) -> Node:
    name = context.node.config.list_of("controller.listener.names")[0]
    listener = context.listener
    return Node(
        node_id=context.node.image.configs.controller_id,
        listeners=[Listener(name=name, host=listener.advertised_host, port=listener.advertised_port)],
    )
