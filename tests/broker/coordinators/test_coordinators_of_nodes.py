"""Groups and transactions of three nodes: each has its coordinator, which may become another node."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

from fauxka.broker.metadata.metadata_image import NO_LEADER, TopicImage
from fauxka.broker.node import Node
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from fauxka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from fauxka.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from fauxka.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from fauxka.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from fauxka.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from fauxka.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from fauxka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from fauxka.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

from ..blocking_client import BlockingClient
from ..moved_leaders import move_leader
from ..running_cluster import RunningCluster
from ..running_node import wait_until

GROUP, ID, TOPIC = "readers", "tx", "orders"
NODES = (1, 2, 3)
# The first coordinators.
GROUPS_ON, TRANSACTIONS_ON = 1, 2
SECONDS_MAX = 20.0
TIMEOUT_MS = 60_000
# Produce from which batches add their partition to the transaction.
JOINS_SINCE = 12
Producer = tuple[int, int]


class Scene:
    """Three nodes. Node 1, 2 and 3 lead partition 0, 1 and 2 of TOPIC, and every node has a replica of each."""

    def __init__(self, running: RunningCluster, clients: Mapping[int, BlockingClient]) -> None:
        self.running = running
        self.clients = clients
        self.offsets = self._create("__consumer_offsets", [[1, 2, 3]])
        self.states = self._create("__transaction_state", [[2, 3, 1]])
        self.topic = self._create(TOPIC, [[1, 2, 3], [2, 3, 1], [3, 1, 2]])

    def _create(self, name: str, layout: Sequence[Sequence[int]]) -> TopicImage:
        controller = self.running.cluster.controller
        return self.running.call(lambda: controller.create_topic(name, len(layout), assignments=layout))

    def move(self, topic: TopicImage, node_id: int, index: int = 0) -> None:
        self.running.call(lambda: move_leader(self.running.cluster, topic, index, node_id))

    @contextmanager
    def isolated(self, node_id: int) -> Generator[None]:
        """Let the node reach no other node, and no other node reach it."""
        nodes = self.running.cluster.nodes
        found = [(node, node.find_node) for node in nodes]

        def cut() -> None:
            for node, find in found:
                node.find_node = partial(_find_unless, find, {node_id, node.node_id})

        def mend() -> None:
            for node, find in found:
                node.find_node = find

        self.running.call(cut)
        try:
            yield
        finally:
            self.running.call(mend)

    # -- groups

    def join(self, node_id: int) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=30_000,
            rebalance_timeout_ms=30_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        # Before version 4, a member needs no id to join.
        return self.clients[node_id].send(ApiKey.JOIN_GROUP, 3, request, JoinGroupResponse.read)

    def stable_member(self) -> str:
        """Return the id of the only member of the stable group."""
        member_id = self.join(GROUPS_ON).member_id
        assignments = [SyncGroupRequestAssignment(member_id=member_id, assignment=b"all")]
        request = SyncGroupRequest(group_id=GROUP, generation_id=1, member_id=member_id, assignments=assignments)
        synced = self.clients[GROUPS_ON].send(ApiKey.SYNC_GROUP, 3, request, SyncGroupResponse.read)
        assert synced.assignment == b"all"
        return member_id

    def heartbeat(self, node_id: int, member_id: str) -> int:
        request = HeartbeatRequest(group_id=GROUP, generation_id=1, member_id=member_id)
        return self.clients[node_id].send(ApiKey.HEARTBEAT, 4, request, HeartbeatResponse.read).error_code

    def commit(self, node_id: int, member_id: str, offset: int) -> int:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
        request = OffsetCommitRequest(
            group_id=GROUP, generation_id_or_member_epoch=1, member_id=member_id, topics=[topic]
        )
        answer = self.clients[node_id].send(ApiKey.OFFSET_COMMIT, 8, request, OffsetCommitResponse.read)
        return answer.topics[0].partitions[0].error_code

    def committed(self, node_id: int) -> int:
        asked = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=[asked])])
        (group,) = self.clients[node_id].send(ApiKey.OFFSET_FETCH, 8, request, OffsetFetchResponse.read).groups
        assert not group.error_code, group
        return group.topics[0].partitions[0].committed_offset

    def described(self, node_id: int) -> DescribedGroup:
        request = DescribeGroupsRequest(groups=[GROUP])
        return self.clients[node_id].send(ApiKey.DESCRIBE_GROUPS, 5, request, DescribeGroupsResponse.read).groups[0]

    def listed_groups(self, node_id: int) -> list[str]:
        answer = self.clients[node_id].send(ApiKey.LIST_GROUPS, 4, ListGroupsRequest(), ListGroupsResponse.read)
        return [group.group_id for group in answer.groups]

    # -- transactions

    def init(self, node_id: int) -> InitProducerIdResponse:
        request = InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=TIMEOUT_MS)
        return self.clients[node_id].send(ApiKey.INIT_PRODUCER_ID, 5, request, InitProducerIdResponse.read)

    def add(self, node_id: int, producer: Producer, *indexes: int) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=ID,
            v3_and_below_producer_id=producer[0],
            v3_and_below_producer_epoch=producer[1],
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=list(indexes))],
        )
        client = self.clients[node_id]
        answer = client.send(ApiKey.ADD_PARTITIONS_TO_TXN, 3, request, AddPartitionsToTxnResponse.read)
        assert not str(answer).count("error_code=1"), answer

    def produce(self, index: int, producer: Producer, version: int = JOINS_SINCE) -> int:
        """Write a record of the transaction to the leader of the partition. Return the error code."""
        options = BatchOptions(
            producer_id=producer[0], producer_epoch=producer[1], base_sequence=0, is_transactional=True
        )
        records = build_batch([Record(b"v", timestamp=time.time_ns() // 1_000_000)], options)
        data = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=index, records=records)])
        request = ProduceRequest(transactional_id=ID, acks=-1, timeout_ms=TIMEOUT_MS, topic_data=[data])
        client = self.clients[self.topic.partitions[index].leader_id]
        answer = client.send(ApiKey.PRODUCE, version, request, ProduceResponse.read)
        return answer.responses[0].partition_responses[0].error_code

    def commit_offset(self, node_id: int, producer: Producer, version: int, offset: int = 7) -> int:
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id=ID,
            group_id=GROUP,
            producer_id=producer[0],
            producer_epoch=producer[1],
            topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
        )
        client = self.clients[node_id]
        answer = client.send(ApiKey.TXN_OFFSET_COMMIT, version, request, TxnOffsetCommitResponse.read)
        return answer.topics[0].partitions[0].error_code

    def add_offsets(self, node_id: int, producer: Producer) -> int:
        request = AddOffsetsToTxnRequest(
            transactional_id=ID, producer_id=producer[0], producer_epoch=producer[1], group_id=GROUP
        )
        client = self.clients[node_id]
        return client.send(ApiKey.ADD_OFFSETS_TO_TXN, 4, request, AddOffsetsToTxnResponse.read).error_code

    def end(self, node_id: int, producer: Producer, *, is_commit: bool = True) -> int:
        request = EndTxnRequest(
            transactional_id=ID, producer_id=producer[0], producer_epoch=producer[1], committed=is_commit
        )
        return self.clients[node_id].send(ApiKey.END_TXN, 5, request, EndTxnResponse.read).error_code

    def state(self, node_id: int) -> str:
        request = DescribeTransactionsRequest(transactional_ids=[ID])
        client = self.clients[node_id]
        answer = client.send(ApiKey.DESCRIBE_TRANSACTIONS, 0, request, DescribeTransactionsResponse.read)
        return answer.transaction_states[0].transaction_state

    def listed_ids(self, node_id: int) -> list[str]:
        client = self.clients[node_id]
        answer = client.send(ApiKey.LIST_TRANSACTIONS, 1, ListTransactionsRequest(), ListTransactionsResponse.read)
        return [each.transactional_id for each in answer.transaction_states]

    def stable_offsets(self) -> list[tuple[int, int]]:
        """Return the last stable offset and the high watermark of each partition, at its leader."""
        fetched = [self.clients[each.leader_id].fetch(TOPIC, partition=each.index) for each in self.topic.partitions]
        return [(each.last_stable_offset, each.high_watermark) for each in fetched]

    def begin(self, node_id: int = TRANSACTIONS_ON) -> Producer:
        """Begin a transaction with a record in each partition."""
        begun = self.init(node_id)
        producer = (begun.producer_id, begun.producer_epoch)
        assert [self.produce(index, producer) for index in range(3)] == [0, 0, 0]
        assert self.stable_offsets() == [(0, 1)] * 3
        return producer


def _find_unless(find: Callable[[int], Node | None], isolated: set[int], node_id: int) -> Node | None:
    """Return the node that find returns, or None between two nodes of which one is isolated."""
    return None if node_id in isolated or len(isolated) == 1 else find(node_id)


@pytest.fixture
def scene() -> Iterator[Scene]:
    with RunningCluster(**{"group.initial.rebalance.delay.ms": "0"}) as running, ExitStack() as stack:
        yield Scene(running, {node_id: stack.enter_context(running.client(node_id)) for node_id in NODES})


# -- groups


def test_group_is_on_its_coordinator_alone(scene: Scene) -> None:
    member_id = scene.stable_member()

    assert [scene.listed_groups(node_id) for node_id in NODES] == [[GROUP], [], []]
    errors = [scene.commit(node_id, member_id, 5) for node_id in NODES]
    assert errors == [ErrorCode.NONE, ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR]


def test_group_and_transactional_id_are_found_on_one_node(scene: Scene) -> None:
    scene.stable_member()
    scene.init(TRANSACTIONS_ON)

    coordinators = [node.coordinators for node in scene.running.cluster.nodes]
    assert [each.has_group(GROUP) for each in coordinators] == [True, False, False]
    assert [each.has_transactional_id(ID) for each in coordinators] == [False, True, False]


def test_group_goes_on_at_its_new_coordinator(scene: Scene) -> None:
    member_id = scene.stable_member()
    scene.commit(GROUPS_ON, member_id, 5)

    scene.move(scene.offsets, 3)

    beats = [scene.heartbeat(node_id, member_id) for node_id in NODES]
    assert beats == [ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR, ErrorCode.NONE]
    group = scene.described(3)
    assert (group.group_state, [member.member_id for member in group.members]) == ("Stable", [member_id])
    assert scene.committed(3) == 5
    assert [scene.listed_groups(node_id) for node_id in NODES] == [[], [], [GROUP]]


def test_coordinator_that_gets_a_group_back_knows_what_happened_meanwhile(scene: Scene) -> None:
    member_id = scene.stable_member()
    scene.commit(GROUPS_ON, member_id, 5)
    scene.move(scene.offsets, 3)
    assert scene.commit(3, member_id, 6) == ErrorCode.NONE

    scene.move(scene.offsets, GROUPS_ON)

    assert (scene.committed(GROUPS_ON), scene.heartbeat(GROUPS_ON, member_id)) == (6, ErrorCode.NONE)


def test_waiting_join_is_told_that_the_coordinator_has_moved(scene: Scene) -> None:
    scene.stable_member()

    with ThreadPoolExecutor(1) as pool:
        # It waits for the first member, which does not join again.
        joined = pool.submit(scene.join, GROUPS_ON)
        coordinator = scene.running.cluster.node.coordinators.groups
        wait_until(lambda: scene.running.call(lambda: coordinator.describe(GROUP).group_state) != "Stable")
        scene.move(scene.offsets, 2)

        assert joined.result(SECONDS_MAX).error_code == ErrorCode.NOT_COORDINATOR


def test_second_report_of_the_same_leader_changes_nothing(scene: Scene) -> None:
    member_id = scene.stable_member()
    node = scene.running.cluster.node

    scene.running.call(lambda: node.coordinators.leaders_changed(scene.offsets, [0]))
    scene.running.call(lambda: node.coordinators.leaders_changed(scene.offsets, [0]))

    assert scene.heartbeat(GROUPS_ON, member_id) == ErrorCode.NONE


def test_group_without_a_leader_has_no_coordinator(scene: Scene) -> None:
    member_id = scene.stable_member()

    scene.move(scene.offsets, NO_LEADER)

    assert [scene.heartbeat(node_id, member_id) for node_id in NODES] == [ErrorCode.NOT_COORDINATOR] * 3


# -- transactions


@pytest.mark.parametrize("is_commit", [True, False])
def test_transaction_ends_on_the_leaders_of_all_its_partitions(scene: Scene, is_commit: bool) -> None:
    producer = scene.begin()

    assert scene.end(TRANSACTIONS_ON, producer, is_commit=is_commit) == ErrorCode.NONE

    assert scene.stable_offsets() == [(2, 2)] * 3
    followers = [node.replicas.partitions_of(scene.topic) for node in scene.running.cluster.nodes]
    assert [[each.log.log_end_offset for each in partitions] for partitions in followers] == [[2, 2, 2]] * 3
    assert [scene.listed_ids(node_id) for node_id in NODES] == [[], [ID], []]


def test_batch_of_an_older_client_is_verified_with_the_coordinator_on_another_node(scene: Scene) -> None:
    begun = scene.init(TRANSACTIONS_ON)
    producer = (begun.producer_id, begun.producer_epoch)
    scene.add(TRANSACTIONS_ON, producer, 0, 2)

    errors = [scene.produce(index, producer, version=9) for index in range(3)]

    assert errors == [ErrorCode.NONE, ErrorCode.INVALID_TXN_STATE, ErrorCode.NONE]


def test_batch_waits_while_the_coordinator_has_no_leader(scene: Scene) -> None:
    begun = scene.init(TRANSACTIONS_ON)
    producer = (begun.producer_id, begun.producer_epoch)
    scene.move(scene.states, NO_LEADER)

    refused = scene.produce(0, producer)
    scene.move(scene.states, 3)

    assert (refused, scene.produce(0, producer)) == (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NONE)


@pytest.mark.parametrize("version", [3, 5])
@pytest.mark.parametrize(("is_commit", "expected"), [(True, 7), (False, -1)])
def test_offsets_of_a_transaction_are_committed_on_the_coordinator_of_the_group(
    scene: Scene, version: int, is_commit: bool, expected: int
) -> None:
    begun = scene.init(TRANSACTIONS_ON)
    producer = (begun.producer_id, begun.producer_epoch)
    if version < 5:
        assert scene.add_offsets(TRANSACTIONS_ON, producer) == ErrorCode.NONE
    assert scene.commit_offset(GROUPS_ON, producer, version) == ErrorCode.NONE
    before = scene.committed(GROUPS_ON)

    assert scene.end(TRANSACTIONS_ON, producer, is_commit=is_commit) == ErrorCode.NONE

    assert (before, scene.committed(GROUPS_ON)) == (-1, expected)


def test_pending_offsets_go_to_the_new_coordinator_of_the_group(scene: Scene) -> None:
    begun = scene.init(TRANSACTIONS_ON)
    producer = (begun.producer_id, begun.producer_epoch)
    scene.commit_offset(GROUPS_ON, producer, 5)
    scene.move(scene.offsets, 3)

    scene.end(TRANSACTIONS_ON, producer)

    assert scene.committed(3) == 7


def test_open_transaction_ends_at_its_new_coordinator(scene: Scene) -> None:
    producer = scene.begin()

    scene.move(scene.states, 3)

    assert scene.state(3) == "Ongoing"
    assert scene.end(TRANSACTIONS_ON, producer) == ErrorCode.NOT_COORDINATOR
    assert scene.end(3, producer) == ErrorCode.NONE
    assert scene.stable_offsets() == [(2, 2)] * 3


def test_open_transaction_times_out_at_its_new_coordinator(scene: Scene) -> None:
    scene.begin()
    scene.move(scene.states, 3)

    scene.running.call(lambda: scene.running.cluster.clock.advance(2 * TIMEOUT_MS))

    wait_until(lambda: scene.state(3) == "CompleteAbort")
    assert scene.stable_offsets() == [(2, 2)] * 3


def test_producer_after_a_move_with_an_open_transaction_gets_the_epoch_plus_two(scene: Scene) -> None:
    _, epoch = scene.begin()
    scene.move(scene.states, 3)

    first, second = scene.init(3), scene.init(3)

    assert first.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert (second.error_code, second.producer_epoch) == (ErrorCode.NONE, epoch + 2)


def test_producer_after_a_move_without_a_transaction_gets_the_next_epoch(scene: Scene) -> None:
    before = scene.init(TRANSACTIONS_ON)
    scene.move(scene.states, 3)

    after = scene.init(3)

    assert (after.producer_id, after.producer_epoch) == (before.producer_id, before.producer_epoch + 1)


def test_marker_of_a_partition_without_a_leader_is_written_when_it_has_one(scene: Scene) -> None:
    producer = scene.begin()
    scene.move(scene.topic, NO_LEADER, index=2)

    ended = scene.end(TRANSACTIONS_ON, producer)
    before = scene.state(TRANSACTIONS_ON)
    scene.move(scene.topic, 1, index=2)

    assert (ended, before) == (ErrorCode.NONE, "PrepareCommit")
    wait_until(lambda: scene.state(TRANSACTIONS_ON) == "CompleteCommit")
    assert scene.stable_offsets() == [(2, 2)] * 3


def test_marker_is_written_when_the_leader_can_be_reached_again(scene: Scene) -> None:
    producer = scene.begin()

    with scene.isolated(3):
        ended = scene.end(TRANSACTIONS_ON, producer)
        before, offsets = scene.state(TRANSACTIONS_ON), scene.stable_offsets()

    assert (ended, before, offsets) == (ErrorCode.NONE, "PrepareCommit", [(2, 2), (2, 2), (0, 1)])
    wait_until(lambda: scene.state(TRANSACTIONS_ON) == "CompleteCommit")
    assert scene.stable_offsets() == [(2, 2)] * 3


def test_leader_that_cannot_reach_the_coordinator_takes_no_first_batch(scene: Scene) -> None:
    begun = scene.init(TRANSACTIONS_ON)
    producer = (begun.producer_id, begun.producer_epoch)

    with scene.isolated(3):
        errors = [scene.produce(index, producer) for index in range(3)]

    assert errors == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS]


def test_decided_transaction_is_completed_by_the_new_coordinator(scene: Scene) -> None:
    producer = scene.begin()
    scene.move(scene.topic, NO_LEADER, index=2)
    scene.end(TRANSACTIONS_ON, producer)
    scene.move(scene.states, 3)

    scene.move(scene.topic, 1, index=2)

    wait_until(lambda: scene.state(3) == "CompleteCommit")
    assert scene.stable_offsets()[2] == (2, 2)
    assert scene.listed_ids(TRANSACTIONS_ON) == []


# -- producer ids


def test_each_node_has_its_own_block_of_producer_ids(scene: Scene) -> None:
    assert [scene.clients[node_id].producer_id() for node_id in (3, 1, 3, 2)] == [0, 1000, 1, 2000]


def test_new_coordinator_goes_on_with_its_own_block(scene: Scene) -> None:
    ids = [scene.clients[node_id].producer_id() for node_id in NODES]
    begun = scene.init(TRANSACTIONS_ON)
    scene.move(scene.states, 3)

    after: list[int] = [scene.clients[node_id].producer_id() for node_id in NODES]

    assert (ids, begun.producer_id, after) == ([0, 1000, 2000], 1001, [1, 1002, 2001])
