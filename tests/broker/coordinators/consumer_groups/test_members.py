"""What becomes of members over time, on a clock that is moved by hand."""

from __future__ import annotations

import pytest

from fauxka.protocol.error_codes import ErrorCode, KafkaError

from .consumer_play import REBALANCE_TIMEOUT_MS, SESSION_TIMEOUT_MS, ConsumerPlay

ALL = {"t": {0, 1, 2, 3}}


def raises(code: ErrorCode) -> pytest.RaisesExc[KafkaError]:
    """Expect a KafkaError of that code."""
    return pytest.RaisesExc(KafkaError, check=lambda error: error.code is code)


def pair(play: ConsumerPlay) -> tuple[int, int]:
    """Have members "a" and "b" share topic t; return their epochs."""
    play.join("a", "t")
    play.join("b", "t")
    told = play.beat("a", 2)
    a = play.beat("a", told.member_epoch, play.assigned(told))
    return a.member_epoch, play.beat("b", 3).member_epoch


def test_a_member_that_is_not_heard_of_is_gone_after_its_session() -> None:
    play = ConsumerPlay(t=4)
    play.join("a", "t")

    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    before = [member.member_id for member in play.described().members]
    play.clock.advance(1)

    assert before == ["a"]
    assert play.described().members == []
    assert play.described().group_state == "Empty"


def test_a_heartbeat_extends_the_session() -> None:
    play = ConsumerPlay(t=4)
    epoch = play.join("a", "t").member_epoch

    play.clock.advance(SESSION_TIMEOUT_MS - 1)
    play.beat("a", epoch)
    play.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert len(play.described().members) == 1


def test_a_member_that_does_not_give_up_in_time_is_gone() -> None:
    play = ConsumerPlay(t=4)
    epoch = play.join("a", "t").member_epoch
    play.join("b", "t")
    play.beat("a", epoch)

    play.clock.advance(REBALANCE_TIMEOUT_MS)

    assert [member.member_id for member in play.described().members] == ["b"]
    assert play.assigned(play.beat("b", 3)) == ALL


def test_a_member_that_has_given_up_is_not_gone_for_being_slow() -> None:
    play = ConsumerPlay(t=4)
    a, b = pair(play)

    play.clock.advance(REBALANCE_TIMEOUT_MS)
    play.beat("a", a)
    play.beat("b", b)

    assert len(play.described().members) == 2


def test_partitions_are_not_assigned_again_before_the_interval_is_over() -> None:
    play = ConsumerPlay(assignment_interval_ms=1_000, t=4)
    play.join("a", "t")
    play.join("b", "t")

    play.clock.advance(999)
    too_early = play.beat("a", 2)
    play.clock.advance(1)
    in_time = play.beat("a", 2)

    assert too_early.assignment is None
    assert len(play.assigned(in_time)["t"]) == 2


def test_nobody_is_told_what_could_not_be_written() -> None:
    play = ConsumerPlay(t=4)
    play.join("a", "t")
    before = play.described()
    play.log.broken_by = ErrorCode.NOT_COORDINATOR

    with raises(ErrorCode.NOT_COORDINATOR):
        play.join("b", "t")

    assert play.described() == before


def test_a_member_whose_going_could_not_be_written_goes_later() -> None:
    play = ConsumerPlay(t=4)
    play.join("a", "t")
    play.log.broken_by = ErrorCode.NOT_COORDINATOR
    play.clock.advance(SESSION_TIMEOUT_MS)
    still_there = len(play.described().members)

    play.log.broken_by = None
    play.clock.advance(500)

    assert still_there == 1
    assert play.described().members == []


def test_a_group_is_what_it_was_after_a_crash() -> None:
    play = ConsumerPlay(t=4)
    pair(play)
    play.beat("b", 3, subscribed_topic_regex="t+")
    before = play.described()

    play.crash()

    assert play.described() == before


def test_sessions_go_on_after_a_crash() -> None:
    play = ConsumerPlay(t=4)
    epoch = play.join("a", "t").member_epoch
    play.join("b", "t")
    play.beat("a", epoch)

    play.crash()
    play.clock.advance(REBALANCE_TIMEOUT_MS)
    after_rebalance = [member.member_id for member in play.described().members]
    play.clock.advance(SESSION_TIMEOUT_MS)

    assert after_rebalance == ["b"]
    assert play.described().members == []


def test_a_deleted_group_is_gone_after_a_crash_too() -> None:
    play = ConsumerPlay(t=4)
    play.join("a", "t")
    play.beat("a", -1)

    play.coordinator.delete_group("group")
    play.crash()

    assert play.described().error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_static_member_that_does_not_come_back_is_gone_after_its_session() -> None:
    play = ConsumerPlay(t=4)
    play.join("a", "t", instance_id="i")
    play.clock.advance(SESSION_TIMEOUT_MS - 1)

    play.beat("a", -2, instance_id="i")
    away = len(play.described().members)
    play.clock.advance(1)

    assert away == 1
    assert play.described().members == []


def test_new_topics_that_match_are_found_ten_seconds_later() -> None:
    play = ConsumerPlay(t1=1)
    play.beat("a", 0, {}, subscribed_topic_regex="t[0-9]", rebalance_timeout_ms=REBALANCE_TIMEOUT_MS)
    first = play.beat("a", 1)
    play.cluster.controller.create_topic("t2", 1)

    play.clock.advance(10_000)
    too_early = play.beat("a", 2)
    play.clock.advance(1)
    asked = play.beat("a", 2)
    found = play.beat("a", 2)

    assert play.assigned(first) == {"t1": {0}}
    assert too_early.assignment is None
    assert asked.assignment is None
    assert play.assigned(found) == {"t1": {0}, "t2": {0}}


def test_new_topics_that_do_not_match_change_nothing() -> None:
    play = ConsumerPlay(t1=1)
    play.beat("a", 0, {}, subscribed_topic_regex="t[0-9]", rebalance_timeout_ms=REBALANCE_TIMEOUT_MS)
    play.beat("a", 1)
    play.cluster.controller.create_topic("other", 1)

    play.clock.advance(10_001)
    play.beat("a", 2)

    assert play.beat("a", 2).member_epoch == 2
    assert play.described().group_epoch == 2


def test_an_expression_that_would_take_all_memory_is_refused() -> None:
    play = ConsumerPlay(t1=1)

    with raises(ErrorCode.INVALID_REGULAR_EXPRESSION):
        play.beat("a", 0, {}, subscribed_topic_regex="((a{1000}){1000}){1000}", rebalance_timeout_ms=1)


def test_a_group_refuses_an_expression_that_is_too_costly_to_compile() -> None:
    play = ConsumerPlay(t=1)

    with raises(ErrorCode.INVALID_REGULAR_EXPRESSION):
        play.beat("a", 0, {}, subscribed_topic_regex="(?i)" + "\\PL" * 1_000, rebalance_timeout_ms=1)


def test_an_expression_that_nests_too_deeply_is_refused() -> None:
    play = ConsumerPlay(t1=1)

    with raises(ErrorCode.INVALID_REGULAR_EXPRESSION):
        play.beat("a", 0, {}, subscribed_topic_regex="(" * 10_000 + "a" + ")" * 10_000, rebalance_timeout_ms=1)


def test_an_expression_that_python_would_never_be_done_with_is_matched() -> None:
    play = ConsumerPlay(**{"a" * 60 + "b": 1})

    play.beat("a", 0, {}, subscribed_topic_regex="(a+)+c|(a|a)*", rebalance_timeout_ms=1)

    assert play.beat("a", 1).member_epoch == 1
