"""A client that disconnects while a request is pending: its connection is released, and the group continues."""

from __future__ import annotations

import gc
import weakref

from fauxka.broker.runtime.deferred import Deferred
from fauxka.protocol.messages.join_group import JoinGroupResponse

from .group_harness import SESSION_TIMEOUT_MS, GroupHarness, join_response, stable_group, sync_response


class _Listener:
    """A stand-in for the connection that gets the response."""

    def __init__(self) -> None:
        self.received: list[JoinGroupResponse] = []


def _listen(answer: Deferred[JoinGroupResponse]) -> weakref.ref[_Listener]:
    listener = _Listener()
    answer.deliver_to(lambda response: listener.received.append(response))
    return weakref.ref(listener)


def test_a_pending_join_keeps_no_reference_to_a_closed_connection() -> None:
    harness = GroupHarness()
    stable_group(harness, "a")
    newcomer = harness.start_join("b")
    listener = _listen(newcomer)

    newcomer.abandon()
    del newcomer
    gc.collect()

    assert listener() is None


def test_a_member_that_disconnects_while_it_joins_is_removed_a_session_after_the_join_phase() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    newcomer = harness.start_join("b")
    newcomer.abandon()

    rejoined = harness.rejoin(a)
    harness.start_sync(a, 2, {})
    members = harness.member_ids
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.heartbeat(a, 2)
    harness.clock.advance(1)

    assert join_response(rejoined).generation_id == 2
    assert members == [a, "b-2"]
    assert harness.member_ids == [a]


def test_a_member_that_disconnects_while_it_waits_for_its_assignment_is_assigned() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.rejoin(a)
    harness.rejoin(b)
    waiting = harness.start_sync(b, 3)
    waiting.abandon()

    harness.start_sync(a, 3, {b: b"right"})

    assert waiting.response() is None
    assert sync_response(harness.start_sync(b, 3)).assignment == b"right"


def test_a_member_that_repeats_its_request_gets_the_response_on_the_new_connection() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    first = harness.rejoin(b, b"other metadata")
    second = harness.rejoin(b, b"other metadata")
    first.abandon()

    harness.rejoin(a)

    assert join_response(second).generation_id == 3


def test_a_request_that_follows_a_response_at_once_finds_a_consistent_group() -> None:
    harness = GroupHarness()
    a, b, c = stable_group(harness, "a", "b", "c")
    leaving = harness.rejoin(b, b"other metadata")
    third = harness.rejoin(c)
    leaving.deliver_to(lambda response: harness.leave(b))

    harness.rejoin(a)

    assert join_response(third).generation_id == 4
    assert harness.member_ids == [a, c]
