"""SyncGroup, Heartbeat and LeaveGroup."""

from fauxka.protocol.messages.heartbeat import HeartbeatRequest
from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from ..group_client import HEARTBEAT_LATEST, LEAVE_LATEST, SYNC_LATEST, GroupClient, stable_pair
from ..group_recorder import GroupRecorder
from .offsets import commit_of

SYNC_VERSIONS = range(SYNC_LATEST + 1)
HEARTBEAT_VERSIONS = range(HEARTBEAT_LATEST + 1)
LEAVE_VERSIONS = range(LEAVE_LATEST + 1)


def sync_refused(recorder: GroupRecorder) -> None:
    """SyncGroup requests that are refused, in every version."""
    a, _ = stable_pair(recorder, "sync-refused")
    for version in SYNC_VERSIONS:
        a.sync("names no group", version, group_id="")
        a.sync("names a group that there is not", version, group_id="nothing")
        a.sync("names a member that there is not", version, member_id="nobody")
        a.sync("names no member", version, member_id="")
        a.sync("is in an older generation", version, generation_id=1)
        a.sync("is in a generation to come", version, generation_id=3)
    for version in (4, 5):
        a.sync("has another protocol type", version, protocol_type="connect")
        a.sync("has another protocol", version, protocol_name="roundrobin")
        a.sync("has no protocol type", version, protocol_type=None)
        a.sync("has no protocol", version, protocol_name=None)
    recorder.case("a group without members", 5, _whole_sync(_simple_group(recorder, "sync-simple")))


def syncing(recorder: GroupRecorder) -> None:
    """Who is assigned what, and when."""
    a, b = stable_pair(recorder, "syncing")
    a.start_join()
    recorder.expect("syncing", "PreparingRebalance", 2)
    b.join("rejoins")
    a.finish_join("has rejoined")
    b.start_sync(assignments=[SyncGroupRequestAssignment(member_id=b.member_id, assignment=b"taken by itself")])
    a.sync(
        "assigns to itself and to nobody",
        assignments=[
            SyncGroupRequestAssignment(member_id=a.member_id, assignment=b"all"),
            SyncGroupRequestAssignment(member_id="nobody", assignment=b"rest"),
        ],
    )
    b.finish_sync("is assigned nothing")
    a.assign("assigns once more while stable", a, b)
    b.sync("asks once more while stable")


def heartbeat_refused(recorder: GroupRecorder) -> None:
    """Heartbeats that are refused, in every version; what a rebalance says to them is in the scenes on joining."""
    a, _ = stable_pair(recorder, "heartbeat-refused")
    simple = _simple_group(recorder, "heartbeat-simple")
    for version in HEARTBEAT_VERSIONS:
        a.heartbeat("names no group", version, group_id="")
        a.heartbeat("names a group that there is not", version, group_id="nothing")
        a.heartbeat("names a member that there is not", version, member_id="nobody")
        a.heartbeat("names no member", version, member_id="")
        a.heartbeat("is in an older generation", version, generation_id=1)
        a.heartbeat("is alive", version)
        recorder.case("a group without members", version, HeartbeatRequest(group_id=simple, generation_id=0))


def leaving(recorder: GroupRecorder) -> None:
    """LeaveGroup in every version: of unknown members, of several at once, of the last one."""
    for version in LEAVE_VERSIONS:
        group_id = f"leaving-{version}"
        a, b = stable_pair(recorder, group_id)
        recorder.case("no group", version, _leave("", a.member_id))
        recorder.case("a group that there is not", version, _leave("nothing", "nobody"))
        recorder.case("a member that there is not", version, _leave(group_id, "nobody"))
        recorder.case("no member", version, _leave(group_id, ""))
        b.leave("leaves", version)
        a.heartbeat("is alive after the other left")
        a.leave("leaves as the last one", version)
        recorder.case("a group that is empty", version, _leave(group_id, a.member_id))


def leaving_together(recorder: GroupRecorder) -> None:
    """Several members in one request, some of which there are not."""
    a, b = stable_pair(recorder, "together")
    c = GroupClient(recorder, "together", "c")
    c.join("asks for a member id")
    identities = [
        MemberIdentity(member_id=member_id, reason="test")
        for member_id in (a.member_id, "nobody", b.member_id, c.member_id, a.member_id)
    ]
    recorder.case("all leave", 5, LeaveGroupRequest(group_id="together", members=identities))
    recorder.case("nobody leaves", 5, LeaveGroupRequest(group_id="together", members=[]))
    recorder.case("nobody leaves a group that there is not", 5, LeaveGroupRequest(group_id="nothing", members=[]))


def _leave(group_id: str, member_id: str) -> LeaveGroupRequest:
    return LeaveGroupRequest(group_id=group_id, member_id=member_id, members=[MemberIdentity(member_id=member_id)])


def _simple_group(recorder: GroupRecorder, group_id: str) -> str:
    """Make a group by a commit without membership, and return its id."""
    recorder.case("a commit makes a group", 9, commit_of(group_id))
    return group_id


def _whole_sync(group_id: str) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group_id, generation_id=0, member_id="nobody", protocol_type="consumer", protocol_name="range"
    )
