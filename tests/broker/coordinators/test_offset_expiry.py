"""When committed offsets expire, and groups with them."""

from __future__ import annotations

from fauxka.broker.coordinators.group.group_settings import GroupSettings

from .group_play import GROUP, SESSION_TIMEOUT_MS, GroupPlay, stable_group, topic_id

RETENTION_MS = 100_000
CHECK_MS = 1_000


def _play() -> GroupPlay:
    return GroupPlay(
        GroupSettings(
            initial_rebalance_delay_ms=0,
            offsets_retention_ms=RETENTION_MS,
            offsets_retention_check_interval_ms=CHECK_MS,
        )
    )


def _live(play: GroupPlay, member_id: str, for_ms: int) -> None:
    for _ in range(for_ms // (SESSION_TIMEOUT_MS // 2)):
        play.heartbeat(member_id, 1)
        play.clock.advance(SESSION_TIMEOUT_MS // 2)


def test_offsets_without_members_expire_from_their_commit_on_and_the_group_with_them() -> None:
    play = _play()
    play.commit(1)

    play.clock.advance(RETENTION_MS - 1)
    before = play.committed()
    play.clock.advance(CHECK_MS)

    assert before == 1
    assert play.committed() is None
    assert play.state == "Dead"


def test_a_later_commit_starts_the_retention_anew() -> None:
    play = _play()
    play.commit(1)
    play.clock.advance(RETENTION_MS - CHECK_MS)
    play.commit(2)

    play.clock.advance(RETENTION_MS - CHECK_MS)

    assert play.committed() == 2


def test_offsets_that_members_consume_do_not_expire() -> None:
    play = _play()
    (a,) = stable_group(play, "a")
    play.commit(1, member_id=a, generation_id=1)

    _live(play, a, 2 * RETENTION_MS)

    assert play.committed() == 1


def test_offsets_of_a_topic_that_nobody_consumes_any_more_expire_from_their_commit_on() -> None:
    play = _play()
    (a,) = stable_group(play, "a")
    play.commit(1, topic="given up", member_id=a, generation_id=1)

    _live(play, a, 2 * RETENTION_MS)

    assert play.committed("given up") is None


def test_offsets_of_a_group_that_was_left_expire_from_then_on() -> None:
    play = _play()
    (a,) = stable_group(play, "a")
    play.commit(1, member_id=a, generation_id=1)
    _live(play, a, RETENTION_MS)
    play.leave(a)

    play.clock.advance(RETENTION_MS - 1)
    before = play.committed()
    play.clock.advance(CHECK_MS)

    assert before == 1
    assert play.committed() is None


def test_a_retention_time_of_the_request_goes_before_the_brokers() -> None:
    play = _play()
    play.commit(1)
    play.commit(2, topic="short", retention_time_ms=5 * CHECK_MS)

    play.clock.advance(5 * CHECK_MS)

    assert play.committed("short") is None
    assert play.committed() == 1


def test_a_deleted_group_takes_its_offsets_along() -> None:
    play = _play()
    play.commit(1)

    play.coordinator.delete_group(GROUP)

    assert play.committed() is None


def test_a_deleted_topic_takes_its_offsets_along() -> None:
    play = _play()
    play.commit(1)
    play.commit(2, topic="other")

    play.coordinator.offsets.remove_topics([("t", topic_id("t"))])

    assert play.committed() is None
    assert play.committed("other") == 2
