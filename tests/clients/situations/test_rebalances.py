"""Situations with members: rebalances in processing, members that are gone and do not know it, foreign partitions."""

from __future__ import annotations

from collections import Counter
from contextlib import closing, suppress
from typing import Any

import pytest

from fauxka.faults.consumption.group_verdict import GroupVerdict
from fauxka.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from fauxka.testing import Broker

from ...wire.message_client import MessageClient
from ..client import eventually
from ..group_readers import READERS, TOPIC, AiokafkaReader, ConfluentReader, ConsumerProtocolReader, MakeReader, Reader
from .situation import (
    GROUP,
    SESSION_PASSED_MS,
    Found,
    append,
    assert_clean,
    assert_finds,
    read_until,
    verdict_of,
)

pytestmark = pytest.mark.clients


def cooperative(bootstrap: str, group: str, **options: Any) -> Reader:
    """A reader of librdkafka with the cooperative protocol."""
    return ConfluentReader(bootstrap, group, partition_assignment_strategy="cooperative-sticky", **options)


# What is in brackets for a client that gives no reason.
LEFT_WITHOUT_REASON = "max.poll.interval.ms or unsubscribe"
# A member that does not learn from a heartbeat that it is gone.
SELDOM = {"heartbeat_interval_ms": 3_000}
CLASSIC: dict[str, MakeReader] = {name: each for name, each in READERS.items() if each is not ConsumerProtocolReader}
REBALANCING: dict[str, MakeReader] = {**READERS, "confluent-kafka, cooperative": cooperative}
# aiokafka joins again when it is fenced, so that two instances fence each other without end.
FENCED: dict[str, MakeReader] = {name: each for name, each in CLASSIC.items() if each is not AiokafkaReader}
# aiokafka refuses to commit for a partition that it does not have.
UNCHECKED: dict[str, MakeReader] = {name: each for name, each in REBALANCING.items() if each is not AiokafkaReader}


def readers(choice: dict[str, MakeReader]) -> pytest.MarkDecorator:
    """Run a test with these readers."""
    return pytest.mark.parametrize("make_reader", choice.values(), ids=list(choice), indirect=True)


rebalancing, classic, unchecked, fenced = readers(REBALANCING), readers(CLASSIC), readers(UNCHECKED), readers(FENCED)


def rebalance(
    broker: Broker, make_reader: MakeReader, committed: int, *, is_static: bool = False
) -> tuple[Reader, Reader, int]:
    """Have a member read both partitions and commit, and a second one join, which gets one of them.

    Returns both members and the partition of the second one, when each has got the eleventh record of its partition.
    """

    def join(name: str) -> Reader:
        instance = {"group_instance_id": name} if is_static else {}
        return make_reader(broker.bootstrap_servers, GROUP, client_id=name, **instance)

    first = join("first")
    read_until([first], lambda read: len(read[0]) == 20)
    for partition in range(2):
        first.commit(committed, partition)
    second = join("second")
    read_until([first, second], lambda _: _has_two_members(broker) and _has_settled(broker))
    for partition in range(2):
        append(broker, 1, partition)
    owners: dict[int, int] = {}

    def has_last_records(read: list[list[tuple[int, int]]]) -> bool:
        owners.update({partition: index for index in range(2) for partition, offset in read[index] if offset == 10})
        return len(owners) == 2

    read_until([first, second], has_last_records)
    (moved,) = [partition for partition, owner in owners.items() if owner == 1]
    return first, second, moved


def _has_two_members(broker: Broker) -> bool:
    group = broker.groups.get(GROUP)
    assigned = [(each.partitions or {}).get(TOPIC, []) for each in group.members]
    return group.state == "Stable" and sorted(map(len, assigned)) == [1, 1]


def close(*readers: Reader) -> None:
    for reader in readers:
        reader.close()


def read_again(broker: Broker, make_reader: MakeReader, count: int) -> GroupVerdict:
    """Have the successor of a reader read so many records, and commit all."""
    successor = make_reader(broker.bootstrap_servers, GROUP)
    offsets = successor.read(count)
    successor.commit(offsets[-1] + 1)
    successor.close()
    return verdict_of(broker)


def _has_settled(broker: Broker) -> bool:
    """Whether both members fetch from where they begin: of a Fetch from before that they may drop the response."""
    asked = broker.journal.entries(api="OffsetFetch")[-1].id
    since = Counter(each.client_id for each in broker.journal.entries(api="Fetch", since=asked))
    return min(since["first"], since["second"]) >= 2


