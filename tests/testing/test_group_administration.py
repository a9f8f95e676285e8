"""What Kafka's tools do to a group: reset its offsets, delete it, and remove a member."""

from collections.abc import Iterator
from typing import Any

import pytest

from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from fauxka.testing import CallError, InvalidValueError

from ..wire.message_client import MessageClient
from .test_groups import PROTOCOLS, TIMEOUT_MS, member
from .transports import Broker

BEGIN_MS = 1_700_000_000_000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(
        {"num.partitions": 2, "group.initial.rebalance.delay.ms": 0, "group.share.assignment.interval.ms": 0}
    ) as running:
        running.topics.seed(
            "orders",
            [{"partition": 0, "value": "a", "timestamp": BEGIN_MS + number} for number in range(10)],
            create=True,
        )
        yield running


@pytest.mark.parametrize(
    ("target", "offsets"),
    [
        ({"to": "earliest"}, [0, 0]),
        ({"to": "latest"}, [10, 0]),
        ({"offset": 7}, [7, 0]),
        ({"offset": 50}, [10, 0]),
        ({"time_ms": BEGIN_MS + 3}, [3, 0]),
        ({"time_ms": BEGIN_MS + 100}, [10, 0]),
        ({"shift_by": -3}, [1, 0]),
        ({"shift_by": -7}, [0, 0]),
        ({"shift_by": 100}, [10, 0]),
    ],
)
def test_offsets_are_reset_within_the_log(broker: Broker, target: dict[str, Any], offsets: list[int]) -> None:
    broker.groups.set_offsets("readers", {("orders", 0): 4, ("orders", 1): 0})

    reset = broker.groups.reset_offsets("readers", **target)

    assert [(each.partition, each.before, each.offset) for each in reset] == [(0, 4, offsets[0]), (1, 0, offsets[1])]
    assert [each.offset for each in broker.groups.get("readers").offsets] == offsets


def test_dry_run_of_a_reset_changes_nothing(broker: Broker) -> None:
    broker.groups.set_offsets("readers", {("orders", 0): 4})

    reset = broker.groups.reset_offsets("readers", to="latest", dry_run=True)

    assert [each.offset for each in reset] == [10]
    assert [each.offset for each in broker.groups.get("readers").offsets] == [4]


def test_reset_in_a_topic_creates_the_group(broker: Broker) -> None:
    reset = broker.groups.reset_offsets("readers", "orders", to="latest")

    assert [(each.before, each.offset) for each in reset] == [(None, 10), (None, 0)]
    assert broker.groups.get("readers").state == "Empty"


def test_reset_leaves_the_other_partitions(broker: Broker) -> None:
    broker.groups.set_offsets("readers", {("orders", 0): 4, ("orders", 1): 0})

    broker.groups.reset_offsets("readers", "orders", 0, shift_by=2)

    assert [each.offset for each in broker.groups.get("readers").offsets] == [6, 0]


@pytest.mark.clients
@PROTOCOLS
def test_reset_of_a_group_with_members_is_refused_with_the_sentence_of_kafkas_tool(
    broker: Broker, protocol: str
) -> None:
    with member(broker, protocol):
        with pytest.raises(CallError) as raised:
            broker.groups.reset_offsets("readers", "orders", to="latest")

        assert str(raised.value) == (
            "Assignments can only be reset if the group 'readers' is inactive, but the current state is Stable."
        )
        assert raised.value.status == 409
        assert broker.groups.get("readers").offsets == []


def test_shift_without_a_committed_offset_is_refused(broker: Broker) -> None:
    with pytest.raises(
        CallError, match="Cannot shift offset for partition orders-0 since there is no current"
    ) as raised:
        broker.groups.reset_offsets("readers", "orders", shift_by=1)

    assert raised.value.status == 409
    assert broker.groups.list() == []


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "none of them is given; allowed: one of to, offset, time_ms and shift_by"),
        ({"to": "latest", "offset": 1}, "to and offset is given"),
        ({"to": "newest"}, "to"),
    ],
)
def test_reset_needs_one_target(broker: Broker, target: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        broker.groups.reset_offsets("readers", "orders", **target)


def test_reset_of_an_unknown_group_or_partition_is_refused(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no group 'readers'"):
        broker.groups.reset_offsets("readers", to="latest")
    with pytest.raises(CallError, match="there is no partition 7 of orders"):
        broker.groups.reset_offsets("readers", "orders", 7, to="latest")


def test_group_without_members_is_deleted_with_its_offsets(broker: Broker) -> None:
    broker.groups.set_offsets("readers", {("orders", 0): 4})

    deleted = broker.groups.delete("readers")

    assert [each.offset for each in deleted.offsets] == [4]
    assert broker.groups.list() == []
    with pytest.raises(CallError, match="there is no group 'readers'"):
        broker.groups.delete("readers")


@pytest.mark.clients
@PROTOCOLS
def test_group_with_members_is_not_deleted(broker: Broker, protocol: str) -> None:
    with member(broker, protocol):
        with pytest.raises(CallError, match="readers cannot be deleted: NON_EMPTY_GROUP") as raised:
            broker.groups.delete("readers")

        assert raised.value.status == 409
        assert len(broker.groups.get("readers").members) == 1


@pytest.mark.clients
@PROTOCOLS
def test_evicted_member_joins_again(broker: Broker, protocol: str) -> None:
    with member(broker, protocol):
        (before,) = broker.groups.get("readers").members

        after = broker.groups.evict("readers", before.member_id)

        assert after.members == []
        assert len(broker.groups.wait_stable("readers", 1, TIMEOUT_MS).members) == 1
        with pytest.raises(CallError, match="there is no member reader-9"):
            broker.groups.evict("readers", "reader-9")


def test_member_of_a_share_group_is_evicted(broker: Broker) -> None:
    request = ShareGroupHeartbeatRequest(
        group_id="sharers", member_id="one", member_epoch=0, subscribed_topic_names=["orders"]
    )
    with MessageClient(broker.bootstrap_servers) as client:
        client.call(request, 1)

        after = broker.groups.evict("sharers", "one")

    assert (after.state, after.members) == ("Empty", [])
    assert broker.groups.delete("sharers").type == "share"


def test_verdicts_on_all_groups_count_their_findings(broker: Broker) -> None:
    broker.groups.set_offsets("quiet", {("orders", 0): 1})
    with MessageClient(broker.bootstrap_servers) as client:
        for offset in (4, 2):
            client.call(commit_request("readers", offset), 8)

    verdicts = broker.groups.verdicts()

    whole = broker.verdict(group="readers")
    assert [(each.group, each.findings, each.error) for each in verdicts] == [
        ("quiet", 0, None),
        ("readers", len(whole.findings), None),
    ]
    assert sorted(verdicts[1].kinds) == sorted({each.kind for each in whole.findings})
    assert "commit_moved_back" in verdicts[1].kinds


def commit_request(group: str, offset: int) -> OffsetCommitRequest:
    """Return the request of a client without a membership that commits an offset of orders-0."""
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[OffsetCommitRequestTopic(name="orders", partitions=[partition])],
    )
