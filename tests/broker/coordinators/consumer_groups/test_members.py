"""Members of a consumer group over time: sessions, revocation, crashes, regular expressions."""

from __future__ import annotations

import pytest

from fauxka.protocol.error_codes import ErrorCode, KafkaError

from .consumer_group_harness import REBALANCE_TIMEOUT_MS, SESSION_TIMEOUT_MS, ConsumerGroupHarness

ALL = {"t": {0, 1, 2, 3}}


def raises(code: ErrorCode) -> pytest.RaisesExc[KafkaError]:
    """Expect a KafkaError of that code."""
    return pytest.RaisesExc(KafkaError, check=lambda error: error.code is code)


def pair(harness: ConsumerGroupHarness) -> tuple[int, int]:
    """Join members "a" and "b", which share topic t. Returns their epochs."""
    harness.join("a", "t")
    harness.join("b", "t")
    assigned = harness.heartbeat("a", 2)
    a = harness.heartbeat("a", assigned.member_epoch, harness.assigned(assigned))
    return a.member_epoch, harness.heartbeat("b", 3).member_epoch


def test_a_member_without_heartbeats_is_removed_when_its_session_expires() -> None:
    harness = ConsumerGroupHarness(t=4)
    harness.join("a", "t")

    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    before = [member.member_id for member in harness.describe().members]
    harness.clock.advance(1)

    assert before == ["a"]
    assert harness.describe().members == []
    assert harness.describe().group_state == "Empty"


def test_a_heartbeat_extends_the_session() -> None:
    harness = ConsumerGroupHarness(t=4)
    epoch = harness.join("a", "t").member_epoch

    harness.clock.advance(SESSION_TIMEOUT_MS - 1)
    harness.heartbeat("a", epoch)
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    assert len(harness.describe().members) == 1


def test_a_member_that_does_not_revoke_within_its_rebalance_timeout_is_removed() -> None:
    harness = ConsumerGroupHarness(t=4)
    epoch = harness.join("a", "t").member_epoch
    harness.join("b", "t")
    harness.heartbeat("a", epoch)

    harness.clock.advance(REBALANCE_TIMEOUT_MS)

    assert [member.member_id for member in harness.describe().members] == ["b"]
    assert harness.assigned(harness.heartbeat("b", 3)) == ALL


def test_a_member_that_has_revoked_stays_after_the_rebalance_timeout() -> None:
    harness = ConsumerGroupHarness(t=4)
    a, b = pair(harness)

    harness.clock.advance(REBALANCE_TIMEOUT_MS)
    harness.heartbeat("a", a)
    harness.heartbeat("b", b)

    assert len(harness.describe().members) == 2


def test_partitions_are_not_reassigned_within_the_assignment_interval() -> None:
    harness = ConsumerGroupHarness(assignment_interval_ms=1_000, t=4)
    harness.join("a", "t")
    harness.join("b", "t")

    harness.clock.advance(999)
    too_early = harness.heartbeat("a", 2)
    harness.clock.advance(1)
    in_time = harness.heartbeat("a", 2)

    assert too_early.assignment is None
    assert len(harness.assigned(in_time)["t"]) == 2


def test_a_failed_write_leaves_the_group_unchanged() -> None:
    harness = ConsumerGroupHarness(t=4)
    harness.join("a", "t")
    before = harness.describe()
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR

    with raises(ErrorCode.NOT_COORDINATOR):
        harness.join("b", "t")

    assert harness.describe() == before


def test_an_expired_member_is_removed_later_if_the_write_failed() -> None:
    harness = ConsumerGroupHarness(t=4)
    harness.join("a", "t")
    harness.log.broken_by = ErrorCode.NOT_COORDINATOR
    harness.clock.advance(SESSION_TIMEOUT_MS)
    member_count = len(harness.describe().members)

    harness.log.broken_by = None
    harness.clock.advance(500)

    assert member_count == 1
    assert harness.describe().members == []


def test_a_group_is_the_same_after_a_crash() -> None:
    harness = ConsumerGroupHarness(t=4)
    pair(harness)
    harness.heartbeat("b", 3, subscribed_topic_regex="t+")
    before = harness.describe()

    harness.crash()

    assert harness.describe() == before


