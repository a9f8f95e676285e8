"""Static members, members that are late, delayed assignments, and groups that change their protocol."""

from __future__ import annotations

from typing import NamedTuple

from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest
from fauxka.protocol.messages.describe_groups import DescribeGroupsRequest
from fauxka.protocol.messages.heartbeat import HeartbeatRequest
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fauxka.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from fauxka.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from fauxka.protocol.messages.sync_group import SyncGroupRequest

from ..streams_group_client import StreamsMember, settle, subtopology, topology
from ..streams_group_recorder import StreamsGroupRecorder
from .heartbeats import SOURCE, STATELESS, TWO_PARTS, WIDE

COMMIT_VERSIONS = (8, 9, 10)


def static(recorder: StreamsGroupRecorder) -> None:
    """Members with an instance id leave for a while, and come back under another member id."""
    a = StreamsMember(recorder, "static", "a", STATELESS, instance_id="i-a")
    b = StreamsMember(recorder, "static", "b", STATELESS, instance_id="i-b")
    a.join()
    b.join()
    settle(a, b)
    recorder.describe_streams("with two", "static")
    other = StreamsMember(recorder, "static", "other", STATELESS, process_id="process-a", instance_id="i-a")
    other.join("wants the place")
    a.beat("is unknown as an instance", instance_id="i-c")
    a.leave("leaves for a while", member_epoch=-2)
    recorder.describe_streams("while one is away", "static")
    a.beat("is alive while it is away")
    b.own()
    other.join("takes the place")
    recorder.describe_streams("with the one that came back", "static")
    other.own()
    b.own()
    a.beat("is alive under the old id")
    a.leave("leaves under the old id")
    a.leave("leaves under the old id for a while", member_epoch=-2)
    other.beat("is alive without its instance", instance_id=None)
    other.beat("is another instance", instance_id="i-b")
    other.join("joins again under its id")
    other.leave("leaves for a while", member_epoch=-2)
    third = StreamsMember(recorder, "static", "third", STATELESS, instance_id="i-a")
    third.join("comes back in another process")
    settle(third, b)
    recorder.describe_streams("in another process", "static")
    third.leave()
    b.leave("leaves for a while as no instance", member_epoch=-2, instance_id=None)
    recorder.describe_streams("with one", "static")
    recorder.kept_streams("is kept", "static")


def timeouts(recorder: StreamsGroupRecorder) -> None:
    """Sessions that end, and tasks that are not given up in time."""
    recorder.set_group_config("late", streams_session_timeout_ms="1000", streams_heartbeat_interval_ms="200")
    a, b = (StreamsMember(recorder, "late", name, STATELESS) for name in "ab")
    a.join("joins with a short timeout", rebalance_timeout_ms=300)
    a.own()
    b.join()
    a.beat("gets fewer tasks")
    recorder.expect_streams_members("late", 1)
    b.own("gets all")
    recorder.describe_streams("with one", "late")
    recorder.expect_streams_members("late", 0)
    recorder.describe_streams("with none", "late")
    recorder.kept_streams("is kept", "late")


def delays(recorder: StreamsGroupRecorder) -> None:
    """The first assignment waits, and so does a second one."""
    recorder.set_group_config("delayed", streams_initial_rebalance_delay_ms="1500")
    a, b = (StreamsMember(recorder, "delayed", name, TWO_PARTS) for name in "ab")
    a.join()
    a.beat("waits")
    recorder.describe_streams("while it waits", "delayed")
    b.join("joins in time")
    epoch = recorder.described_streams("delayed").group_epoch
    recorder.expect_assignment("delayed", epoch)
    a.beat("gets its tasks")
    b.own("gets its tasks")
    settle(a, b)
    recorder.describe_streams("with its assignment", "delayed")
    recorder.set_group_config("delayed", streams_assignment_interval_ms="15000")
    c = StreamsMember(recorder, "delayed", "c", TWO_PARTS)
    c.join("joins soon after")
    a.beat("is alive meanwhile")
    recorder.describe_streams("before the next assignment", "delayed")
    recorder.set_group_config("delayed", streams_assignment_interval_ms="0")
    c.beat("has waited enough")
    recorder.set_group_config("alone", streams_initial_rebalance_delay_ms="300")
    d = StreamsMember(recorder, "alone", "d", STATELESS)
    d.join()
    recorder.pass_ms(1500)
    recorder.describe_streams("after the delay without a second heartbeat", "alone")
    d.beat("gets its tasks")


