"""A client that goes away while it waits: nothing of its connection is kept, and the group goes on."""

from __future__ import annotations

import gc
import weakref

from fauxka.broker.runtime.deferred import Deferred
from fauxka.protocol.messages.join_group import JoinGroupResponse

from .group_play import SESSION_TIMEOUT_MS, GroupPlay, answered, assigned, stable_group


class _Listener:
    """Stands for a connection that an answer would be delivered to."""

    def __init__(self) -> None:
        self.received: list[JoinGroupResponse] = []


def _listen(answer: Deferred[JoinGroupResponse]) -> weakref.ref[_Listener]:
    listener = _Listener()
    answer.deliver_to(lambda response: listener.received.append(response))
    return weakref.ref(listener)


def test_a_waiting_join_holds_nothing_of_a_connection_that_is_gone() -> None:
    play = GroupPlay()
    stable_group(play, "a")
    newcomer = play.start_join("b")
    listener = _listen(newcomer)

    newcomer.abandon()
    del newcomer
    gc.collect()

    assert listener() is None


def test_a_member_that_vanished_while_it_joined_is_out_a_session_after_the_others_have_joined() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")
    newcomer = play.start_join("b")
    newcomer.abandon()

    rejoined = play.rejoin(a)
    play.start_sync(a, 2, {})
    members = play.member_ids
    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.heartbeat(a, 2)
    play.clock.advance(1)

    assert answered(rejoined).generation_id == 2
    assert members == [a, "b-2"]
    assert play.member_ids == [a]


def test_a_member_that_vanished_while_it_waited_for_its_assignment_is_assigned_all_the_same() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    play.rejoin(a)
    play.rejoin(b)
    waiting = play.start_sync(b, 3)
    waiting.abandon()

    play.start_sync(a, 3, {b: b"right"})

    assert waiting.response() is None
    assert assigned(play.start_sync(b, 3)).assignment == b"right"


def test_a_member_that_asks_again_over_another_connection_is_answered_there() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    first = play.rejoin(b, b"other metadata")
    second = play.rejoin(b, b"other metadata")
    first.abandon()

    play.rejoin(a)

    assert answered(second).generation_id == 3


def test_a_request_that_follows_an_answer_at_once_finds_the_group_whole() -> None:
    play = GroupPlay()
    a, b, c = stable_group(play, "a", "b", "c")
    leaving = play.rejoin(b, b"other metadata")
    third = play.rejoin(c)
    leaving.deliver_to(lambda response: play.leave(b))

    play.rejoin(a)

    assert answered(third).generation_id == 4
    assert play.member_ids == [a, c]
