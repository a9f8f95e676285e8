"""A request of very many elements delays its own connection only: the event loop is never held for long."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.faults.actions import Drop
from fauxka.faults.rules.fault_plan import FaultPlan
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.rules.match import Match
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.frames import REQUEST_ELEMENTS_MAX
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity

from ..wire.wire_connection import still_serves
from .long_requests import (
    LONG_REQUESTS,
    TOPIC,
    LongRequest,
    ask,
    empty_records,
    produce,
)
from .loop_pauses import PAUSE_SECONDS_MAX
from .measured_node import MeasuredNode, check_widest, measured_node
from .wide_requests import WideRequest, wide_requests

pytestmark = pytest.mark.pauses

# To decode a record for a rule takes ten times as long as to validate it.
MANY_RECORDS_WITH_RULES = LongRequest(
    "Produce, zstd of 1 M empty records", lambda: produce(1, Compression.ZSTD, empty_records(1_000_000), 1_000_000)
)
# It takes ten seconds.
OF_MOST_RECORDS = "Produce, 3 x zstd of 10 M empty records"
OTHER_LONG_REQUESTS = [request for request in LONG_REQUESTS if request.name != OF_MOST_RECORDS]


@pytest.fixture(scope="module")
def measured() -> Iterator[MeasuredNode]:
    with measured_node() as measured:
        yield measured


@pytest.fixture(scope="module")
def measured_with_rules() -> Iterator[MeasuredNode]:
    """The same with rules for which each body is decoded, and all records. None of them matches."""
    plan = FaultPlan(lambda: 0)
    for match in (Match(topic="none", partition=1), Match(group_id="none"), Match(key=b"none")):
        plan.add(FaultRule(match=match, point="received", action=Drop()))
    with measured_node(plan) as measured:
        yield measured


@pytest.mark.parametrize("request_", wide_requests(), ids=str)
def test_widest_request_is_answered_and_does_not_hold_the_event_loop(
    request_: WideRequest, measured: MeasuredNode
) -> None:
    check_widest(request_, measured)


@pytest.mark.deep
@pytest.mark.parametrize("request_", wide_requests(), ids=str)
def test_widest_request_is_matched_with_rules_and_does_not_hold_the_event_loop(
    request_: WideRequest, measured_with_rules: MeasuredNode
) -> None:
    check_widest(request_, measured_with_rules)


@pytest.mark.slice
@pytest.mark.parametrize("request_", wide_requests(), ids=str)
def test_request_with_one_element_more_closes_its_connection(request_: WideRequest, measured: MeasuredNode) -> None:
    node, _ = measured

    assert ask(node.address, request_.frame(request_.widest + 1, TOPIC.decode())) is None
    assert still_serves(node.address)


def marked_requests() -> Iterator[object]:
    for request in LONG_REQUESTS:
        yield pytest.param(
            request, id=str(request), marks=pytest.mark.deep if request.name == OF_MOST_RECORDS else pytest.mark.slice
        )


@pytest.mark.parametrize("request_", list(marked_requests()))
def test_request_that_once_stopped_the_broker_does_not_hold_the_event_loop(
    request_: LongRequest, measured: MeasuredNode
) -> None:
    node, pauses = measured
    frame = request_.frame()
    pauses.longest = 0.0

    ask(node.address, frame)

    assert pauses.longest < PAUSE_SECONDS_MAX
    assert still_serves(node.address)


@pytest.mark.parametrize("request_", [MANY_RECORDS_WITH_RULES, *OTHER_LONG_REQUESTS], ids=str)
def test_request_that_once_stopped_the_broker_does_not_hold_the_event_loop_with_rules(
    request_: LongRequest, measured_with_rules: MeasuredNode
) -> None:
    test_request_that_once_stopped_the_broker_does_not_hold_the_event_loop(request_, measured_with_rules)


@pytest.mark.parametrize("of_instances", [False, True])
def test_strangers_that_leave_a_consumer_group_do_not_hold_the_event_loop(
    of_instances: bool, measured: MeasuredNode
) -> None:
    node, pauses = measured
    joining = ConsumerGroupHeartbeatRequest(
        group_id="left",
        member_id="member",
        subscribed_topic_names=[TOPIC.decode()],
        topic_partitions=[],
        rebalance_timeout_ms=1000,
    )
    names = [f"stranger-{index}" for index in range(REQUEST_ELEMENTS_MAX - 1)]
    field = "group_instance_id" if of_instances else "member_id"
    strangers = [MemberIdentity(**{field: name}) for name in names]
    leaving = LeaveGroupRequest(group_id="left", members=strangers)
    ask(node.address, request_frame(APIS[ApiKey.CONSUMER_GROUP_HEARTBEAT], 1, 1, joining))
    frame = request_frame(APIS[ApiKey.LEAVE_GROUP], 5, 2, leaving)
    pauses.longest = 0.0

    assert ask(node.address, frame) is not None

    assert pauses.longest < PAUSE_SECONDS_MAX
