"""What the tests of situations share: a group of one topic, and the verdict that a situation must give."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fauxka.faults.consumption.group_verdict import GroupVerdict
from fauxka.testing import Broker

from ..group_readers import PATIENCE_S, TOPIC, Reader

GROUP = "billing"
# Longer than the session of a member, and shorter than any retention.
SESSION_PASSED_MS = 120_000
CONFIG = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.min.session.timeout.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.min.heartbeat.interval.ms": "100",
}
# The requests by which a client commits and leaves.
LAST_REQUESTS = ("OffsetCommit", "LeaveGroup", "ConsumerGroupHeartbeat")


@dataclass(frozen=True, slots=True)
class Found:
    """A finding as a test expects it. first, last: offsets. why: a part of its sentence."""

    kind: str
    cause: str
    first: int
    last: int
    why: str
    partition: int = 0


def append(broker: Broker, count: int, partition: int = 0) -> None:
    """Append records to a partition."""
    broker.topics.seed(TOPIC, [{"key": f"k{number}", "value": "v", "partition": partition} for number in range(count)])


def read_until(readers: Sequence[Reader], is_done: Callable[[list[list[tuple[int, int]]]], bool]) -> None:
    """Have readers read in turns, until what each has read so far, as partitions and offsets, is enough."""
    read: list[list[tuple[int, int]]] = [[] for _ in readers]
    deadline = time.monotonic() + PATIENCE_S
    while not is_done(read):
        assert time.monotonic() < deadline, read
        for reader, records in zip(readers, read, strict=True):
            records += reader.poll()


def verdict_of(broker: Broker) -> GroupVerdict:
    """Return the verdict on the group."""
    return broker.verdict(group=GROUP)


def kinds_of(broker: Broker) -> list[str]:
    """Return the kinds of findings on the group; none before it exists."""
    exists = any(each.group_id == GROUP for each in broker.groups.list())
    return [each.kind for each in verdict_of(broker).findings] if exists else []


def assert_finds(verdict: GroupVerdict, *expected: Found) -> None:
    """Assert that the verdict has these findings and no others, with their sentences."""
    found = [(each.kind, each.cause, each.partition, *each.offsets) for each in verdict.findings]
    wanted = [(each.kind, each.cause, each.partition, each.first, each.last) for each in expected]
    assert found == wanted, [each.why for each in verdict.findings]
    for finding, each in zip(verdict.findings, expected, strict=True):
        assert each.why in finding.why


def assert_clean(verdict: GroupVerdict, *, lag: int = 0) -> None:
    """Assert that nothing was delivered twice or skipped, and that all but `lag` records are committed."""
    assert_finds(verdict)
    verdict.assert_delivered_once()
    verdict.assert_nothing_skipped()
    assert verdict.lag == lag


def crash(broker: Broker, reader: Reader) -> None:
    """End a reader as SIGKILL does: it neither commits nor leaves, and its session ends."""
    rules = [broker.faults.refuse("UNKNOWN_MEMBER_ID", api=api, times=None) for api in LAST_REQUESTS]
    reader.close()
    for rule in rules:
        rule.remove()
    broker.clock.advance(SESSION_PASSED_MS, members="expire")
