"""Upgrades of classic groups to the consumer protocol during a rebalance."""

import pytest

from fauxka.broker.coordinators.consumer.heartbeats import Client
from fauxka.broker.runtime.deferred import Deferred
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fauxka.protocol.messages.join_group import JoinGroupResponse

from ..group_harness import GROUP, SUBSCRIPTION, GroupHarness

BOTH = {"range": SUBSCRIPTION, "roundrobin": SUBSCRIPTION}
CONSUMER_HEARTBEAT_VERSION = 1


def result_of(pending: Deferred[JoinGroupResponse]) -> JoinGroupResponse:
    responses: list[JoinGroupResponse] = []
    pending.deliver_to(responses.append, lambda: None)
    return responses[0]


def test_member_that_waits_with_other_protocols_stops_the_upgrade_as_in_kafka() -> None:
    harness = GroupHarness()
    first = result_of(harness.start_join("first", protocols=BOTH)).member_id
    joining = harness.start_join("second", protocols=BOTH)
    harness.start_join("first", first, protocols=BOTH)
    assert result_of(joining).protocol_name == "range"
    harness.start_join("first", first, protocols={"roundrobin": SUBSCRIPTION})
    request = ConsumerGroupHeartbeatRequest(
        group_id=GROUP,
        member_id="third",
        member_epoch=0,
        topic_partitions=[],
        subscribed_topic_names=["t"],
        rebalance_timeout_ms=1000,
    )

    with pytest.raises(KafkaError) as raised:
        harness.coordinator.consumer_groups.heartbeat(request, Client("third", "127.0.0.1"), CONSUMER_HEARTBEAT_VERSION)

    assert raised.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