# Reported: duplicates with each deployment, because a rebalance comes between the processing and the commit.
@rebalancing
def test_rebalance_before_the_commit_delivers_again(two_partitions: Broker, make_reader: MakeReader) -> None:
    first, second, moved = rebalance(two_partitions, make_reader, committed=4)
    close(first, second)

    found = [each for each in verdict_of(two_partitions).findings if each.partition == moved]

    assert [(each.kind, each.cause, each.offsets) for each in found] == [
        ("delivered_twice", "rebalance_before_commit", [4, 9])
    ]
    assert (
        f"the partition went from {found[0].earlier_member} to {found[0].member} when 4 was committed" in found[0].why
    )


@pytest.mark.parametrize("is_static", [False, True], ids=["dynamic", "static"])
@rebalancing
def test_rebalance_after_the_commit_is_clean(
    two_partitions: Broker, make_reader: MakeReader, *, is_static: bool
) -> None:
    first, second, moved = rebalance(two_partitions, make_reader, committed=10, is_static=is_static)
    first.commit(11, 1 - moved)
    second.commit(11, moved)
    close(first, second)

    assert_clean(verdict_of(two_partitions))


# Reported: offsets of a partition that was revoked are committed with those of the others.
@unchecked
def test_commit_of_a_partition_of_another_member(two_partitions: Broker, make_reader: MakeReader) -> None:
    first, second, moved = rebalance(two_partitions, make_reader, committed=10)
    first.commit(11, moved)
    close(first, second)

    why = "does not have the partition, and its commit was accepted"
    assert_finds(verdict_of(two_partitions), Found("stale_member_committed", "accepted", 11, 11, why, moved))


# Reported: a member that was paused for longer than its session commits, and its records come again.
@classic
def test_commit_after_the_end_of_the_session_is_refused(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP, **SELDOM)
    reader.read(10)
    broker.clock.advance(SESSION_PASSED_MS, members="expire")
    with pytest.raises(reader.error):
        reader.commit(10)
    reader.close()

    stale, *_ = verdict_of(broker).findings

    assert (stale.kind, stale.cause, stale.offsets) == ("stale_member_committed", "refused", [10, 10])
    assert "is no member of the present generation: refused with UNKNOWN_MEMBER_ID" in stale.why


@classic
def test_commit_before_the_end_of_the_session_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP, **SELDOM)
    reader.read(10)
    reader.commit(10)
    broker.clock.advance(SESSION_PASSED_MS, members="expire")
    reader.close()

    assert_clean(verdict_of(broker))


# Reported: two instances with one group.instance.id, by a copied configuration. Both process the same records.
@fenced
def test_second_instance_of_a_static_member_fences_the_first(broker: Broker, make_reader: MakeReader) -> None:
    first = make_reader(broker.bootstrap_servers, GROUP, group_instance_id="till-1")
    first.read(10)
    second = make_reader(broker.bootstrap_servers, GROUP, group_instance_id="till-1")
    second.read(10)
    second.commit(10)
    with pytest.raises(first.error):
        first.commit(10)
    close(first, second)

    verdict = verdict_of(broker)

    twice = next(each for each in verdict.findings if each.kind == "delivered_twice")
    assert (twice.cause, twice.offsets) == ("restart_before_commit", [0, 9])
    stale = next(each for each in verdict.findings if each.kind == "stale_member_committed")
    assert f"{stale.earlier_member} has the partition" in stale.why


# Reported: processing takes longer than max.poll.interval.ms, so the member leaves, and another one gets its records.
@classic
def test_processing_for_longer_than_the_poll_interval(broker: Broker, make_reader: MakeReader) -> None:
    limits = {"max_poll_interval_ms": 600, "session_timeout_ms": 500}
    slow = make_reader(broker.bootstrap_servers, GROUP, client_id="slow", **limits)
    slow.read(10)
    assert eventually(lambda: len(broker.groups.get(GROUP).members), expected=0) == 0
    second = make_reader(broker.bootstrap_servers, GROUP, client_id="second")
    second.read(10)
    second.commit(10)
    close(second, slow)

    twice = verdict_of(broker).findings[0]

    assert (twice.kind, twice.cause, twice.offsets) == ("delivered_twice", "rebalance_before_commit", [0, 9])
    assert f"the partition went from {twice.earlier_member} to {twice.member} when nothing was committed" in twice.why