def other_protocols(recorder: StreamsGroupRecorder) -> None:
    """Requests of other protocols for a streams group, and the reverse."""
    group_id = "protocols"
    a = StreamsMember(recorder, group_id, "a", STATELESS)
    protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
    join = JoinGroupRequest(
        group_id=group_id,
        session_timeout_ms=6000,
        rebalance_timeout_ms=6000,
        member_id="",
        protocol_type="consumer",
        protocols=[protocol],
    )
    commit(recorder, "a commit makes a classic group", 9, Client(group_id, "", -1), 0)
    a.join("replaces an empty classic group")
    recorder.describe_streams("after the classic one", group_id)
    recorder.case("classic join", 9, join)
    recorder.case("classic sync", 5, SyncGroupRequest(group_id=group_id, generation_id=1, member_id="a"))
    recorder.case("classic heartbeat", 4, HeartbeatRequest(group_id=group_id, generation_id=1, member_id="a"))
    leaving = [MemberIdentity(member_id="a")]
    recorder.case("classic leave", 5, LeaveGroupRequest(group_id=group_id, members=leaving))
    recorder.case("classic describe", 6, DescribeGroupsRequest(groups=[group_id]))
    heartbeat = ConsumerGroupHeartbeatRequest(
        group_id=group_id,
        member_id="x",
        member_epoch=0,
        rebalance_timeout_ms=6000,
        subscribed_topic_names=[SOURCE],
        topic_partitions=[],
    )
    recorder.case("consumer heartbeat", 1, heartbeat)
    a.leave()
    recorder.case("consumer heartbeat without members", 1, heartbeat)
    recorder.kept_streams("is kept", group_id)
    heartbeat.group_id = "consumers"
    recorder.case("a consumer group", 1, heartbeat)
    StreamsMember(recorder, "consumers", "a", STATELESS).join("joins a consumer group")
    recorder.case("describe it", recorder.version, StreamsGroupDescribeRequest(group_ids=["consumers"]))


def offsets(recorder: StreamsGroupRecorder) -> None:
    """Commits, fetches and deletes by members in every epoch."""
    group_id = "offsets"
    a, b = (StreamsMember(recorder, group_id, name, TWO_PARTS) for name in "ab")
    a.join()
    a.own()
    b.join()
    settle(a, b)
    for version in COMMIT_VERSIONS:
        commit(recorder, "a commits", version, Client(group_id, "a", a.member_epoch), 0)
        commit(recorder, "a commits in the epoch before", version, Client(group_id, "a", a.member_epoch - 1), 0, 1)
        commit(recorder, "a commits in its first epoch", version, Client(group_id, "a", 1), 0)
        commit(recorder, "a commits in an epoch to come", version, Client(group_id, "a", a.member_epoch + 1), 0)
        commit(recorder, "b commits in the epoch before", version, Client(group_id, "b", b.member_epoch - 1), 1)
        commit(recorder, "a stranger commits", version, Client(group_id, "stranger", 3), 0)
        commit(recorder, "someone commits without a group", version, Client(group_id, "", -1), 0)
        commit(recorder, "a commits without an epoch", version, Client(group_id, "a", -1), 0)
    commit(
        recorder,
        "a commits what it does not read",
        9,
        Client(group_id, "a", a.member_epoch - 1),
        0,
        topic="settle-marker",
    )
    for version in (9, 10):
        fetch(recorder, "a fetches", version, Client(group_id, "a", a.member_epoch))
        fetch(recorder, "a fetches in the epoch before", version, Client(group_id, "a", a.member_epoch - 1))
        fetch(recorder, "a stranger fetches", version, Client(group_id, "stranger", 1))
        fetch(recorder, "someone fetches", version, Client(group_id, None, -1))
        fetch(recorder, "someone fetches with an epoch", version, Client(group_id, None, 2))
    delete = [
        OffsetDeleteRequestTopic(name=each, partitions=[OffsetDeleteRequestPartition(partition_index=0)])
        for each in (SOURCE, WIDE, "settle-marker")
    ]
    recorder.case("delete offsets", 0, OffsetDeleteRequest(group_id=group_id, topics=delete))
    a.leave()
    b.leave()
    recorder.case("delete offsets without members", 0, OffsetDeleteRequest(group_id=group_id, topics=delete))
    commit(recorder, "someone commits to the empty group", 9, Client(group_id, "", -1), 0)
    recorder.case("delete it", 2, DeleteGroupsRequest(groups_names=[group_id]))


class Client(NamedTuple):
    """Who commits or fetches offsets."""

    group_id: str
    member_id: str | None
    epoch: int


def commit(
    recorder: StreamsGroupRecorder, case: str, version: int, client: Client, *partitions: int, topic: str = SOURCE
) -> None:
    """Record a commit of offset 5 for each partition of the topic."""
    entries = [OffsetCommitRequestPartition(partition_index=index, committed_offset=5) for index in partitions]
    asked = OffsetCommitRequestTopic(name=topic, topic_id=recorder.topic_id_of(topic), partitions=entries)
    request = OffsetCommitRequest(
        group_id=client.group_id,
        member_id=client.member_id or "",
        generation_id_or_member_epoch=client.epoch,
        topics=[asked],
    )
    recorder.case(case, version, request)


def fetch(recorder: StreamsGroupRecorder, case: str, version: int, client: Client) -> None:
    """Record a fetch of the offset of partition 0 of the source."""
    asked = OffsetFetchRequestTopics(name=SOURCE, topic_id=recorder.topic_ids[SOURCE], partition_indexes=[0])
    group = OffsetFetchRequestGroup(
        group_id=client.group_id, member_id=client.member_id, member_epoch=client.epoch, topics=[asked]
    )
    recorder.case(case, version, OffsetFetchRequest(groups=[group]))


def unknown_topology(recorder: StreamsGroupRecorder) -> None:
    """A topology without state and one with many subtopologies, whose order is that of a hash table."""
    many = topology(*(subtopology(str(number), SOURCE) for number in range(20)))
    a, b, c = (StreamsMember(recorder, "many", name, many) for name in "abc")
    a.join()
    b.join()
    c.join()
    settle(a, b, c, rounds=4)
    recorder.describe_streams("with three", "many")
