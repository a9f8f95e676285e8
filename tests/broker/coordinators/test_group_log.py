"""The records of groups and offsets: restored after a crash, and failed writes."""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.protocol.error_codes import ErrorCode, KafkaError

from .group_harness import (
    GROUP,
    SESSION_TIMEOUT_MS,
    SUBSCRIPTION,
    GroupHarness,
    join_response,
    stable_group,
    sync_response,
    topic_id,
)

RETENTION_MS = 100_000
CHECK_MS = 1_000
OTHER_SUBSCRIPTION = SUBSCRIPTION.replace(b"t", b"u")


def expiring() -> GroupHarness:
    return GroupHarness(
        GroupSettings(
            initial_rebalance_delay_ms=0,
            offsets_retention_ms=RETENTION_MS,
            offsets_retention_check_interval_ms=CHECK_MS,
        )
    )


# -- after a crash


def test_members_stay_in_their_generation_after_a_crash() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")

    harness.crash()

    assert (harness.state, harness.member_ids) == ("Stable", [a, b])
    assert harness.heartbeat(a, 2) is ErrorCode.NONE
    assert sync_response(harness.start_sync(b, 2)).assignment == b.encode()


def test_sessions_restart_after_a_crash_and_silent_members_are_removed() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.crash()

    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.heartbeat(a, 2)
    harness.clock.advance(1)
    harness.rejoin(a)

    assert b not in harness.member_ids
    assert harness.heartbeat(a, 3) is ErrorCode.NONE


def test_a_crash_during_a_rebalance_restores_the_previous_generation() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.rejoin(b, b"other metadata")
    before = harness.state

    harness.crash()

    assert (before, harness.state) == ("PreparingRebalance", "Stable")
    assert harness.heartbeat(a, 2) is ErrorCode.NONE


def test_a_group_without_a_first_assignment_is_empty_after_a_crash() -> None:
    harness = GroupHarness()
    join_response(harness.start_join("a"))

    harness.crash()

    assert (harness.state, harness.member_ids) == ("Empty", [])


def test_a_static_member_keeps_its_last_member_id_after_a_crash() -> None:
    harness = GroupHarness()
    first = join_response(harness.start_join("a", instance="i"))
    harness.start_sync(first.member_id, 1, {first.member_id: b"part"})
    second = join_response(harness.start_join("a", instance="i"))

    harness.crash()

    assert harness.member_ids == [second.member_id]
    assert sync_response(harness.start_sync(second.member_id, 1)).assignment == b"part"


def test_a_group_above_a_lowered_group_max_size_rebalances_after_a_crash() -> None:
    harness = GroupHarness()
    a, _ = stable_group(harness, "a", "b")
    harness.settings = GroupSettings(initial_rebalance_delay_ms=0, members_max=1)

    harness.crash()

    assert harness.heartbeat(a, 2) is ErrorCode.REBALANCE_IN_PROGRESS


def test_committed_offsets_are_restored_with_all_fields() -> None:
    harness = GroupHarness()
    harness.commit(1)
    harness.commit(2)
    harness.commit(3, topic="other")
    before = dict(harness.coordinator.offsets.of_group(GROUP))

    harness.crash()

    assert harness.coordinator.offsets.of_group(GROUP) == before
    assert (harness.committed(), harness.committed("other")) == (2, 3)


def test_a_retention_time_of_a_commit_counts_on_after_a_crash() -> None:
    harness = expiring()
    harness.commit(1, retention_time_ms=10 * CHECK_MS)
    harness.clock.advance(6 * CHECK_MS)
    harness.crash()

    harness.clock.advance(3 * CHECK_MS)
    before = harness.committed()
    harness.clock.advance(2 * CHECK_MS)

    assert (before, harness.committed()) == (1, None)


def test_the_time_since_the_last_member_left_counts_on_after_a_crash() -> None:
    harness = expiring()
    (a,) = stable_group(harness, "a")
    harness.commit(1, member_id=a, generation_id=1)
    harness.leave(a)
    harness.clock.advance(RETENTION_MS - CHECK_MS)
    harness.crash()

    before = harness.committed()
    harness.clock.advance(2 * CHECK_MS)

    assert (before, harness.committed(), harness.state) == (1, None, "Dead")


@pytest.mark.parametrize("crashes", [False, True])
def test_deleted_groups_and_offsets_stay_deleted(*, crashes: bool) -> None:
    harness = GroupHarness()
    harness.commit(1)
    harness.commit(2, topic="other")
    harness.coordinator.offsets.remove_topics([("t", topic_id("t"))])

    if crashes:
        harness.crash()
    after_topic = harness.committed(), harness.committed("other")
    harness.coordinator.delete_group(GROUP)
    if crashes:
        harness.crash()

    assert after_topic == (None, 2)
    assert (harness.state, harness.committed("other")) == ("Dead", None)


