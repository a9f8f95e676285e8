"""Joining, syncing and leaving on a clock that is moved by hand."""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.protocol.error_codes import ErrorCode, KafkaError

from .group_play import (
    GROUP,
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    GroupPlay,
    answered,
    assigned,
    stable_group,
)


def test_the_first_member_leads_and_is_told_the_members() -> None:
    play = GroupPlay()

    response = answered(play.start_join("a"))

    assert (response.error_code, response.generation_id, response.leader) == (0, 1, "a-1")
    assert [member.member_id for member in response.members] == ["a-1"]
    assert play.state == "CompletingRebalance"


def test_a_second_member_waits_until_the_first_has_rejoined() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")

    newcomer = play.start_join("b")

    assert newcomer.response() is None
    assert play.heartbeat(a, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    assert answered(play.rejoin(a)).generation_id == 2
    assert answered(newcomer).leader == a
    assert answered(newcomer).members == []


def test_followers_get_what_the_leader_assigns_and_nothing_if_it_forgets_them() -> None:
    play = GroupPlay()
    a, b, c = stable_group(play, "a", "b", "c")
    leader = play.rejoin(a)
    followers = [play.rejoin(b), play.rejoin(c)]
    assert answered(leader).generation_id == 4
    waiting = [play.start_sync(member, 4) for member in (b, c)]

    play.start_sync(a, 4, {a: b"left", b: b"right"})

    assert [answered(answer).error_code for answer in followers] == [0, 0]
    assert [assigned(answer).assignment for answer in waiting] == [b"right", b""]
    assert play.state == "Stable"


def test_a_member_without_a_heartbeat_is_out_when_its_session_ends() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")

    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.heartbeat(a, 2)
    play.clock.advance(1)

    assert play.member_ids == [a]
    assert play.state == "PreparingRebalance"
    assert play.heartbeat(b, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_whose_members_are_all_gone_is_empty_in_a_new_generation() -> None:
    play = GroupPlay()
    stable_group(play, "a")

    play.clock.advance(SESSION_TIMEOUT_MS)

    assert (play.state, play.member_ids) == ("Empty", [])
    assert answered(play.start_join("b")).generation_id == 3


def test_who_does_not_rejoin_within_the_longest_rebalance_timeout_is_out() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    rejoined = play.rejoin(b, b"other metadata")
    for _ in range(REBALANCE_TIMEOUT_MS // SESSION_TIMEOUT_MS):
        play.heartbeat(a, 2)
        play.clock.advance(SESSION_TIMEOUT_MS - 1)
    assert rejoined.response() is None

    play.heartbeat(a, 2)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert answered(rejoined).leader == b
    assert play.member_ids == [b]


def test_a_leader_that_never_assigns_is_out_after_the_rebalance_timeout() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    play.rejoin(a)
    play.rejoin(b)
    waiting = play.start_sync(b, 3)

    for _ in range(REBALANCE_TIMEOUT_MS // SESSION_TIMEOUT_MS + 1):
        play.heartbeat(a, 3)
        play.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert assigned(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert play.member_ids == [b]
    assert answered(play.rejoin(b)).leader == b


def test_a_member_that_waits_for_its_assignment_needs_no_heartbeats() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    play.rejoin(a)
    play.rejoin(b)
    waiting = play.start_sync(b, 3)

    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.heartbeat(a, 3)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.start_sync(a, 3, {b: b"late"})

    assert assigned(waiting).assignment == b"late"
    assert play.heartbeat(b, 3) == ErrorCode.NONE


def test_the_session_of_a_member_begins_with_its_assignment() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    play.rejoin(a)
    play.rejoin(b)
    play.start_sync(b, 3)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.start_sync(a, 3)

    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    before = play.state
    play.clock.advance(1)

    assert before == "Stable"
    assert play.state == "Empty"


def test_an_id_that_was_handed_out_and_never_used_holds_up_a_rebalance_for_a_session_only() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")
    asked = play.start_join("b", version=4)
    assert answered(asked).error_code == ErrorCode.MEMBER_ID_REQUIRED
    rejoined = play.rejoin(a)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    assert rejoined.response() is None

    play.clock.advance(1)

    assert answered(rejoined).generation_id == 2


def test_a_new_member_waits_five_minutes_at_most() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")
    newcomer = play.start_join("b", rebalance_timeout_ms=600_000)

    for _ in range(300_000 // (SESSION_TIMEOUT_MS - 1) + 1):
        play.heartbeat(a, 1)
        play.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert answered(newcomer).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert play.member_ids == [a]


def test_a_waiting_newcomer_is_refused_when_it_is_removed() -> None:
    play = GroupPlay()
    stable_group(play, "a")
    newcomer = play.start_join("b")

    play.leave("b-2")

    assert answered(newcomer).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_last_member_that_leaves_leaves_an_empty_group() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")

    play.leave(a)

    assert play.state == "Empty"


def test_a_commit_is_a_sign_of_life() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")
    play.clock.advance(SESSION_TIMEOUT_MS - 1)

    play.commit(5, member_id=a, generation_id=1)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert play.member_ids == [a]
    assert play.committed() == 5


def test_a_full_group_takes_nobody_in_and_keeps_who_is_in() -> None:
    play = GroupPlay(GroupSettings(initial_rebalance_delay_ms=0, members_max=2))
    a, b = stable_group(play, "a", "b")

    refused = play.start_join("c")

    assert answered(refused).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert play.member_ids == [a, b]


def test_a_group_that_is_deleted_leaves_no_timer_behind() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")
    play.start_join("b", version=4)
    with pytest.raises(KafkaError):
        play.coordinator.delete_group(GROUP)
    play.leave(a)
    play.clock.advance(REBALANCE_TIMEOUT_MS)

    play.coordinator.delete_group(GROUP)
    play.clock.advance(REBALANCE_TIMEOUT_MS)

    assert play.state == "Dead"
