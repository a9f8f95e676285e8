"""Static members (group.instance.id), which return under a new member id."""

from __future__ import annotations

import pytest

from fauxka.protocol.error_codes import ErrorCode

from .group_harness import (
    GROUP,
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    GroupHarness,
    join_response,
    sync_response,
)


def _static_pair(harness: GroupHarness) -> tuple[str, str]:
    harness.start_join("a", instance="i-a")
    harness.start_sync("i-a-1", 1, {})
    newcomer = harness.start_join("b", instance="i-b")
    harness.start_join("a", "i-a-1", instance="i-a")
    b = join_response(newcomer).member_id
    harness.start_sync(b, 2)
    harness.start_sync("i-a-1", 2, {"i-a-1": b"left", b: b"right"})
    return "i-a-1", b


def test_a_returning_follower_keeps_its_assignment_without_a_rebalance() -> None:
    harness = GroupHarness()
    a, _ = _static_pair(harness)

    response = join_response(harness.start_join("new", instance="i-b", version=9))

    assert (response.generation_id, response.leader, response.skip_assignment) == (2, a, False)
    assert sync_response(harness.start_sync(response.member_id, 2)).assignment == b"right"
    assert harness.state == "Stable"


def test_a_returning_leader_gets_skip_assignment() -> None:
    harness = GroupHarness()
    _static_pair(harness)

    response = join_response(harness.start_join("new", instance="i-a", version=9))

    assert response.skip_assignment
    assert response.leader == response.member_id
    assert {member.group_instance_id for member in response.members} == {"i-a", "i-b"}


def test_a_returning_leader_of_an_old_version_gets_its_old_member_id_as_leader() -> None:
    harness = GroupHarness()
    a, _ = _static_pair(harness)

    response = join_response(harness.start_join("new", instance="i-a", version=8))

    assert (response.leader, response.members, response.skip_assignment) == (a, [], False)


def test_the_session_of_an_absent_static_member_expires() -> None:
    harness = GroupHarness()
    a, _ = _static_pair(harness)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.heartbeat(a, 2)

    harness.clock.advance(1)

    assert harness.member_ids == [a]
    assert harness.state == "PreparingRebalance"


@pytest.mark.parametrize(
    "last_request", ["SyncGroup", "Heartbeat", "OffsetCommit", "JoinGroup", "JoinGroup without id"]
)
def test_a_static_member_that_closes_leaves_its_group_when_its_session_ends(last_request: str) -> None:
    harness = GroupHarness()
    member_id = join_response(harness.start_join("a", instance="i-a")).member_id
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.start_sync(member_id, 1, {member_id: b"all"})
    if last_request != "SyncGroup":
        harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    match last_request:
        case "Heartbeat":
            harness.heartbeat(member_id, 1)
        case "OffsetCommit":
            harness.commit(7, member_id=member_id, generation_id=1)
        case "JoinGroup":
            harness.start_join("a", member_id, instance="i-a")
        case "JoinGroup without id":
            harness.start_join("a", instance="i-a")
        case _:
            pass

    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    count_before = len(harness.member_ids)
    harness.clock.advance(1)

    assert count_before == 1
    assert harness.state == "Empty"
    harness.coordinator.delete_group(GROUP)


def test_a_returning_member_has_a_session_of_its_own() -> None:
    harness = GroupHarness()
    a, old = _static_pair(harness)
    harness.clock.advance(SESSION_TIMEOUT_MS // 2)
    new = join_response(harness.start_join("new", instance="i-b", version=9)).member_id

    harness.heartbeat(a, 2)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert set(harness.member_ids) == {a, new}
    assert harness.heartbeat(old, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_absent_static_leader_stays_a_member_during_a_rebalance() -> None:
    harness = GroupHarness()
    a, b = _static_pair(harness)
    rejoined = harness.start_join("b", b, instance="i-b", protocols={"range": b"other metadata"})

    for _ in range(REBALANCE_TIMEOUT_MS // SESSION_TIMEOUT_MS + 1):
        harness.heartbeat(a, 2)
        harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert join_response(rejoined).leader == b
    assert set(harness.member_ids) == {a, b}


def test_a_pending_request_under_the_old_member_id_is_fenced() -> None:
    harness = GroupHarness()
    _, b = _static_pair(harness)
    waiting = harness.start_join("b", b, instance="i-b", protocols={"range": b"other metadata"})

    harness.start_join("new", instance="i-b")

    assert join_response(waiting).error_code == ErrorCode.FENCED_INSTANCE_ID