def test_deleting_a_topic_keeps_offsets_of_another_topic_id() -> None:
    harness = GroupHarness()
    harness.commit(1)

    harness.coordinator.offsets.remove_topics([("t", topic_id("another"))])

    assert harness.committed() == 1


# -- transactions


@pytest.mark.parametrize("crashes", [False, True])
@pytest.mark.parametrize(("is_commit", "expected"), [(True, 5), (False, 1)])
def test_a_commit_marker_commits_the_offsets_of_its_transaction(
    *, is_commit: bool, expected: int, crashes: bool
) -> None:
    harness = GroupHarness()
    harness.commit(1)
    harness.commit_pending(5, producer_id=7)
    if crashes:
        harness.crash()
    before, was_pending = harness.committed(), harness.is_pending

    harness.end_transaction(7, is_commit=is_commit)
    if crashes:
        harness.crash()

    assert (before, was_pending) == (1, True)
    assert (harness.committed(), harness.is_pending) == (expected, False)


@pytest.mark.parametrize("crashes", [False, True])
def test_a_later_commit_is_kept_when_an_earlier_transaction_commits(*, crashes: bool) -> None:
    harness = GroupHarness()
    harness.commit_pending(5, producer_id=7)
    harness.commit(6)

    harness.end_transaction(7, is_commit=True)
    if crashes:
        harness.crash()

    assert harness.committed() == 6


def test_an_offset_of_an_open_transaction_does_not_expire_nor_does_its_group() -> None:
    harness = expiring()
    harness.commit(1)
    harness.commit_pending(5, producer_id=7)

    harness.clock.advance(2 * RETENTION_MS)

    assert (harness.committed(), harness.state) == (1, "Empty")


def test_deleting_a_group_deletes_the_offsets_of_its_transactions() -> None:
    harness = GroupHarness()
    harness.commit_pending(5, producer_id=7)
    harness.coordinator.delete_group(GROUP)

    harness.end_transaction(7, is_commit=True)
    harness.crash()

    assert harness.committed() is None


# -- a log whose appends fail


def test_a_commit_that_cannot_be_written_changes_nothing() -> None:
    harness = GroupHarness()
    harness.commit(1)
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR

    with pytest.raises(KafkaError) as raised:
        harness.commit(2)

    assert raised.value.code is ErrorCode.NOT_COORDINATOR
    assert harness.committed() == 1


def test_a_failed_first_commit_creates_no_group() -> None:
    harness = GroupHarness()
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR

    with pytest.raises(KafkaError):
        harness.commit(1)

    assert harness.state == "Dead"


def test_a_new_group_that_cannot_be_written_does_not_exist_and_its_member_gets_the_error() -> None:
    harness = GroupHarness()
    harness.log.broken_by = ErrorCode.COORDINATOR_NOT_AVAILABLE

    joined = join_response(harness.start_join("a"))

    assert joined.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert harness.state == "Dead"


def test_an_assignment_that_cannot_be_written_is_sent_to_no_member_and_the_group_rebalances() -> None:
    harness = GroupHarness()
    a, b = stable_group(harness, "a", "b")
    harness.rejoin(b, OTHER_SUBSCRIPTION)
    harness.rejoin(a)
    waiting = harness.start_sync(b, 3)
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR

    leading = harness.start_sync(a, 3, {a: b"x", b: b"y"})

    assert sync_response(leading).error_code == ErrorCode.NOT_COORDINATOR
    assert sync_response(waiting).error_code == ErrorCode.NOT_COORDINATOR
    assert harness.state == "PreparingRebalance"


def test_a_static_member_whose_new_id_cannot_be_written_keeps_the_old_one() -> None:
    harness = GroupHarness()
    first = join_response(harness.start_join("a", instance="i"))
    harness.start_sync(first.member_id, 1, {first.member_id: b"part"})
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR

    second = join_response(harness.start_join("a", instance="i"))

    assert second.error_code == ErrorCode.NOT_COORDINATOR
    assert harness.member_ids == [first.member_id]
    assert harness.heartbeat(first.member_id, 1) is ErrorCode.NONE


def test_a_group_becomes_empty_even_if_its_record_cannot_be_written() -> None:
    harness = GroupHarness()
    (a,) = stable_group(harness, "a")
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR

    harness.leave(a)

    assert harness.state == "Empty"


def test_offsets_that_expire_during_write_errors_expire_later() -> None:
    harness = expiring()
    harness.commit(1)
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR
    harness.clock.advance(2 * RETENTION_MS)
    before = harness.committed()
    harness.log.broken_by = None

    harness.clock.advance(CHECK_MS)

    assert (before, harness.committed()) == (1, None)


def test_a_group_whose_tombstone_cannot_be_written_is_not_deleted() -> None:
    harness = GroupHarness()
    harness.commit(1)
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR

    with pytest.raises(KafkaError):
        harness.coordinator.delete_group(GROUP)

    assert harness.committed() == 1
