"""JoinGroup, SyncGroup, LeaveGroup and expired sessions, on a manual clock."""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.protocol.error_codes import ErrorCode, KafkaError

from .group_harness import (
    GROUP,
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    GroupHarness,
    join_response,
    stable_group,
    sync_response,
)


def test_the_first_member_is_the_leader_and_gets_the_member_list() -> None:
    harness = GroupHarness()

    response = join_response(harness.start_join("a"))

    assert (response.error_code, response.generation_id, response.leader) == (0, 1, "a-1")
    assert [member.member_id for member in response.members] == ["a-1"]
    assert harness.state == "CompletingRebalance"


def test_a_second_member_waits_until_the_first_has_rejoined() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")

    newcomer = harness.start_join("b")

    assert newcomer.response() is None
    assert harness.heartbeat(a, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    assert join_response(harness.rejoin(a)).generation_id == 2
    assert join_response(newcomer).leader == a
    assert join_response(newcomer).members == []


def test_followers_get_their_assignment_from_the_leader_or_an_empty_one() -> None:
    harness = GroupHarness()
    a, b, c = stable_group(harness, "a", "b", "c")
    leader = harness.rejoin(a)
    followers = [harness.rejoin(b), harness.rejoin(c)]
    assert join_response(leader).generation_id == 4
    waiting = [harness.start_sync(member, 4) for member in (b, c)]

    harness.start_sync(a, 4, {a: b"left", b: b"right"})

    assert [join_response(answer).error_code for answer in followers] == [0, 0]
    assert [sync_response(answer).assignment for answer in waiting] == [b"right", b""]
    assert harness.state == "Stable"


def test_a_member_without_heartbeats_is_removed_when_its_session_ends() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")

    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.heartbeat(a, 2)
    harness.clock.advance(1)

    assert harness.member_ids == [a]
    assert harness.state == "PreparingRebalance"
    assert harness.heartbeat(b, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_whose_last_member_is_removed_is_empty_in_a_new_generation() -> None:
    harness = GroupHarness()
    stable_group(harness, "a")

    harness.clock.advance(SESSION_TIMEOUT_MS)

    assert (harness.state, harness.member_ids) == ("Empty", [])
    assert join_response(harness.start_join("b")).generation_id == 3


def test_a_member_that_does_not_rejoin_within_the_longest_rebalance_timeout_is_removed() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    rejoined = harness.rejoin(b, b"other metadata")
    for _ in range(REBALANCE_TIMEOUT_MS // SESSION_TIMEOUT_MS):
        harness.heartbeat(a, 2)
        harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    assert rejoined.response() is None

    harness.heartbeat(a, 2)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert join_response(rejoined).leader == b
    assert harness.member_ids == [b]


def test_a_leader_without_syncgroup_is_removed_after_the_rebalance_timeout() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.rejoin(a)
    harness.rejoin(b)
    waiting = harness.start_sync(b, 3)

    for _ in range(REBALANCE_TIMEOUT_MS // SESSION_TIMEOUT_MS + 1):
        harness.heartbeat(a, 3)
        harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert sync_response(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert harness.member_ids == [b]
    assert join_response(harness.rejoin(b)).leader == b


def test_a_member_that_waits_for_its_assignment_needs_no_heartbeats() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.rejoin(a)
    harness.rejoin(b)
    waiting = harness.start_sync(b, 3)

    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.heartbeat(a, 3)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.start_sync(a, 3, {b: b"late"})

    assert sync_response(waiting).assignment == b"late"
    assert harness.heartbeat(b, 3) == ErrorCode.NONE


def test_the_session_of_a_member_begins_with_its_assignment() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.rejoin(a)
    harness.rejoin(b)
    harness.start_sync(b, 3)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.start_sync(a, 3)

    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    before = harness.state
    harness.clock.advance(1)

    assert before == "Stable"
    assert harness.state == "Empty"


def test_an_unused_member_id_delays_a_rebalance_for_at_most_a_session_timeout() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    asked = harness.start_join("b", version=4)
    assert join_response(asked).error_code == ErrorCode.MEMBER_ID_REQUIRED
    rejoined = harness.rejoin(a)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    assert rejoined.response() is None

    harness.clock.advance(1)

    assert join_response(rejoined).generation_id == 2


def test_a_new_member_waits_five_minutes_at_most() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    newcomer = harness.start_join("b", rebalance_timeout_ms=600_000)

    for _ in range(300_000 // (SESSION_TIMEOUT_MS - 1) + 1):
        harness.heartbeat(a, 1)
        harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert join_response(newcomer).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert harness.member_ids == [a]


def test_a_waiting_new_member_gets_an_error_when_it_is_removed() -> None:
    harness = GroupHarness()
    stable_group(harness, "a")
    newcomer = harness.start_join("b")

    harness.leave("b-2")

    assert join_response(newcomer).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_is_empty_after_its_last_member_leaves() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")

    harness.leave(a)

    assert harness.state == "Empty"


def test_a_commit_extends_the_session() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    harness.commit(5, member_id=a, generation_id=1)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert harness.member_ids == [a]
    assert harness.committed() == 5


def test_a_full_group_rejects_new_members_and_accepts_rejoining_ones() -> None:
    harness = GroupHarness(GroupSettings(initial_rebalance_delay_ms=0, members_max=2))
    a, b = stable_group(harness, "a", "b")

    refused = harness.start_join("c")

    assert join_response(refused).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert harness.member_ids == [a, b]


def test_a_deleted_group_has_no_timers() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    harness.start_join("b", version=4)
    with pytest.raises(KafkaError):
        harness.coordinator.delete_group(GROUP)
    harness.leave(a)
    harness.clock.advance(REBALANCE_TIMEOUT_MS)

    harness.coordinator.delete_group(GROUP)
    harness.clock.advance(REBALANCE_TIMEOUT_MS)

    assert harness.state == "Dead"