# The same without another member: the slow one joins again, and gets its own records.
@classic
def test_lone_member_that_processes_for_longer_than_the_poll_interval(broker: Broker, make_reader: MakeReader) -> None:
    # Its heartbeats are never so late that its session ends first.
    slow = make_reader(broker.bootstrap_servers, GROUP, max_poll_interval_ms=3_000, session_timeout_ms=2_900)
    slow.read(10)
    assert eventually(lambda: len(broker.groups.get(GROUP).members), expected=0) == 0
    slow.read(10)
    slow.commit(10)
    slow.close()

    why = f"which left the group ({LEFT_WITHOUT_REASON}) and joined again, and nothing was committed"
    assert_finds(verdict_of(broker), Found("delivered_twice", "rejoin_before_commit", 0, 9, why))


# Reported: records come again after a new subscription, which drops what was read and not committed.
def test_member_that_unsubscribes_and_subscribes_again(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    reader.resubscribe()
    reader.read(10)
    reader.commit(10)
    reader.close()

    why = f"left the group ({LEFT_WITHOUT_REASON}) and joined again, and nothing was committed"
    assert_finds(verdict_of(broker), Found("delivered_twice", "rejoin_before_commit", 0, 9, why))


def test_member_that_commits_before_it_unsubscribes_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    reader.commit(10)
    before = len(broker.journal.entries(api="OffsetFetch"))
    reader.resubscribe()
    read_until([reader], lambda _: len(broker.journal.entries(api="OffsetFetch")) > before)
    append(broker, 1)
    reader.read(1)
    reader.commit(11)
    reader.close()

    assert_clean(verdict_of(broker))


# Reported: a pause of the process ends the session, and the member gets its own records again.
@classic
def test_lone_member_whose_session_ends(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    broker.clock.advance(SESSION_PASSED_MS, members="expire")
    reader.read(10)
    reader.commit(10)
    reader.close()

    why = "was removed by the coordinator (session.timeout.ms, or max.poll.interval.ms in a rebalance) and joined again"
    assert_finds(verdict_of(broker), Found("delivered_twice", "rejoin_before_commit", 0, 9, why))


# Reported: an operator removes a static member that seems to be dead, and it reads its records again.
@classic
def test_member_that_an_administrator_removes(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP, group_instance_id="till-1")
    reader.read(10)
    leaving = MemberIdentity(member_id="", group_instance_id="till-1", reason="moved")
    with closing(MessageClient(broker.bootstrap_servers)) as administrator:
        administrator.call(LeaveGroupRequest(group_id=GROUP, members=[leaving]), 5, LeaveGroupResponse)
    reader.read(10)
    reader.commit(10)
    reader.close()

    why = "which left the group (moved) and joined again, and nothing was committed"
    assert_finds(verdict_of(broker), Found("delivered_twice", "rejoin_before_commit", 0, 9, why))


@classic
def test_lone_member_that_commits_before_it_exceeds_the_poll_interval_is_clean(
    broker: Broker, make_reader: MakeReader
) -> None:
    slow = make_reader(broker.bootstrap_servers, GROUP, max_poll_interval_ms=600, session_timeout_ms=500)
    slow.read(10)
    slow.commit(10)
    assert eventually(lambda: len(broker.groups.get(GROUP).members), expected=0) == 0
    read_until([slow], lambda _: len(broker.groups.get(GROUP).members) == 1)
    slow.close()

    assert_clean(verdict_of(broker))


# Reported: commits fail without anybody noticing, for an ACL that is missing, until the application is started again.
def test_commit_that_fails_delivers_again(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    with broker.faults.refuse("GROUP_AUTHORIZATION_FAILED", api="OffsetCommit", times=None), suppress(reader.error):
        reader.commit(10)
    reader.close()
    read_again(broker, make_reader, 10)

    twice = verdict_of(broker).findings[-1]
    assert (twice.kind, twice.cause, twice.offsets) == ("delivered_twice", "restart_before_commit", [0, 9])
    assert "after a restart, and nothing was committed" in twice.why


def test_commit_that_is_tried_again_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    with broker.faults.refuse("GROUP_AUTHORIZATION_FAILED", api="OffsetCommit", times=None), suppress(reader.error):
        reader.commit(10)
    reader.commit(10)
    reader.close()
    append(broker, 1)
    read_again(broker, make_reader, 1)

    assert_clean(verdict_of(broker))