def test_sessions_and_rebalance_timeouts_continue_after_a_crash() -> None:
    harness = ConsumerGroupHarness(t=4)
    epoch = harness.join("a", "t").member_epoch
    harness.join("b", "t")
    harness.heartbeat("a", epoch)

    harness.crash()
    harness.clock.advance(REBALANCE_TIMEOUT_MS)
    after_rebalance = [member.member_id for member in harness.describe().members]
    harness.clock.advance(SESSION_TIMEOUT_MS)

    assert after_rebalance == ["b"]
    assert harness.describe().members == []


def test_a_deleted_group_stays_deleted_after_a_crash() -> None:
    harness = ConsumerGroupHarness(t=4)
    harness.join("a", "t")
    harness.heartbeat("a", -1)

    harness.coordinator.delete_group("group")
    harness.crash()

    assert harness.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_static_member_that_does_not_return_is_removed_when_its_session_expires() -> None:
    harness = ConsumerGroupHarness(t=4)
    harness.join("a", "t", instance_id="i")
    harness.clock.advance(SESSION_TIMEOUT_MS - 1)

    harness.heartbeat("a", -2, instance_id="i")
    member_count = len(harness.describe().members)
    harness.clock.advance(1)

    assert member_count == 1
    assert harness.describe().members == []


def test_new_topics_that_match_are_found_after_ten_seconds() -> None:
    harness = ConsumerGroupHarness(t1=1)
    harness.heartbeat("a", 0, {}, subscribed_topic_regex="t[0-9]", rebalance_timeout_ms=REBALANCE_TIMEOUT_MS)
    first = harness.heartbeat("a", 1)
    harness.cluster.controller.create_topic("t2", 1)

    harness.clock.advance(10_000)
    too_early = harness.heartbeat("a", 2)
    harness.clock.advance(1)
    lookup = harness.heartbeat("a", 2)
    found = harness.heartbeat("a", 2)

    assert harness.assigned(first) == {"t1": {0}}
    assert too_early.assignment is None
    assert lookup.assignment is None
    assert harness.assigned(found) == {"t1": {0}, "t2": {0}}


def test_new_topics_that_do_not_match_change_nothing() -> None:
    harness = ConsumerGroupHarness(t1=1)
    harness.heartbeat("a", 0, {}, subscribed_topic_regex="t[0-9]", rebalance_timeout_ms=REBALANCE_TIMEOUT_MS)
    harness.heartbeat("a", 1)
    harness.cluster.controller.create_topic("other", 1)

    harness.clock.advance(10_001)
    harness.heartbeat("a", 2)

    assert harness.heartbeat("a", 2).member_epoch == 2
    assert harness.describe().group_epoch == 2


def test_an_expression_that_needs_too_much_memory_is_refused() -> None:
    harness = ConsumerGroupHarness(t1=1)

    with raises(ErrorCode.INVALID_REGULAR_EXPRESSION):
        harness.heartbeat("a", 0, {}, subscribed_topic_regex="((a{1000}){1000}){1000}", rebalance_timeout_ms=1)


def test_a_group_refuses_an_expression_that_is_too_costly_to_compile() -> None:
    harness = ConsumerGroupHarness(t=1)

    with raises(ErrorCode.INVALID_REGULAR_EXPRESSION):
        harness.heartbeat("a", 0, {}, subscribed_topic_regex="(?i)" + "\\PL" * 1_000, rebalance_timeout_ms=1)


def test_an_expression_that_nests_too_deeply_is_refused() -> None:
    harness = ConsumerGroupHarness(t1=1)

    with raises(ErrorCode.INVALID_REGULAR_EXPRESSION):
        harness.heartbeat("a", 0, {}, subscribed_topic_regex="(" * 10_000 + "a" + ")" * 10_000, rebalance_timeout_ms=1)


def test_an_expression_on_which_backtracking_never_ends_is_matched() -> None:
    harness = ConsumerGroupHarness(**{"a" * 60 + "b": 1})

    harness.heartbeat("a", 0, {}, subscribed_topic_regex="(a+)+c|(a|a)*", rebalance_timeout_ms=1)

    assert harness.heartbeat("a", 1).member_epoch == 1
