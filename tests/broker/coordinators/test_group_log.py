"""What groups and their offsets are written as, what is known of them after a crash, and what a failed write does."""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.protocol.error_codes import ErrorCode, KafkaError

from .group_play import GROUP, SESSION_TIMEOUT_MS, SUBSCRIPTION, GroupPlay, answered, assigned, stable_group, topic_id

RETENTION_MS = 100_000
CHECK_MS = 1_000
OTHER_SUBSCRIPTION = SUBSCRIPTION.replace(b"t", b"u")


def expiring() -> GroupPlay:
    return GroupPlay(
        GroupSettings(
            initial_rebalance_delay_ms=0,
            offsets_retention_ms=RETENTION_MS,
            offsets_retention_check_interval_ms=CHECK_MS,
        )
    )


# -- after a crash


def test_members_go_on_in_their_generation() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")

    play.crash()

    assert (play.state, play.member_ids) == ("Stable", [a, b])
    assert play.heartbeat(a, 2) is ErrorCode.NONE
    assert assigned(play.start_sync(b, 2)).assignment == b.encode()


def test_sessions_begin_anew_and_who_does_not_come_back_is_out() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.crash()

    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.heartbeat(a, 2)
    play.clock.advance(1)
    play.rejoin(a)

    assert b not in play.member_ids
    assert play.heartbeat(a, 3) is ErrorCode.NONE


def test_a_rebalance_under_way_is_forgotten_and_the_generation_before_it_counts() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    play.rejoin(b, b"other metadata")
    before = play.state

    play.crash()

    assert (before, play.state) == ("PreparingRebalance", "Stable")
    assert play.heartbeat(a, 2) is ErrorCode.NONE


def test_a_group_whose_first_members_never_had_an_assignment_is_empty() -> None:
    play = GroupPlay()
    answered(play.start_join("a"))

    play.crash()

    assert (play.state, play.member_ids) == ("Empty", [])


def test_a_static_member_keeps_the_id_that_it_was_given_last() -> None:
    play = GroupPlay()
    first = answered(play.start_join("a", instance="i"))
    play.start_sync(first.member_id, 1, {first.member_id: b"part"})
    second = answered(play.start_join("a", instance="i"))

    play.crash()

    assert play.member_ids == [second.member_id]
    assert assigned(play.start_sync(second.member_id, 1)).assignment == b"part"


def test_members_that_are_more_than_is_allowed_by_now_join_again() -> None:
    play = GroupPlay()
    a, _ = stable_group(play, "a", "b")
    play.settings = GroupSettings(initial_rebalance_delay_ms=0, members_max=1)

    play.crash()

    assert play.heartbeat(a, 2) is ErrorCode.REBALANCE_IN_PROGRESS


def test_committed_offsets_are_there_with_all_that_belongs_to_them() -> None:
    play = GroupPlay()
    play.commit(1)
    play.commit(2)
    play.commit(3, topic="other")
    before = dict(play.coordinator.offsets.of_group(GROUP))

    play.crash()

    assert play.coordinator.offsets.of_group(GROUP) == before
    assert (play.committed(), play.committed("other")) == (2, 3)


def test_a_retention_time_goes_on() -> None:
    play = expiring()
    play.commit(1, retention_time_ms=10 * CHECK_MS)
    play.clock.advance(6 * CHECK_MS)
    play.crash()

    play.clock.advance(3 * CHECK_MS)
    before = play.committed()
    play.clock.advance(2 * CHECK_MS)

    assert (before, play.committed()) == (1, None)


def test_the_time_since_the_last_member_left_goes_on() -> None:
    play = expiring()
    (a,) = stable_group(play, "a")
    play.commit(1, member_id=a, generation_id=1)
    play.leave(a)
    play.clock.advance(RETENTION_MS - CHECK_MS)
    play.crash()

    before = play.committed()
    play.clock.advance(2 * CHECK_MS)

    assert (before, play.committed(), play.state) == (1, None, "Dead")


@pytest.mark.parametrize("crashes", [False, True])
def test_what_was_deleted_does_not_come_back(*, crashes: bool) -> None:
    play = GroupPlay()
    play.commit(1)
    play.commit(2, topic="other")
    play.coordinator.offsets.remove_topics([("t", topic_id("t"))])

    if crashes:
        play.crash()
    after_topic = play.committed(), play.committed("other")
    play.coordinator.delete_group(GROUP)
    if crashes:
        play.crash()

    assert after_topic == (None, 2)
    assert (play.state, play.committed("other")) == ("Dead", None)


def test_an_offset_of_a_topic_that_has_another_id_by_now_stays_when_that_one_is_deleted() -> None:
    play = GroupPlay()
    play.commit(1)

    play.coordinator.offsets.remove_topics([("t", topic_id("another"))])

    assert play.committed() == 1


# -- transactions


