"""The verdict on a share group over the wire: each situation, and its twin without a fault."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from fauxka.admin.methods.topics import SeedFields
from fauxka.faults.consumption.group_verdict import GroupFinding, GroupPartition, GroupVerdict
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.testing import Broker

from ..clients.client import eventually
from ..wire.message_client import MessageClient
from ..wire.share_member import ACCEPT, REJECT, RELEASE, RENEW, ShareMember

GROUP, TOPIC = "couriers", "orders"
LOCK_MS = 30_000
DELIVERIES_MAX = 5

LATE_RECORD: SeedFields = {"value": "v", "partition": 1}

MakeMember = Callable[[str], ShareMember]
Found = tuple[str, str, list[int]]


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Broker:
    shared.reset()
    shared.topics.create(TOPIC, partitions=1)
    append(shared, 10)
    return shared


@pytest.fixture
def member_of(broker: Broker) -> Iterator[MakeMember]:
    """Make members of the group, which begins with the first record."""
    topic_id = base64.urlsafe_b64decode(broker.topics.get(TOPIC).topic_id + "==")
    with ExitStack() as stack:

        def make(member_id: str) -> ShareMember:
            member = ShareMember(broker.bootstrap_servers, (GROUP, member_id), (TOPIC, topic_id))
            stack.enter_context(member)
            member.configure(auto_offset_reset="earliest")
            return member

        yield make


def append(broker: Broker, count: int) -> None:
    broker.topics.seed(TOPIC, [{"key": f"k{number}", "value": "v"} for number in range(count)])


def verdict_of(broker: Broker) -> GroupVerdict:
    return broker.verdict(group=GROUP)


def found_in(broker: Broker) -> list[Found]:
    return [(each.kind, each.cause, each.offsets) for each in verdict_of(broker).findings]


def the_finding(broker: Broker, kind: str) -> GroupFinding:
    (finding,) = [each for each in verdict_of(broker).findings if each.kind == kind]
    return finding


def the_partition(broker: Broker) -> GroupPartition:
    (partition,) = verdict_of(broker).partitions
    return partition


def end_locks(broker: Broker) -> None:
    broker.clock.advance(LOCK_MS)


def test_records_that_are_accepted_once_are_clean(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    assert one.fetch(records_max=6) == [(0, 5, 1)]
    assert member_of("two").fetch() == [(6, 9, 1)]
    one.fetch((0, 5), wait_ms=0)

    verdict, partition = verdict_of(broker), the_partition(broker)

    assert verdict.findings == []
    verdict.assert_delivered_once()
    verdict.assert_nothing_skipped()
    assert (partition.delivered, partition.processed, partition.committed, partition.lag) == (10, 6, 6, 4)
    assert partition.share is not None
    assert (partition.share.acquired, partition.share.accepted, partition.share.delivery_counts) == (4, 6, [10])
    with pytest.raises(AssertionError, match="expected a lag of at most 0, found 4"):
        verdict.assert_lag(0)


def test_lock_that_ends_delivers_twice_and_its_member_acknowledges_too_late(
    broker: Broker, member_of: MakeMember
) -> None:
    slow, other = member_of("slow"), member_of("other")
    slow.fetch()
    slow.acknowledge(0, 3, ACCEPT)
    end_locks(broker)
    assert other.fetch() == [(4, 9, 2)]
    assert slow.acknowledge(4, 9, ACCEPT) == ErrorCode.INVALID_RECORD_STATE
    other.acknowledge(4, 9, ACCEPT)

    assert found_in(broker) == [
        ("lock_ended", "lock_ended", [4, 9]),
        ("delivered_twice", "lock_ended", [4, 9]),
        ("acknowledgement_refused", "refused", [4, 9]),
    ]
    twice, late = the_finding(broker, "delivered_twice"), the_finding(broker, "acknowledgement_refused")
    assert (twice.member, twice.earlier_member, twice.keys) == ("other", "slow", ["k4", "k5", "k6", "k7", "k8"])
    api_of = {each.id: each.api for each in broker.journal.entries()}
    assert [api_of[each] for each in twice.request_ids] == ["ShareFetch", "ShareFetch"]
    assert (late.error, late.earlier_member) == ("INVALID_RECORD_STATE", "other")
    assert [api_of[each] for each in late.request_ids] == ["ShareAcknowledge"]
    with pytest.raises(AssertionError, match=r"orders-0, offsets 4\.\.9: the lock of slow ended before"):
        verdict_of(broker).assert_delivered_once()


def test_member_that_renews_its_lock_is_clean(broker: Broker, member_of: MakeMember) -> None:
    slow, other = member_of("slow"), member_of("other")
    slow.fetch()
    broker.clock.advance(LOCK_MS // 2)
    assert slow.acknowledge(0, 9, RENEW, is_renewal=True) == 0
    broker.clock.advance(LOCK_MS // 2)
    assert other.fetch(wait_ms=0) == []
    assert slow.acknowledge(0, 9, ACCEPT) == 0

    assert found_in(broker) == []
    verdict_of(broker).assert_lag(0)


def test_released_records_are_delivered_twice(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    one.fetch()
    one.acknowledge(0, 7, ACCEPT)
    one.acknowledge(8, 9, RELEASE)
    assert one.fetch() == [(8, 9, 2)]
    one.acknowledge(8, 9, ACCEPT)

    assert found_in(broker) == [("delivered_twice", "released", [8, 9])]
    share = the_partition(broker).share
    assert share is not None
    assert (share.released, share.accepted, share.acquisitions, share.delivery_counts) == (2, 10, 12, [8, 2])


def test_rejected_records_are_named_and_are_no_lag(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    one.fetch()
    one.acknowledge(0, 8, ACCEPT)
    one.acknowledge(9, 9, REJECT)

    rejected = the_finding(broker, "rejected")
    assert (rejected.offsets, rejected.keys, rejected.member) == ([9, 9], ["k9"], "one")
    verdict_of(broker).assert_lag(0)
    verdict_of(broker).assert_nothing_skipped()


def test_member_that_is_gone_delivers_twice(broker: Broker, member_of: MakeMember) -> None:
    gone, other = member_of("gone"), member_of("other")
    gone.fetch()
    gone.acknowledge(0, 4, ACCEPT)
    gone.close()
    assert fetch_until_acquired(other) == [(5, 9, 2)]

    assert found_in(broker) == [("delivered_twice", "member_left", [5, 9])]


def fetch_until_acquired(member: ShareMember) -> list[tuple[int, int, int]]:
    """Fetch until the broker has noticed the closed connection of another member."""
    for _ in range(200):
        acquired = member.fetch()
        if acquired:
            return acquired
    raise AssertionError("nothing is available")


def test_records_at_the_limit_of_deliveries_are_archived(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    assert one.fetch(records_max=1) == [(0, 0, 1)]
    for count in range(2, DELIVERIES_MAX + 1):
        assert one.acknowledge(0, 0, RELEASE) == 0
        assert one.fetch(records_max=1) == [(0, 0, count)]
    end_locks(broker)

    archived = the_finding(broker, "archived")
    assert (archived.cause, archived.offsets, archived.count) == ("lock_ended", [0, 0], DELIVERIES_MAX)
    share = the_partition(broker).share
    assert share is not None
    assert (share.archived, share.locks_ended, share.delivery_counts) == (1, 1, [0, 0, 0, 0, 1])
    with pytest.raises(AssertionError, match=r"archived: orders-0, offset 0: they were delivered 5 times"):
        verdict_of(broker).assert_nothing_skipped()


def test_lost_response_is_no_delivery(broker: Broker, member_of: MakeMember) -> None:
    lost, other = member_of("lost"), member_of("other")
    broker.faults.lost_ack(api="ShareFetch")
    lost.start_fetch()
    assert fetch_until_acquired(other) == [(0, 9, 2)]
    other.acknowledge(0, 9, ACCEPT)

    assert found_in(broker) == []
    share = the_partition(broker).share
    assert share is not None
    assert (share.members_left, share.delivery_counts) == (10, [0, 10])


def test_start_offset_that_an_administrator_sets_forward_skips_records(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    one.fetch(records_max=3)
    one.acknowledge(0, 2, ACCEPT)
    one.close()
    set_start_offset(broker, 7)
    assert fetch_until_acquired(member_of("two")) == [(7, 9, 1)]

    assert found_in(broker) == [("never_delivered", "start_offset_reset", [3, 6])]


def test_start_offset_that_an_administrator_sets_back_delivers_twice(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    one.fetch()
    one.acknowledge(0, 9, ACCEPT)
    one.close()
    set_start_offset(broker, 4)
    assert fetch_until_acquired(member_of("two")) == [(4, 9, 1)]

    assert found_in(broker) == [("delivered_twice", "start_offset_reset", [4, 9])]


def set_start_offset(broker: Broker, offset: int) -> None:
    partition = AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=offset)
    topic = AlterShareGroupOffsetsRequestTopic(topic_name=TOPIC, partitions=[partition])
    with MessageClient(broker.bootstrap_servers) as client:
        client.call(AlterShareGroupOffsetsRequest(group_id=GROUP, topics=[topic]), 0)


def test_records_that_are_deleted_before_they_were_acquired_are_never_delivered(
    broker: Broker, member_of: MakeMember
) -> None:
    one = member_of("one")
    one.fetch(records_max=3)
    one.acknowledge(0, 1, ACCEPT)
    one.acknowledge(2, 2, RELEASE)
    delete_records(broker, 6)
    assert one.fetch() == [(6, 9, 1)]

    assert found_in(broker) == [
        ("archived", "deleted_before_read", [2, 2]),
        ("never_delivered", "deleted_before_read", [3, 5]),
    ]


def delete_under_a_held_response(broker: Broker, member: ShareMember) -> None:
    """Delete all records that a member has acquired by a response that is not written yet."""
    broker.faults.held("applied", api="ShareFetch")
    member.start_fetch()
    assert eventually(lambda: len(broker.held.list()), expected=1) == 1
    delete_records(broker, 10)


def test_records_that_are_deleted_before_the_response_is_lost_were_never_delivered(
    broker: Broker, member_of: MakeMember
) -> None:
    member = member_of("one")
    delete_under_a_held_response(broker, member)
    assert found_in(broker) == []

    member.connection.close()

    never = [("never_delivered", "deleted_before_read", [0, 9])]
    assert eventually(lambda: found_in(broker), expected=never) == never
    assert the_partition(broker).delivered == 0


def test_records_that_are_deleted_before_the_response_is_written_were_delivered(
    broker: Broker, member_of: MakeMember
) -> None:
    delete_under_a_held_response(broker, member_of("one"))

    broker.held.release()

    assert eventually(lambda: the_partition(broker).delivered, expected=10) == 10
    assert found_in(broker) == []


def delete_records(broker: Broker, offset: int) -> None:
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    topic = DeleteRecordsTopic(name=TOPIC, partitions=[partition])
    with MessageClient(broker.bootstrap_servers) as client:
        client.call(DeleteRecordsRequest(topics=[topic], timeout_ms=1000), 2)


def test_partition_that_is_younger_than_the_group_is_seen_late(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    one.configure(auto_offset_reset="latest")
    assert one.fetch(wait_ms=0) == []
    added = CreatePartitionsTopic(name=TOPIC, count=2, assignments=None)
    with MessageClient(broker.bootstrap_servers) as client:
        client.call(CreatePartitionsRequest(topics=[added], timeout_ms=1000), 3)
    broker.topics.seed(TOPIC, [LATE_RECORD] * 4)
    one.fetch(partition=1, wait_ms=0)
    broker.topics.seed(TOPIC, [LATE_RECORD])
    assert one.fetch(partition=1) == [(4, 4, 1)]

    (late,) = verdict_of(broker).findings
    assert (late.kind, late.cause) == ("never_delivered", "partition_seen_late")
    assert (late.partition, late.offsets) == (1, [0, 3])


def test_leader_that_crashes_delivers_what_was_acquired_again(broker: Broker, member_of: MakeMember) -> None:
    one = member_of("one")
    one.fetch()
    one.acknowledge(0, 3, ACCEPT)
    broker.crash()
    broker.restart()
    assert fetch_until_acquired(member_of("two")) == [(4, 9, 1)]

    assert found_in(broker) == [("delivered_twice", "broker_restart", [4, 9])]
