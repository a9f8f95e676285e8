"""The expiry of committed offsets and groups."""

from __future__ import annotations

from fauxka.broker.coordinators.group.group_settings import GroupSettings

from .group_harness import GROUP, SESSION_TIMEOUT_MS, GroupHarness, stable_group, topic_id

RETENTION_MS = 100_000
CHECK_MS = 1_000


def _harness() -> GroupHarness:
    return GroupHarness(
        GroupSettings(
            initial_rebalance_delay_ms=0,
            offsets_retention_ms=RETENTION_MS,
            offsets_retention_check_interval_ms=CHECK_MS,
        )
    )


def _live(harness: GroupHarness, member_id: str, for_ms: int) -> None:
    for _ in range(for_ms // (SESSION_TIMEOUT_MS // 2)):
        harness.heartbeat(member_id, 1)
        harness.clock.advance(SESSION_TIMEOUT_MS // 2)


def test_without_members_offsets_expire_after_their_commit_and_the_group_is_deleted() -> None:
    harness = _harness()
    harness.commit(1)

    harness.clock.advance(RETENTION_MS - 1)
    before = harness.committed()
    harness.clock.advance(CHECK_MS)

    assert before == 1
    assert harness.committed() is None
    assert harness.state == "Dead"


def test_a_later_commit_restarts_the_retention() -> None:
    harness = _harness()
    harness.commit(1)
    harness.clock.advance(RETENTION_MS - CHECK_MS)
    harness.commit(2)

    harness.clock.advance(RETENTION_MS - CHECK_MS)

    assert harness.committed() == 2


def test_offsets_that_members_consume_do_not_expire() -> None:
    harness = _harness()
    (a,) = stable_group(harness, "a")
    harness.commit(1, member_id=a, generation_id=1)

    _live(harness, a, 2 * RETENTION_MS)

    assert harness.committed() == 1


def test_offsets_of_a_topic_without_subscription_expire_after_their_commit() -> None:
    harness = _harness()
    (a,) = stable_group(harness, "a")
    harness.commit(1, topic="given up", member_id=a, generation_id=1)

    _live(harness, a, 2 * RETENTION_MS)

    assert harness.committed("given up") is None


def test_offsets_expire_after_the_last_member_has_left() -> None:
    harness = _harness()
    (a,) = stable_group(harness, "a")
    harness.commit(1, member_id=a, generation_id=1)
    _live(harness, a, RETENTION_MS)
    harness.leave(a)

    harness.clock.advance(RETENTION_MS - 1)
    before = harness.committed()
    harness.clock.advance(CHECK_MS)

    assert before == 1
    assert harness.committed() is None


def test_a_retention_time_of_the_request_overrides_the_brokers() -> None:
    harness = _harness()
    harness.commit(1)
    harness.commit(2, topic="short", retention_time_ms=5 * CHECK_MS)

    harness.clock.advance(5 * CHECK_MS)

    assert harness.committed("short") is None
    assert harness.committed() == 1


def test_deleting_a_group_deletes_its_offsets() -> None:
    harness = _harness()
    harness.commit(1)

    harness.coordinator.delete_group(GROUP)

    assert harness.committed() is None


def test_deleting_a_topic_deletes_its_offsets() -> None:
    harness = _harness()
    harness.commit(1)
    harness.commit(2, topic="other")

    harness.coordinator.offsets.remove_topics([("t", topic_id("t"))])

    assert harness.committed() is None
    assert harness.committed("other") == 2
