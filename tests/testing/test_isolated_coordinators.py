"""The admin API while an isolated node keeps coordinators that another node has taken over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from ..broker.blocking_client import BlockingClient
from .transports import Broker

TOPIC = "orders"
GROUP = "billing"
MEMBER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
TRANSACTIONAL_ID = "copier"
GROUP_TOPIC, TRANSACTION_TOPIC, SHARE_TOPIC = "__consumer_offsets", "__transaction_state", "__share_group_state"
# One partition each, so that it is the one of every key.
CONFIGS = {
    "default.replication.factor": 3,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.state.topic.min.isr": 1,
}
SESSION_MS = 10_000
SECONDS_MAX = 30


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(CONFIGS, nodes=3) as started:
        started.topics.create(TOPIC, partitions=1)
        yield started


def leader_of(broker: Broker, topic: str) -> int:
    return broker.partitions(topic, 0)[0].leader


def commit_an_offset(broker: Broker) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": GROUP})
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, 1)], asynchronous=False)
    consumer.close()


def commit_a_transaction(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": TRANSACTIONAL_ID})
    producer.init_transactions(SECONDS_MAX)
    producer.begin_transaction()
    producer.produce(TOPIC, b"x")
    producer.commit_transaction(SECONDS_MAX)


def join_a_share_group(broker: Broker) -> None:
    member_epoch = 0
    with BlockingClient(broker.bootstrap_servers.split(",")[0]) as client:
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
        client.send(ApiKey.FIND_COORDINATOR, 4, find, FindCoordinatorResponse.read)
    with BlockingClient(broker.bootstrap_servers.split(",")[leader_of(broker, GROUP_TOPIC) - 1]) as client:
        # The second heartbeat gets the assignment, and the state of the share partition is written then.
        for topics in ([TOPIC], None, None, None):
            heartbeat = ShareGroupHeartbeatRequest(
                group_id=GROUP, member_id=MEMBER_ID, member_epoch=member_epoch, subscribed_topic_names=topics
            )
            response = client.send(ApiKey.SHARE_GROUP_HEARTBEAT, 1, heartbeat, ShareGroupHeartbeatResponse.read)
            assert response.error_code == 0, response
            member_epoch = response.member_epoch


def replace_leader(broker: Broker, topic: str) -> int:
    """Cut the leader off until another node leads, and return its id."""
    old = leader_of(broker, topic)
    broker.isolate(old, ["controller", "nodes"])
    broker.clock.advance(SESSION_MS)
    assert leader_of(broker, topic) != old
    return old


def test_a_group_is_listed_and_counted_once_from_its_new_coordinator(broker: Broker) -> None:
    commit_an_offset(broker)

    replace_leader(broker, GROUP_TOPIC)

    assert [group.group_id for group in broker.groups.list()] == [GROUP]
    assert 'fauxka_groups{state="Empty"} 1.0' in broker.metrics()


def test_a_transactional_id_is_listed_and_deleted_on_its_new_coordinator(broker: Broker) -> None:
    commit_a_transaction(broker)
    old = replace_leader(broker, TRANSACTION_TOPIC)

    listed = [each.transactional_id for each in broker.transactions.list()]
    broker.transactions.delete(TRANSACTIONAL_ID)
    left = broker.transactions.list()
    broker.rejoin(old)

    assert (listed, left) == ([TRANSACTIONAL_ID], [])
    assert broker.transactions.list() == []


def test_a_share_group_is_listed_once_after_its_coordinators_have_moved(broker: Broker) -> None:
    join_a_share_group(broker)
    broker.move_leader(SHARE_TOPIC, 0, leader_of(broker, GROUP_TOPIC))

    replace_leader(broker, GROUP_TOPIC)

    assert [(group.group_id, group.type) for group in broker.groups.list()] == [(GROUP, "share")]


def test_a_share_group_is_listed_while_the_coordinator_of_its_state_cannot_be_reached(broker: Broker) -> None:
    join_a_share_group(broker)
    broker.move_leader(GROUP_TOPIC, 0, 1)
    broker.move_leader(SHARE_TOPIC, 0, 2)
    broker.isolate(2, ["controller"])
    broker.clock.advance(SESSION_MS)
    broker.move_leader(SHARE_TOPIC, 0, 3)
    broker.isolate(3, ["nodes"])

    (group,) = broker.groups.list()

    assert (group.group_id, group.offsets) == (GROUP, [])
