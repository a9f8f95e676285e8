"""A rule has the node die at one request of several that a client has sent at once."""

from __future__ import annotations

import asyncio

import pytest

from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.faults.actions import Crash
from fauxka.faults.rules.fault_plan import FaultPlan
from fauxka.faults.rules.fault_rules import FaultRule, Point, When
from fauxka.faults.rules.match import Match

from ..wire.wire_connection import ConnectionClosedError, WireConnection
from . import running_node
from .running_node import Node, wait_until
from .topic_client import TopicClient


@pytest.fixture(params=[new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"], autouse=True)
def event_loop_of_the_node(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_node, "new_event_loop", request.param)


@pytest.mark.parametrize(("point", "appended"), [("received", 2), ("applied", 3)])
def test_answers_before_are_there_and_nothing_behind_is_applied(point: Point, appended: int) -> None:
    plan = FaultPlan(lambda: 0)
    with Node(plan=plan) as node:
        with node.client() as client:
            client.create_topic("events", 1)
        node.call(lambda: plan.add(crash_of_the_third(point)))
        with TopicClient(node.address) as client:
            client.send_produce(0, 1, 2, 3, 4)
            offsets = [client.receive_produced()[0].base_offset for _ in range(2)]
            with pytest.raises(ConnectionError):
                client.receive_produced()

        node.restart()

        assert offsets == [0, 1]
        assert (node.ends[0].before, node.ends[0].after) == (appended, appended)


def test_node_comes_back_by_itself_after_the_time_of_the_rule() -> None:
    plan = FaultPlan(lambda: 0)
    rule = FaultRule(match=Match(api="Produce"), point="received", action=Crash(restart_after_ms=60_000))
    with Node(plan=plan) as node:
        with node.client() as client:
            client.create_topic("events", 1)
        node.call(lambda: plan.add(rule))
        with TopicClient(node.address) as client, pytest.raises(ConnectionError):
            client.produce(0)
        is_refusing = node.is_refusing()

        node.call(lambda: node.cluster.clock.advance(60_000))
        wait_until(lambda: node.server.is_running)

        assert is_refusing
        with TopicClient(node.address) as client:
            assert client.produce(0).base_offset == 0


def test_client_whose_bytes_were_not_read_is_reset_and_any_other_sees_an_end() -> None:
    with Node() as node, WireConnection(node.address) as idle, WireConnection(node.address) as busy:
        wait_until(lambda: node.call(lambda: node.server.connection_count) == 2)

        def send_and_die() -> None:
            # On the node's own thread, so that it cannot read what comes now.
            busy.send(b"\x00\x00")
            node.server.crash()

        node.call(send_and_die)

        assert idle.is_closed_by_fin()
        with pytest.raises(ConnectionClosedError) as closed:
            busy.receive_frame()
        assert closed.value.is_reset


def crash_of_the_third(point: Point) -> FaultRule:
    return FaultRule(match=Match(api="Produce"), when=When(skip=2), point=point, action=Crash())