@pytest.mark.parametrize("crashes", [False, True])
@pytest.mark.parametrize(("is_commit", "expected"), [(True, 5), (False, 1)])
def test_offsets_of_a_transaction_count_when_it_is_committed(*, is_commit: bool, expected: int, crashes: bool) -> None:
    play = GroupPlay()
    play.commit(1)
    play.commit_pending(5, producer_id=7)
    if crashes:
        play.crash()
    before, was_pending = play.committed(), play.is_pending

    play.end_transaction(7, is_commit=is_commit)
    if crashes:
        play.crash()

    assert (before, was_pending) == (1, True)
    assert (play.committed(), play.is_pending) == (expected, False)


@pytest.mark.parametrize("crashes", [False, True])
def test_an_offset_that_was_committed_after_that_of_a_transaction_stays(*, crashes: bool) -> None:
    play = GroupPlay()
    play.commit_pending(5, producer_id=7)
    play.commit(6)

    play.end_transaction(7, is_commit=True)
    if crashes:
        play.crash()

    assert play.committed() == 6


def test_an_offset_of_an_open_transaction_does_not_expire_nor_does_its_group() -> None:
    play = expiring()
    play.commit(1)
    play.commit_pending(5, producer_id=7)

    play.clock.advance(2 * RETENTION_MS)

    assert (play.committed(), play.state) == (1, "Empty")


def test_deleting_a_group_takes_the_offsets_of_its_transactions_along() -> None:
    play = GroupPlay()
    play.commit_pending(5, producer_id=7)
    play.coordinator.delete_group(GROUP)

    play.end_transaction(7, is_commit=True)
    play.crash()

    assert play.committed() is None


# -- a log that takes nothing


def test_a_commit_that_cannot_be_written_changes_nothing() -> None:
    play = GroupPlay()
    play.commit(1)
    play.log.broken_by = ErrorCode.NOT_COORDINATOR

    with pytest.raises(KafkaError) as raised:
        play.commit(2)

    assert raised.value.code is ErrorCode.NOT_COORDINATOR
    assert play.committed() == 1


def test_a_group_that_would_be_made_by_it_is_not_there() -> None:
    play = GroupPlay()
    play.log.broken_by = ErrorCode.NOT_COORDINATOR

    with pytest.raises(KafkaError):
        play.commit(1)

    assert play.state == "Dead"


def test_a_new_group_that_cannot_be_written_is_not_there_and_its_member_is_told_so() -> None:
    play = GroupPlay()
    play.log.broken_by = ErrorCode.COORDINATOR_NOT_AVAILABLE

    joined = answered(play.start_join("a"))

    assert joined.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert play.state == "Dead"


def test_an_assignment_that_cannot_be_written_is_given_to_nobody_and_all_join_again() -> None:
    play = GroupPlay()
    a, b = stable_group(play, "a", "b")
    play.rejoin(b, OTHER_SUBSCRIPTION)
    play.rejoin(a)
    waiting = play.start_sync(b, 3)
    play.log.broken_by = ErrorCode.NOT_COORDINATOR

    leading = play.start_sync(a, 3, {a: b"x", b: b"y"})

    assert assigned(leading).error_code == ErrorCode.NOT_COORDINATOR
    assert assigned(waiting).error_code == ErrorCode.NOT_COORDINATOR
    assert play.state == "PreparingRebalance"


def test_a_static_member_whose_new_id_cannot_be_written_keeps_the_old_one() -> None:
    play = GroupPlay()
    first = answered(play.start_join("a", instance="i"))
    play.start_sync(first.member_id, 1, {first.member_id: b"part"})
    play.log.broken_by = ErrorCode.NOT_COORDINATOR

    second = answered(play.start_join("a", instance="i"))

    assert second.error_code == ErrorCode.NOT_COORDINATOR
    assert play.member_ids == [first.member_id]
    assert play.heartbeat(first.member_id, 1) is ErrorCode.NONE


def test_a_group_is_empty_even_if_that_cannot_be_written() -> None:
    play = GroupPlay()
    (a,) = stable_group(play, "a")
    play.log.broken_by = ErrorCode.NOT_COORDINATOR

    play.leave(a)

    assert play.state == "Empty"


def test_what_expires_while_nothing_can_be_written_expires_later() -> None:
    play = expiring()
    play.commit(1)
    play.log.broken_by = ErrorCode.NOT_COORDINATOR
    play.clock.advance(2 * RETENTION_MS)
    before = play.committed()
    play.log.broken_by = None

    play.clock.advance(CHECK_MS)

    assert (before, play.committed()) == (1, None)


def test_a_group_that_cannot_be_written_to_be_gone_is_still_there() -> None:
    play = GroupPlay()
    play.commit(1)
    play.log.broken_by = ErrorCode.NOT_COORDINATOR

    with pytest.raises(KafkaError):
        play.coordinator.delete_group(GROUP)

    assert play.committed() == 1
