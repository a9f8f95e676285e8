"""A real broker of two nodes that does what a model of consumers decides, by requests and the admin interface."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from fauxka.faults.consumption.group_verdict import GroupVerdict
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.batches.whole_batches import split_batches
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from fauxka.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
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
from fauxka.testing import Broker, CallError

from ..clients.client import eventually
from ..wire.message_client import MessageClient
from .group_broker import GROUP, TOPIC, Consumer
from .wire_members import ClassicMembers, Connections, ConsumerMembers, NoMembers
from .wire_transactions import TransactionalClient

CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.replication.factor": "2",
    "transaction.state.log.replication.factor": "2",
    "transaction.state.log.min.isr": "1",
    "auto.leader.rebalance.enable": "false",
}
LEADER, FOLLOWER = 1, 2
NODES = 2
PRODUCE_VERSION, FETCH_BY_NAME, FETCH_BY_ID, COMMIT_VERSION, DELETE_VERSION = 9, 12, 13, 9, 2
CREATE_VERSION, FIND_VERSION, ASK_VERSION = 3, 4, 8
LAG_MS = 46_000
NOT_FOUND = 404
LOST_RECORDS: Mapping[str, object] = {
    "match": {"api": "Fetch"},
    "point": "applied",
    "action": {"kind": "error", "error": "NOT_LEADER_OR_FOLLOWER"},
}
# One batch: the first one is sent whole, whatever its size.
SMALL, LARGE = 1, 1_000_000


class WireBroker:
    """The topic of a model in a broker, which node 1 leads."""

    def __init__(
        self, broker: Broker, random: Random, protocol: str, *, partitions: int, reads_committed: bool
    ) -> None:
        self._broker = broker
        self._random = random
        self._protocol = protocol
        self._isolation = int(reads_committed)
        # The partition whose follower gets no records, and the limit of the last fetch.
        self._alone: int | None = None
        self._max_bytes = LARGE
        address = broker.bootstrap_servers.split(",")[0]
        self._connections = Connections(address)
        self._client = MessageClient(address)
        self._members = self._new_members()
        self._data = TransactionalClient(address, "data", protocol)
        self._offsets = TransactionalClient(address, "offsets", protocol)
        self._place_coordinators()
        self._create(partitions)

    def _place_coordinators(self) -> None:
        """Have the coordinators on the leader; a look-up creates their topics."""
        for key_type, key in enumerate((GROUP, "data")):
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
            self._client.call(request, FIND_VERSION)
        self._broker.move_coordinator(LEADER, group_id=GROUP)
        self._broker.move_coordinator(LEADER, transactional_id="data")

    def _new_members(self) -> NoMembers | ClassicMembers | ConsumerMembers:
        if self._protocol == "none":
            return NoMembers()
        if self._protocol == "classic":
            return ClassicMembers(self._connections, self._broker)
        return ConsumerMembers(self._connections, self._broker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connections.close()
        for each in (self._client, self._data, self._offsets):
            each.close()

    # -- logs

    def _create(self, partitions: int) -> None:
        assignments = [[LEADER, FOLLOWER]] * partitions
        controller = self._broker.cluster.controller
        self._broker.call(lambda: controller.create_topic(TOPIC, partitions, assignments=assignments))
        self._topic_id = base64.urlsafe_b64decode(self._broker.topics.get(TOPIC).topic_id + "==")
        self._count = partitions

    def append(self, index: int, count: int) -> None:
        while count:
            # Consumers get whole batches.
            size = self._random.randint(1, count)
            self._produce(index, build_batch([Record(b"v", key=b"k")] * size))
            count -= size
        if index == self._alone:
            # The records can be read when the leader goes on without its follower.
            self._broker.clock.advance(LAG_MS)
            assert eventually(lambda: self._in_sync(index), [LEADER]) == [LEADER]

    def _produce(self, index: int, records: bytes) -> None:
        topic = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(index=index, records=records)])
        acks = 1 if index == self._alone else -1
        request = ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[topic])
        response = self._client.call(request, PRODUCE_VERSION, ProduceResponse)
        assert response.responses[0].partition_responses[0].error_code == ErrorCode.NONE, response

    def begin_transaction(self, index: int, count: int) -> None:
        self._data.append(index, count)

    def end_transaction(self, index: int, *, is_commit: bool) -> None:
        del index
        self._data.end(is_commit=is_commit)

    def delete(self, index: int, start: int, end: int) -> None:
        del start
        topic = DeleteRecordsTopic(name=TOPIC, partitions=[DeleteRecordsPartition(partition_index=index, offset=end)])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=30_000)
        response = self._client.call(request, DELETE_VERSION, DeleteRecordsResponse)
        assert response.topics[0].partitions[0].error_code == ErrorCode.NONE, response

    def stop_replicating(self, index: int) -> None:
        self._broker.pause_replication(FOLLOWER, TOPIC, index)
        self._alone = index

    def truncate(self, index: int, end: int) -> None:
        self._broker.move_leader(TOPIC, index, FOLLOWER, unclean=True)
        self._broker.resume_replication(FOLLOWER, TOPIC, index)
        self._alone = None
        both = [LEADER, FOLLOWER]
        assert eventually(lambda: self._in_sync(index), both) == both
        state = self._broker.move_leader(TOPIC, index, LEADER)
        assert state.high_watermark == end, state

    def _in_sync(self, index: int) -> list[int]:
        return sorted(self._broker.partitions(TOPIC, index)[0].isr)

    def set_partitions(self, count: int, *, is_new: bool) -> None:
        if is_new:
            self._broker.topics.delete(TOPIC)
            self._create(count)
            return
        assignments = [CreatePartitionsAssignment(broker_ids=[LEADER, FOLLOWER])] * (count - self._count)
        topic = CreatePartitionsTopic(name=TOPIC, count=count, assignments=assignments)
        request = CreatePartitionsRequest(topics=[topic], timeout_ms=30_000)
        response = self._client.call(request, CREATE_VERSION, CreatePartitionsResponse)
        assert response.results[0].error_code == ErrorCode.NONE, response
        self._count = count

    # -- members

    def assign(
        self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer], *, is_new_generation: bool
    ) -> dict[int, Consumer]:
        return self._members.assign(consumers, owners, is_new_generation=is_new_generation)

    def ask_offsets(self, consumer: Consumer, index: int) -> None:
        asked = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[index])
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=[asked])])
        response = self._connections.of(consumer).call(request, ASK_VERSION, OffsetFetchResponse)
        assert response.groups[0].error_code == ErrorCode.NONE, response

    # -- fetches

    def fetch(self, consumer: Consumer, index: int, first: int, readable_end: int) -> int:
        self._max_bytes = self._random.choice([SMALL, LARGE])
        end = self._fetch_records(consumer, index, first)
        assert first < end <= readable_end, (first, end, readable_end)
        return end

    def fetch_again(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        assert self._fetch_records(consumer, index, first) == end

    def _fetch_records(self, consumer: Consumer, index: int, first: int) -> int:
        fetched = self._fetch(consumer, index, first, self._max_bytes)
        assert fetched.error_code == ErrorCode.NONE, fetched
        return max(batch.header.last_offset for batch in split_batches(memoryview(fetched.records or b""))) + 1

    def lose_response(self, consumer: Consumer, index: int, first: int, readable_end: int) -> None:
        del readable_end
        with self._broker.faults.add(LOST_RECORDS):
            fetched = self._fetch(consumer, index, first, LARGE)
        assert fetched.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER, fetched

    def begin_fetch(self, consumer: Consumer) -> None:
        raise NotImplementedError("requests of one connection do not overtake each other")

    def end_fetch(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        raise NotImplementedError("no fetch is begun")

    def fetch_out_of_range(self, consumer: Consumer, index: int, offset: int) -> None:
        fetched = self._fetch(consumer, index, offset, LARGE)
        assert fetched.error_code == ErrorCode.OFFSET_OUT_OF_RANGE, fetched

    def _fetch(self, consumer: Consumer, index: int, first: int, max_bytes: int) -> PartitionData:
        partition = FetchPartition(partition=index, fetch_offset=first, partition_max_bytes=max_bytes)
        by_id = self._protocol == "consumer"
        topic = FetchTopic(partitions=[partition])
        if by_id:
            topic.topic_id = self._topic_id
        else:
            topic.topic = TOPIC
        request = FetchRequest(isolation_level=self._isolation, topics=[topic])
        version = FETCH_BY_ID if by_id else FETCH_BY_NAME
        response = self._connections.of(consumer).call(request, version, FetchResponse)
        return response.responses[0].partitions[0]

    # -- commits

    def commit(self, consumer: Consumer, index: int, offset: int, *, is_aborted: bool | None) -> None:
        epoch = self._members.epoch_of(consumer)
        if is_aborted is None:
            assert self._commit(consumer, index, offset, epoch) == ErrorCode.NONE
        else:
            self._offsets.commit(self._connections.of(consumer), consumer, epoch, (index, offset))
            self._offsets.end(is_commit=not is_aborted)

    def commit_late(self, consumer: Consumer, index: int, offset: int) -> None:
        assert self._commit(consumer, index, offset, self._members.epoch_of(consumer)) != ErrorCode.NONE

    def _commit(self, consumer: Consumer, index: int, offset: int, epoch: int) -> int:
        partition = OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        request = OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=epoch,
            member_id="" if self._protocol == "none" else consumer.name,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
        )
        response = self._connections.of(consumer).call(request, COMMIT_VERSION, OffsetCommitResponse)
        return response.topics[0].partitions[0].error_code

    def set_offset(self, index: int, offset: int) -> None:
        self._broker.groups.set_offsets(GROUP, {(TOPIC, index): offset}, force=True)

    def delete_offset(self, index: int) -> None:
        self._broker.groups.delete_offsets(GROUP, TOPIC, index, force=True)

    def verdict(self) -> GroupVerdict:
        try:
            return self._broker.verdict(group=GROUP)
        except CallError as error:
            # Clients without a group that have committed nothing.
            assert error.status == NOT_FOUND, error
            return GroupVerdict(group=GROUP, partitions=[], findings=[])
