"""group.initial.rebalance.delay.ms: a new group waits for more members before its first generation."""

from __future__ import annotations

from fauxka.broker.coordinators.group.group_settings import GroupSettings

from .group_play import GroupPlay, answered

DELAY_MS = 3_000


def _play() -> GroupPlay:
    return GroupPlay(GroupSettings(initial_rebalance_delay_ms=DELAY_MS))


def test_a_single_member_waits_for_the_delay() -> None:
    play = _play()
    first = play.start_join("a")

    play.clock.advance(DELAY_MS - 1)
    is_early = first.response() is not None
    play.clock.advance(1)

    assert not is_early
    assert answered(first).generation_id == 1


def test_a_second_member_makes_the_group_wait_once_more() -> None:
    play = _play()
    first = play.start_join("a")
    play.clock.advance(DELAY_MS - 1)
    second = play.start_join("b")

    play.clock.advance(DELAY_MS)
    is_early = first.response() is not None
    play.clock.advance(1)

    assert not is_early
    assert answered(first).generation_id == answered(second).generation_id == 1


def test_newcomers_put_it_off_until_the_rebalance_timeout_at_most() -> None:
    play = _play()
    answers = [play.start_join("a", rebalance_timeout_ms=2 * DELAY_MS)]
    for client_id in "bcdef":
        play.clock.advance(DELAY_MS - 1)
        answers.append(play.start_join(client_id, rebalance_timeout_ms=2 * DELAY_MS))

    assert answered(answers[0]).generation_id == 1
    assert [answer.response() is not None for answer in answers] == [True, True, True, False, False, False]


def test_a_delay_of_zero_does_not_wait() -> None:
    play = GroupPlay(GroupSettings(initial_rebalance_delay_ms=0))

    first = play.start_join("a")

    assert answered(first).generation_id == 1
