"""Share groups after a crash, over the wire, in memory and with a data folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from ..golden.capture_batches import FIRST_TIMESTAMP, batch
from ..manual_clock import manual_clock
from ..wire.message_client import MessageClient
from ..wire.share_member import ACCEPT, RELEASE, ShareMember
from .running_node import Node

GROUP, MEMBER, TOPIC = "group", "AQEBAQEBAQEBAQEBAQEBAQ", "events"
FSYNC = {"log.flush.interval.messages": "1"}


def member_of(node: Node, member_id: str = MEMBER) -> ShareMember:
    topic = node.cluster.image.find_topic(TOPIC)
    assert topic is not None
    return ShareMember(node.address, (GROUP, member_id), (TOPIC, topic.topic_id))


@pytest.fixture(params=["memory", "folder"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    is_folder = request.param == "folder"
    with Node(tmp_path if is_folder else None, config=FSYNC if is_folder else {}, clock=manual_clock()) as node:
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
    before = member_of(node)
    before.configure(auto_offset_reset="earliest")
    before.beat(0)
    assert before.fetch() == [(0, 9, 1)]
    assert before.acknowledge(0, 3, ACCEPT) == 0
    assert before.acknowledge(6, 6, RELEASE) == 0
    assert before.acknowledge(8, 8, ACCEPT) == 0
    node.crash()
    before.close()
    node.restart()

    after = member_of(node)
    # Acquired records are not persisted, so that they count as never delivered.
    assert after.fetch() == [(4, 5, 1), (6, 6, 2), (7, 7, 1), (9, 9, 1)]
    after.close()


def test_members_survive_a_crash_and_expire_after_their_session_timeout(node: Node) -> None:
    before = member_of(node)
    assert before.beat(0).member_epoch == 2
    node.call(lambda: node.cluster.clock.advance(2000))
    assert before.beat(2).member_epoch == 3
    node.crash()
    before.close()
    node.restart()

    after = member_of(node)
    assert after.beat(3).error_code == 0
    assert [member.member_epoch for member in after.described().groups[0].members] == [3]
    node.call(lambda: node.cluster.clock.advance(60_000))
    assert after.described().groups[0].group_state == "Empty"
    after.close()


def test_a_closed_connection_releases_the_records_of_its_members(node: Node) -> None:
    first = member_of(node)
    first.configure(auto_offset_reset="earliest")
    assert first.fetch() == [(0, 9, 1)]
    first.close()
    second = member_of(node)

    acquired = second.fetch()
    for _ in range(1, 200):
        if acquired:
            break
        acquired = second.fetch()

    assert acquired == [(0, 9, 2)]
    second.close()


def test_acknowledgements_of_a_fetch_that_waits_survive_a_crash(node: Node) -> None:
    before = member_of(node)
    before.configure(auto_offset_reset="earliest")
    assert before.fetch() == [(0, 9, 1)]
    assert before.fetch((0, 8)) == []
    node.crash()
    before.close()
    node.restart()

    after = member_of(node)
    assert after.fetch() == [(9, 9, 1)]
    after.close()


def test_a_waiting_fetch_of_a_closed_connection_acquires_nothing(node: Node) -> None:
    gone = member_of(node)
    gone.configure(auto_offset_reset="earliest")
    assert gone.fetch() == [(0, 9, 1)]
    gone.start_fetch()
    gone.close()
    second = member_of(node, "AgICAgICAgICAgICAgICAg")

    acquired = second.fetch()
    for _ in range(1, 20):
        if acquired:
            break
        acquired = second.fetch()

    assert acquired == [(0, 9, 2)]
    second.close()
