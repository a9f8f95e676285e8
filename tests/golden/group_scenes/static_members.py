"""Members with a group.instance.id: they come back under a new member id, and the old one is fenced."""

from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

from ..group_client import GroupClient, protocols_of, stable_pair, subscription
from ..group_recorder import GroupRecorder


def _static(recorder: GroupRecorder, group_id: str, name: str, instance: str) -> GroupClient:
    return GroupClient(recorder, group_id, name, group_instance_id=instance)


def _static_pair(recorder: GroupRecorder, group_id: str) -> tuple[GroupClient, GroupClient]:
    return stable_pair(
        recorder, group_id, _static(recorder, group_id, "a", "i-a"), _static(recorder, group_id, "b", "i-b")
    )


def restarts(recorder: GroupRecorder) -> None:
    """A leader and a follower of a stable group come back without their ids, in versions before and after KIP-814."""
    for version in (5, 7, 8, 9):
        group_id = f"restart-{version}"
        _static_pair(recorder, group_id)
        new_b = _static(recorder, group_id, "new-b", "i-b")
        new_b.join(f"comes back as follower v{version}", version)
        new_b.sync("asks for its assignment")
        new_a = _static(recorder, group_id, "new-a", "i-a")
        new_a.join(f"comes back as leader v{version}", version)
        new_a.sync("asks for its assignment")
        new_a.heartbeat("is alive")


def fencing(recorder: GroupRecorder) -> None:
    """Whatever the old member id asks for is refused."""
    a, b = _static_pair(recorder, "fencing")
    new_b = _static(recorder, "fencing", "new-b", "i-b")
    new_b.join("comes back")
    b.heartbeat("is alive under the old id")
    b.heartbeat("is alive under the old id without its instance", group_instance_id=None)
    b.join("rejoins under the old id")
    b.sync("asks for its assignment under the old id")
    b.heartbeat("is alive as an instance that there is not", group_instance_id="nothing")
    new_b.heartbeat("is alive in another generation", generation_id=1)
    new_b.heartbeat("is alive without its instance", group_instance_id=None)
    a.heartbeat("is alive with the other's instance", group_instance_id="i-b")
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    commit = OffsetCommitRequest(
        group_id="fencing",
        generation_id_or_member_epoch=2,
        member_id=b.member_id,
        group_instance_id="i-b",
        topics=[OffsetCommitRequestTopic(name="group-topic", partitions=[partition])],
    )
    b.recorder.case("b commits under the old id", 9, commit)
    b.leave("leaves under the old id")
    recorder.case(
        "members leave by their instances",
        5,
        LeaveGroupRequest(
            group_id="fencing",
            members=[
                MemberIdentity(member_id="", group_instance_id="i-b"),
                MemberIdentity(member_id="", group_instance_id="nothing"),
                MemberIdentity(member_id="nobody", group_instance_id="i-a"),
                MemberIdentity(member_id="", group_instance_id=None),
                MemberIdentity(member_id=a.member_id, group_instance_id="i-a", reason="done"),
            ],
        ),
    )


def in_the_middle(recorder: GroupRecorder) -> None:
    """A static member comes back while the group rebalances, before and after the join phase."""
    a, b = _static_pair(recorder, "middle")
    b.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    recorder.expect("middle", "PreparingRebalance", 2)
    new_b = _static(recorder, "middle", "new-b", "i-b")
    new_b.start_join()
    b.finish_join("waits to rejoin when its instance comes back elsewhere")
    a.join("rejoins")
    new_b.finish_join("has joined")
    new_b.start_sync()
    newest_b = _static(recorder, "middle", "newest-b", "i-b")
    newest_b.start_join()
    new_b.finish_sync("waits for its assignment when its instance comes back elsewhere")
    a.join("rejoins once more")
    newest_b.finish_join("has joined")


def other_protocol(recorder: GroupRecorder) -> None:
    """A static member that comes back with other protocols: a rebalance only if the group's protocol changes."""
    a = GroupClient(
        recorder, "other-protocol", "a", group_instance_id="i-a", protocols=protocols_of("range", "roundrobin")
    )
    a.join_alone()
    a.assign("assigns", a)
    b = GroupClient(
        recorder,
        "other-protocol",
        "b",
        group_instance_id="i-a",
        protocols=protocols_of("range", metadata=subscription("other")),
    )
    b.join("comes back with other metadata")
    b.sync("asks for its assignment")
    c = GroupClient(
        recorder,
        "other-protocol",
        "c",
        group_instance_id="i-a",
        protocols=protocols_of("range", "roundrobin"),
    )
    c.join("comes back with a protocol more")
    d = GroupClient(
        recorder,
        "other-protocol",
        "d",
        group_instance_id="i-a",
        protocols=protocols_of("roundrobin", "range"),
    )
    d.join("comes back with another preference")


def known_ids(recorder: GroupRecorder) -> None:
    """A static member rejoins under the id it has; a leader of static members never comes back."""
    a, b = _static_pair(recorder, "known-ids")
    b.join("rejoins unchanged while stable")
    b.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    recorder.expect("known-ids", "PreparingRebalance", 2)
    a.join("rejoins")
    b.finish_join("has rejoined")
    a.join("rejoins unchanged before the assignment")
    _, d = stable_pair(
        recorder,
        "lost-leader",
        GroupClient(recorder, "lost-leader", "a", group_instance_id="i-a", rebalance_timeout_ms=600),
        GroupClient(recorder, "lost-leader", "b", group_instance_id="i-b", rebalance_timeout_ms=600),
    )
    d.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    d.finish_join("has rejoined without the leader, and leads; the lost one is still a member")
