"""A share group on three nodes: its coordinator, the coordinators of its states and the leaders of its partitions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

import pytest

from fauxka.broker.isolation import Isolation
from fauxka.broker.metadata.metadata_image import NO_LEADER, TopicImage
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from fauxka.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from fauxka.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from fauxka.protocol.messages.share_acknowledge import PartitionData as AcknowledgeResult
from fauxka.protocol.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    LeaderIdAndEpoch,
    PartitionData,
    ShareFetchRequest,
    ShareFetchResponse,
)
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from ..blocking_client import BlockingClient, batch
from ..moved_leaders import move_leader
from ..running_cluster import RunningCluster

GROUP, TOPIC, MEMBER = "workers", "orders", "AAAAAAAAAAAAAAAAAAAAAQ"
NODES = (1, 2, 3)
GROUP_RESOURCE = 32
ACCEPT = 1
# The partitions of TOPIC are led by node 1, 2 and 3. The group's coordinator is node 1; the share coordinators of its
# states are node 2 and 3.
LED_BY = (1, 2, 3)
GROUPS_ON = 1
SESSION_MS = 10_000
Range = tuple[int, int, int]


class Scene:
    """Three nodes with a share group that reads TOPIC from the first record on."""

    def __init__(self, running: RunningCluster, clients: Mapping[int, BlockingClient]) -> None:
        self.running = running
        self.clients = clients
        self.offsets = self._create("__consumer_offsets", [[1, 2, 3]])
        self.states = self._create("__share_group_state", [[2, 3], [3, 2]])
        self.topic = self._create(TOPIC, [[1, 2], [2, 3], [3, 1]])
        self._begin_at_the_earliest()

    def _create(self, name: str, layout: Sequence[Sequence[int]]) -> TopicImage:
        controller = self.running.cluster.controller
        return self.running.call(lambda: controller.create_topic(name, len(layout), assignments=layout))

    def _begin_at_the_earliest(self) -> None:
        entry = AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=GROUP, configs=[entry])
        request = IncrementalAlterConfigsRequest(resources=[resource])
        read = IncrementalAlterConfigsResponse.read
        self.clients[1].send(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request, read)

    def move(self, topic: TopicImage, node_id: int, index: int = 0) -> None:
        self.running.call(lambda: move_leader(self.running.cluster, topic, index, node_id))

    def produce(self) -> None:
        """Write a record to each partition."""
        for partition in self.topic.partitions:
            answer = self.clients[partition.leader_id].produce(TOPIC, batch(b"v"), partition.index)
            assert answer.error_code == ErrorCode.NONE

    def heartbeat(self, node_id: int, epoch: int) -> ShareGroupHeartbeatResponse:
        request = ShareGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=MEMBER,
            member_epoch=epoch,
            subscribed_topic_names=None if epoch else [TOPIC],
        )
        return self.clients[node_id].send(ApiKey.SHARE_GROUP_HEARTBEAT, 1, request, ShareGroupHeartbeatResponse.read)

    def join(self) -> int:
        """Join the group until all partitions are assigned. Return the member epoch."""
        epoch = self.heartbeat(GROUPS_ON, 0).member_epoch
        for _ in range(5):
            response = self.heartbeat(GROUPS_ON, epoch)
            epoch = response.member_epoch
            if response.assignment is not None and response.assignment.topic_partitions:
                assert response.assignment.topic_partitions[0].partitions == [0, 1, 2]
                return epoch
            time.sleep(0.05)
        raise AssertionError("nothing is assigned")

    def fetch(self, node_id: int, epoch: int, indexes: Sequence[int] = (0, 1, 2)) -> ShareFetchResponse:
        partitions = [FetchPartition(partition_index=index) for index in indexes]
        request = ShareFetchRequest(
            group_id=GROUP,
            member_id=MEMBER,
            share_session_epoch=epoch,
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=1_000_000,
            max_records=100,
            batch_size=100,
            topics=[FetchTopic(topic_id=self.topic.topic_id, partitions=partitions)],
        )
        return self.clients[node_id].send(ApiKey.SHARE_FETCH, 2, request, ShareFetchResponse.read)

    def acknowledge(self, node_id: int, epoch: int, index: int, last_offset: int = 0) -> AcknowledgeResult:
        accepted = AcknowledgementBatch(first_offset=0, last_offset=last_offset, acknowledge_types=[ACCEPT])
        partition = AcknowledgePartition(partition_index=index, acknowledgement_batches=[accepted])
        request = ShareAcknowledgeRequest(
            group_id=GROUP,
            member_id=MEMBER,
            share_session_epoch=epoch,
            topics=[AcknowledgeTopic(topic_id=self.topic.topic_id, partitions=[partition])],
        )
        answer = self.clients[node_id].send(ApiKey.SHARE_ACKNOWLEDGE, 2, request, ShareAcknowledgeResponse.read)
        assert answer.error_code == ErrorCode.NONE, answer
        return answer.responses[0].partitions[0]

    def start_offsets(self, node_id: int) -> list[tuple[int, int]]:
        """Return start offset and lag of each partition of the group."""
        group = DescribeShareGroupOffsetsRequestGroup(group_id=GROUP, topics=None)
        request = DescribeShareGroupOffsetsRequest(groups=[group])
        read = DescribeShareGroupOffsetsResponse.read
        (described,) = self.clients[node_id].send(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, 1, request, read).groups
        assert described.error_code == ErrorCode.NONE
        return [(each.start_offset, each.lag) for topic in described.topics for each in topic.partitions]


@pytest.fixture
def scene() -> Iterator[Scene]:
    with RunningCluster(**{"group.share.assignment.interval.ms": "0"}) as running, ExitStack() as stack:
        yield Scene(running, {node_id: stack.enter_context(running.client(node_id)) for node_id in NODES})


def acquired(response: ShareFetchResponse) -> dict[int, list[Range]]:
    """Return first and last offset and delivery count of the acquired records of each partition without an error."""
    return {
        each.partition_index: [(got.first_offset, got.last_offset, got.delivery_count) for got in each.acquired_records]
        for topic in response.responses
        for each in topic.partitions
        if not each.error_code
    }


def partition_of(response: ShareFetchResponse, index: int) -> PartitionData:
    (found,) = [each for topic in response.responses for each in topic.partitions if each.partition_index == index]
    return found


def test_group_gets_the_records_of_each_leader(scene: Scene) -> None:
    scene.produce()
    scene.join()

    fetched = [acquired(scene.fetch(node_id, 0)) for node_id in LED_BY]
    accepted = [scene.acknowledge(node_id, 1, index) for index, node_id in enumerate(LED_BY)]

    assert fetched == [{index: [(0, 0, 1)]} for index in range(3)]
    assert [each.error_code for each in accepted] == [ErrorCode.NONE] * 3
    # The start offset as it was when the acknowledgement was written; the lag is 1 before.
    assert scene.start_offsets(GROUPS_ON) == [(0, 0)] * 3
    states = [node.coordinators.share_states.keys_of(GROUP) for node in scene.running.cluster.nodes]
    assert [len(states[0]), len(states[1]) + len(states[2])] == [0, 3]


def test_each_share_coordinator_deletes_the_states_in_a_deleted_topic(scene: Scene) -> None:
    scene.join()
    controller, nodes = scene.running.cluster.controller, scene.running.cluster.nodes
    before = scene.running.call(lambda: [len(node.coordinators.share_states.keys_of(GROUP)) for node in nodes])

    scene.running.call(lambda: controller.delete_topics([scene.topic]))

    after = scene.running.call(lambda: [node.coordinators.share_states.keys_of(GROUP) for node in nodes])
    assert sum(before) == len(LED_BY)
    assert after == [[], [], []]


def test_other_nodes_name_the_leader(scene: Scene) -> None:
    scene.join()

    response = scene.fetch(3, 0)

    # Of every partition, on each request, like Kafka.
    assert partition_of(response, 0).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition_of(response, 0).current_leader == LeaderIdAndEpoch(leader_id=1, leader_epoch=0)
    assert partition_of(response, 2).current_leader == LeaderIdAndEpoch()
    addresses = {each.node_id: f"{each.host}:{each.port}" for each in response.node_endpoints}
    assert list(addresses.items()) == [(node_id, scene.running.address(node_id)) for node_id in (1, 2)]
    refused = scene.acknowledge(3, 1, 0)
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert refused.error_message == "This server does not host this topic-partition."


def test_new_leader_goes_on_with_the_written_state(scene: Scene) -> None:
    scene.produce()
    scene.produce()
    scene.join()
    scene.fetch(1, 0, [0])
    scene.acknowledge(1, 1, 0)

    scene.move(scene.topic, 2)

    lost = scene.fetch(1, 2, [0])
    assert partition_of(lost, 0).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    # The lock of the second record has ended with its leader; only acknowledgements are written.
    assert acquired(scene.fetch(2, 0, [0])) == {0: [(1, 1, 1)]}


def test_states_and_members_survive_new_coordinators(scene: Scene) -> None:
    scene.produce()
    epoch = scene.join()
    scene.fetch(1, 0, [0])
    for index, node_id in ((0, 3), (1, 2)):
        scene.move(scene.states, node_id, index)
    scene.move(scene.offsets, 3)

    assert scene.acknowledge(1, 1, 0).error_code == ErrorCode.NONE
    assert scene.heartbeat(GROUPS_ON, epoch).error_code == ErrorCode.NOT_COORDINATOR
    assert scene.heartbeat(3, epoch).error_code == ErrorCode.NONE
    assert scene.start_offsets(3)[0] == (0, 0)


def test_state_is_listed_once_while_its_old_coordinator_is_cut_off_from_the_controller(scene: Scene) -> None:
    scene.produce()
    scene.join()
    for index, node_id in enumerate(LED_BY):
        scene.fetch(node_id, 0)
        scene.acknowledge(node_id, 1, index)

    scene.running.isolate(2, [Isolation.CONTROLLER])
    scene.running.advance(SESSION_MS)

    assert scene.running.partition("__share_group_state").leader_id == 3
    assert scene.start_offsets(GROUPS_ON) == [(0, 0)] * 3


def test_acknowledgement_fails_while_the_state_has_no_coordinator(scene: Scene) -> None:
    scene.produce()
    scene.join()
    scene.fetch(1, 0, [0])
    for index in range(2):
        scene.move(scene.states, NO_LEADER, index)

    refused = scene.acknowledge(1, 1, 0)
    for index in range(2):
        scene.move(scene.states, 2, index)

    assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert scene.acknowledge(1, 2, 0).error_code == ErrorCode.NONE


def test_altered_offset_reaches_the_leader(scene: Scene) -> None:
    scene.produce()
    scene.join()
    assert acquired(scene.fetch(2, 0, [1])) == {1: [(0, 0, 1)]}
    scene.acknowledge(2, 1, 1)
    scene.heartbeat(GROUPS_ON, -1)

    partition = AlterShareGroupOffsetsRequestPartition(partition_index=1, start_offset=0)
    topic = AlterShareGroupOffsetsRequestTopic(topic_name=TOPIC, partitions=[partition])
    request = AlterShareGroupOffsetsRequest(group_id=GROUP, topics=[topic])
    read = AlterShareGroupOffsetsResponse.read
    altered = scene.clients[GROUPS_ON].send(ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request, read)

    assert altered.responses[0].partitions[0].error_code == ErrorCode.NONE
    assert acquired(scene.fetch(2, 2, [1])) == {1: [(0, 0, 1)]}


def test_lag_of_any_start_offset_is_a_long_as_in_java(scene: Scene) -> None:
    scene.produce()
    scene.join()
    scene.heartbeat(GROUPS_ON, -1)
    client, least = scene.clients[GROUPS_ON], -(2**63)

    partition = AlterShareGroupOffsetsRequestPartition(partition_index=1, start_offset=least)
    topic = AlterShareGroupOffsetsRequestTopic(topic_name=TOPIC, partitions=[partition])
    request = AlterShareGroupOffsetsRequest(group_id=GROUP, topics=[topic])
    client.send(ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request, AlterShareGroupOffsetsResponse.read)
    group = DescribeShareGroupOffsetsRequestGroup(group_id=GROUP, topics=None)
    described = client.send(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        1,
        DescribeShareGroupOffsetsRequest(groups=[group]),
        DescribeShareGroupOffsetsResponse.read,
    )

    (found,) = [
        each for of_topic in described.groups[0].topics for each in of_topic.partitions if each.partition_index == 1
    ]
    assert (found.start_offset, found.lag) == (least, least + 1)


def test_deleted_group_leaves_no_state_on_any_node(scene: Scene) -> None:
    scene.produce()
    scene.join()
    scene.fetch(2, 0, [1])
    scene.heartbeat(GROUPS_ON, -1)

    request = DeleteGroupsRequest(groups_names=[GROUP])
    deleted = scene.clients[GROUPS_ON].send(ApiKey.DELETE_GROUPS, 2, request, DeleteGroupsResponse.read)

    assert deleted.results[0].error_code == ErrorCode.NONE
    nodes = scene.running.cluster.nodes
    keys = scene.running.call(lambda: [node.coordinators.share_states.keys_of(GROUP) for node in nodes])
    assert keys == [[], [], []]
