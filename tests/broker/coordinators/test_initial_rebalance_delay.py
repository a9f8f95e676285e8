"""group.initial.rebalance.delay.ms: a new group waits for more members before its first generation."""

from __future__ import annotations

from fauxka.broker.coordinators.group.group_settings import GroupSettings

from .group_harness import GroupHarness, join_response

DELAY_MS = 3_000


def _harness() -> GroupHarness:
    return GroupHarness(GroupSettings(initial_rebalance_delay_ms=DELAY_MS))


def test_a_single_member_waits_for_the_delay() -> None:
    harness = _harness()
    first = harness.start_join("a")

    harness.clock.advance(DELAY_MS - 1)
    is_early = first.response() is not None
    harness.clock.advance(1)

    assert not is_early
    assert join_response(first).generation_id == 1


def test_a_second_member_extends_the_delay_once() -> None:
    harness = _harness()
    first = harness.start_join("a")
    harness.clock.advance(DELAY_MS - 1)
    second = harness.start_join("b")

    harness.clock.advance(DELAY_MS)
    is_early = first.response() is not None
    harness.clock.advance(1)

    assert not is_early
    assert join_response(first).generation_id == join_response(second).generation_id == 1


def test_new_members_extend_the_delay_up_to_the_rebalance_timeout() -> None:
    harness = _harness()
    answers = [harness.start_join("a", rebalance_timeout_ms=2 * DELAY_MS)]
    for client_id in "bcdef":
        harness.clock.advance(DELAY_MS - 1)
        answers.append(harness.start_join(client_id, rebalance_timeout_ms=2 * DELAY_MS))

    assert join_response(answers[0]).generation_id == 1
    assert [answer.response() is not None for answer in answers] == [True, True, True, False, False, False]


def test_a_delay_of_zero_does_not_wait() -> None:
    harness = GroupHarness(GroupSettings(initial_rebalance_delay_ms=0))

    first = harness.start_join("a")

    assert join_response(first).generation_id == 1
