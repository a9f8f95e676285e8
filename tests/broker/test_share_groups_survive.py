"""Share groups after a crash, over the wire, in memory and with a data folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from fauxka.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from fauxka.protocol.messages.share_fetch import AcknowledgementBatch as FetchAcknowledgement
from fauxka.protocol.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest, ShareFetchResponse
from fauxka.protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from ..golden.capture_batches import FIRST_TIMESTAMP, batch
from ..manual_clock import ManualClock
from ..wire.message_client import MessageClient
from .running_node import Node

GROUP, MEMBER, TOPIC = "group", "AQEBAQEBAQEBAQEBAQEBAQ", "events"
ACCEPT, RELEASE = 1, 2
GROUP_RESOURCE = 32
# As consumers do. After a start of the broker, a first fetch that does not wait gets no records.
MAX_WAIT_MS = 500
FSYNC = {"log.flush.interval.messages": "1"}


class ShareMemberClient:
    """One member with its own connection."""

    def __init__(self, node: Node, member_id: str = MEMBER) -> None:
        self._connection = MessageClient(node.address)
        self._member_id = member_id
        topic = node.cluster.image.find_topic(TOPIC)
        assert topic is not None
        self._topic_id = topic.topic_id

    def close(self) -> None:
        self._connection.close()

    def begin_at_the_earliest(self) -> None:
        entry = AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=GROUP, configs=[entry])
        self._connection.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)

    def beat(self, epoch: int) -> ShareGroupHeartbeatResponse:
        names = [TOPIC] if epoch == 0 else None
        request = ShareGroupHeartbeatRequest(
            group_id=GROUP, member_id=self._member_id, member_epoch=epoch, subscribed_topic_names=names
        )
        return self._connection.call(request, 1, ShareGroupHeartbeatResponse)

    def fetch(self, epoch: int, *accepted: tuple[int, int]) -> list[tuple[int, int, int]]:
        """Accept ranges of records, and return what was acquired: first and last offset, and the delivery count."""
        request = self._fetch_request(epoch)
        request.topics[0].partitions[0].acknowledgement_batches = [
            FetchAcknowledgement(first_offset=first, last_offset=last, acknowledge_types=[ACCEPT])
            for first, last in accepted
        ]
        response = self._connection.call(request, 2)
        assert isinstance(response, ShareFetchResponse) and response.error_code == 0, response
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for answer in response.responses
            for each in answer.partitions[0].acquired_records
        ]

    def start_fetch(self, epoch: int) -> None:
        """Send a fetch without reading its response."""
        self._connection.send(self._fetch_request(epoch), 2)

    def _fetch_request(self, epoch: int) -> ShareFetchRequest:
        topic = FetchTopic(topic_id=self._topic_id, partitions=[FetchPartition(partition_index=0)])
        return ShareFetchRequest(
            group_id=GROUP,
            member_id=self._member_id,
            share_session_epoch=epoch,
            max_wait_ms=MAX_WAIT_MS,
            min_bytes=1,
            max_bytes=1_000_000,
            max_records=500,
            batch_size=500,
            topics=[topic],
        )

    def acknowledge(self, epoch: int, first: int, last: int, how: int) -> None:
        batches = [AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[how])]
        partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=batches)
        topic = AcknowledgeTopic(topic_id=self._topic_id, partitions=[partition])
        request = ShareAcknowledgeRequest(
            group_id=GROUP, member_id=self._member_id, share_session_epoch=epoch, topics=[topic]
        )
        response = self._connection.call(request, 2, ShareAcknowledgeResponse)
        assert response.responses[0].partitions[0].error_code == 0, response

    def described(self) -> ShareGroupDescribeResponse:
        return self._connection.call(ShareGroupDescribeRequest(group_ids=[GROUP]), 1, ShareGroupDescribeResponse)


@pytest.fixture(params=["memory", "folder"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    is_folder = request.param == "folder"
    with Node(tmp_path if is_folder else None, config=FSYNC if is_folder else {}, clock=ManualClock()) as node:
        with node.client() as client:
            client.create_topic(TOPIC)
        _produce_ten(node)
        yield node


def _produce_ten(node: Node) -> None:
    data = PartitionProduceData(index=0, records=batch([FIRST_TIMESTAMP] * 10))
    connection = MessageClient(node.address)
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name=TOPIC, partition_data=[data])])
    connection.call(request, 9)
    connection.close()


def test_accepted_records_are_not_delivered_again_after_a_crash_and_others_are(node: Node) -> None:
    before = ShareMemberClient(node)
    before.begin_at_the_earliest()
    before.beat(0)
    assert before.fetch(0) == [(0, 9, 1)]
    before.acknowledge(1, 0, 3, ACCEPT)
    before.acknowledge(2, 6, 6, RELEASE)
    before.acknowledge(3, 8, 8, ACCEPT)
    node.crash()
    before.close()
    node.restart()

    after = ShareMemberClient(node)
    # Acquired records are not persisted, so that they count as never delivered.
    assert after.fetch(0) == [(4, 5, 1), (6, 6, 2), (7, 7, 1), (9, 9, 1)]
    after.close()


def test_members_survive_a_crash_and_expire_after_their_session_timeout(node: Node) -> None:
    before = ShareMemberClient(node)
    assert before.beat(0).member_epoch == 2
    node.call(lambda: node.cluster.clock.advance(2000))
    assert before.beat(2).member_epoch == 3
    node.crash()
    before.close()
    node.restart()

    after = ShareMemberClient(node)
    assert after.beat(3).error_code == 0
    assert [member.member_epoch for member in after.described().groups[0].members] == [3]
    node.call(lambda: node.cluster.clock.advance(60_000))
    assert after.described().groups[0].group_state == "Empty"
    after.close()


def test_a_closed_connection_releases_the_records_of_its_members(node: Node) -> None:
    first = ShareMemberClient(node)
    first.begin_at_the_earliest()
    assert first.fetch(0) == [(0, 9, 1)]
    first.close()
    second = ShareMemberClient(node)

    acquired = second.fetch(0)
    for epoch in range(1, 200):
        if acquired:
            break
        acquired = second.fetch(epoch)

    assert acquired == [(0, 9, 2)]
    second.close()


def test_acknowledgements_of_a_fetch_that_waits_survive_a_crash(node: Node) -> None:
    before = ShareMemberClient(node)
    before.begin_at_the_earliest()
    assert before.fetch(0) == [(0, 9, 1)]
    assert before.fetch(1, (0, 8)) == []
    node.crash()
    before.close()
    node.restart()

    after = ShareMemberClient(node)
    assert after.fetch(0) == [(9, 9, 1)]
    after.close()


def test_a_waiting_fetch_of_a_closed_connection_acquires_nothing(node: Node) -> None:
    gone = ShareMemberClient(node)
    gone.begin_at_the_earliest()
    assert gone.fetch(0) == [(0, 9, 1)]
    gone.start_fetch(1)
    gone.close()
    second = ShareMemberClient(node, "AgICAgICAgICAgICAgICAg")

    acquired = second.fetch(0)
    for epoch in range(1, 20):
        if acquired:
            break
        acquired = second.fetch(epoch)

    assert acquired == [(0, 9, 2)]
    second.close()
