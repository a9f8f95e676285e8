"""An advance of the clock that keeps members: of classic groups in each step of a rebalance, with their offsets."""

from __future__ import annotations

from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.protocol.error_codes import ErrorCode

from .group_harness import (
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    GroupHarness,
    join_response,
    stable_group,
    sync_response,
)

DAYS_30_MS = 30 * 24 * 3600 * 1000


def test_a_connected_member_stays_and_its_session_begins_anew() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    harness.clock.advance(DAYS_30_MS, spares=True)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    before = harness.member_ids
    harness.clock.advance(1)

    assert (before, harness.member_ids) == ([a], [])


def test_a_member_whose_connection_is_closed_ends_and_the_others_rebalance() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.connections["b"].is_closed = True

    ended = harness.clock.advance(DAYS_30_MS, spares=True)

    assert (harness.member_ids, harness.state) == ([a], "PreparingRebalance")
    assert ended.by_kind["members"].names == [f"{b} of group"]
    assert join_response(harness.rejoin(a)).generation_id == 3


def test_offsets_of_a_connected_member_do_not_expire() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    harness.commit(7, member_id=a, generation_id=1)

    ended = harness.clock.advance(DAYS_30_MS, spares=True)

    assert (harness.committed(), dict(ended.by_kind)) == (7, {})


def test_an_advance_that_keeps_nobody_ends_the_members_and_their_offsets() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    harness.commit(7, member_id=a, generation_id=1)

    ended = harness.clock.advance(DAYS_30_MS)

    assert harness.committed() is None
    assert {kind: (each.count, each.names) for kind, each in ended.by_kind.items()} == {
        "members": (1, [f"{a} of group"]),
        "groups": (1, ["group"]),
        "offsets": (1, ["group"]),
    }


def test_a_join_phase_waits_for_a_connected_member_and_not_for_one_that_is_gone() -> None:
    harness = GroupHarness()
    a, b, c = stable_group(harness, "a", "b", "c")
    joining = harness.rejoin(a, b"changed")
    harness.connections["c"].is_closed = True

    harness.clock.advance(DAYS_30_MS, spares=True)
    members = harness.member_ids
    harness.rejoin(b)

    assert (members, c in harness.member_ids) == ([a, b], False)
    assert join_response(joining).generation_id == 4


def test_the_rebalance_timeout_begins_anew() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    joining = harness.rejoin(a, b"changed")
    harness.clock.advance(DAYS_30_MS, spares=True)

    for _ in range(REBALANCE_TIMEOUT_MS // (SESSION_TIMEOUT_MS // 2)):
        assert joining.response() is None
        assert harness.heartbeat(b, 2) is ErrorCode.REBALANCE_IN_PROGRESS
        harness.clock.advance(SESSION_TIMEOUT_MS // 2)

    assert (join_response(joining).generation_id, harness.member_ids) == (3, [a])


def test_the_delay_of_the_first_rebalance_ends_in_an_advance() -> None:
    harness = GroupHarness(GroupSettings(initial_rebalance_delay_ms=3000))
    joining = harness.start_join("a")

    harness.clock.advance(DAYS_30_MS, spares=True)

    member_id = join_response(joining).member_id
    assert (harness.member_ids, harness.state) == ([member_id], "CompletingRebalance")
    assert sync_response(harness.start_sync(member_id, 1, {member_id: b"all"})).assignment == b"all"


def test_a_sync_phase_waits_for_a_connected_leader() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.rejoin(a, b"changed")
    harness.rejoin(b)
    waiting = harness.start_sync(b, 3)

    harness.clock.advance(DAYS_30_MS, spares=True)
    harness.start_sync(a, 3, {b: b"right"})

    assert sync_response(waiting).assignment == b"right"


def test_a_static_member_stays_while_its_client_is_connected() -> None:
    harness = GroupHarness()
    first = harness.start_join("a", instance="till", version=9)
    member_id = join_response(first).member_id
    harness.start_sync(member_id, 1, {member_id: b"all"})

    harness.clock.advance(DAYS_30_MS, spares=True)
    kept = harness.member_ids
    harness.connections["a"].is_closed = True
    harness.clock.advance(DAYS_30_MS, spares=True)

    assert (kept, harness.member_ids) == ([member_id], [])


def test_a_member_that_was_read_from_the_log_stays_until_it_is_heard_and_gone() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    harness.crash()

    harness.clock.advance(DAYS_30_MS, spares=True)
    unheard = harness.member_ids
    harness.coordinator.clients.heard("group", a, harness.connections["a"])
    harness.connections["a"].is_closed = True
    harness.clock.advance(DAYS_30_MS, spares=True)

    assert (unheard, harness.state) == ([a], "Dead")


def test_a_member_that_was_read_from_the_log_ends_with_its_session() -> None:
    harness = GroupHarness()
    stable_group(harness, "a")
    harness.crash()
    harness.clock.advance(DAYS_30_MS, spares=True)

    harness.clock.advance(SESSION_TIMEOUT_MS)

    assert harness.member_ids == []
