"""What is known of groups when the broker is started again, and what their members may go on with."""

from fauxka.protocol.messages.delete_groups import DeleteGroupsRequest
from fauxka.protocol.messages.describe_groups import DescribeGroupsRequest
from fauxka.protocol.messages.heartbeat import HeartbeatRequest
from fauxka.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition
from fauxka.protocol.messages.sync_group import SyncGroupRequest

from ...messages import replaced
from ..group_client import GroupClient, protocols_of, stable_pair, subscription
from ..group_recorder import GroupRecorder
from .offsets import TOPIC, commit_of, delete_of, fetch_of

RETENTION_MS = 3_600_000
# The oldest version, which has a retention time; the newest with topic names.
RETENTION_VERSION, BY_NAME = 2, 9
DESCRIBE_LATEST = 6
KEPT = (
    "kept-simple",
    "kept-stable",
    "kept-left",
    "kept-static",
    "kept-joining",
    "kept-assigning",
    "kept-pending",
    "kept-deleted",
    "kept-without-offsets",
    "kept-protocols",
    "kept-connect",
)

Members = dict[str, GroupClient]


def before(recorder: GroupRecorder) -> Members:
    """Bring groups into every state there is, and return their members."""
    _commit(recorder)
    _leave_and_delete(recorder)
    stable, follower = stable_pair(recorder, "kept-stable")
    recorder.case(
        "a member commits",
        BY_NAME,
        commit_of("kept-stable", 1, 21, generation_id=2, member_id=follower.member_id, leader_epoch=4),
    )
    static = GroupClient(recorder, "kept-static", "a", group_instance_id="i")
    static.join_alone()
    static.assign("assigns", static)
    static.member_id = ""
    static.join("is started again")
    joining, waiting = stable_pair(recorder, "kept-joining")
    waiting.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    recorder.expect("kept-joining", "PreparingRebalance", 2)
    assigning = GroupClient(recorder, "kept-assigning", "a")
    assigning.join_alone()
    GroupClient(recorder, "kept-pending", "a").join("asks for a member id")
    several = GroupClient(recorder, "kept-protocols", "a", protocols=protocols_of("roundrobin", "range"))
    several.join_alone()
    several.assign("assigns", several)
    worker = GroupClient(recorder, "kept-connect", "a", protocol_type="connect", protocols=protocols_of("v2"))
    worker.join_alone()
    worker.assign("assigns", worker)
    return {
        "leader": stable,
        "follower": follower,
        "static": static,
        "joining": joining,
        "waiting": waiting,
        "assigning": assigning,
        "several": several,
    }


def _commit(recorder: GroupRecorder) -> None:
    recorder.case("a commit", BY_NAME, commit_of("kept-simple", 0, 11, metadata="left", leader_epoch=2))
    recorder.case("a later commit", BY_NAME, commit_of("kept-simple", 0, 12, metadata="", leader_epoch=-1))
    request = commit_of("kept-simple", 1, 13, leader_epoch=2)
    request.retention_time_ms = RETENTION_MS
    recorder.case("a commit with a retention time", RETENTION_VERSION, request)
    recorder.case("several commits at once", BY_NAME, _commits_of("kept-simple", {2: 14, 0: 15}))
    recorder.case("a commit to a deleted group", BY_NAME, commit_of("kept-deleted"))
    recorder.case("a commit that is deleted", BY_NAME, commit_of("kept-without-offsets"))


def _commits_of(group_id: str, offsets: dict[int, int]) -> OffsetCommitRequest:
    request = commit_of(group_id)
    request.topics[0].partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        for index, offset in offsets.items()
    ]
    return request


def _leave_and_delete(recorder: GroupRecorder) -> None:
    left = GroupClient(recorder, "kept-left", "a")
    left.join_alone()
    left.assign("assigns", left)
    request = commit_of("kept-left", 0, 31, generation_id=1, member_id=left.member_id)
    recorder.case("a member that leaves commits", BY_NAME, request)
    left.leave("leaves")
    recorder.case("a group is deleted", 2, DeleteGroupsRequest(groups_names=["kept-deleted"]))
    recorder.case("an offset is deleted", 0, delete_of("kept-without-offsets", (TOPIC, [0])))


def after(recorder: GroupRecorder, members: Members) -> None:
    """See what is left, by another connection to the broker that was started again."""
    for group_id in KEPT:
        recorder.case(f"{group_id} is described", DESCRIBE_LATEST, DescribeGroupsRequest(groups=[group_id]))
        recorder.case(f"offsets of {group_id}", BY_NAME, fetch_of(recorder, group_id))
    for name in ("leader", "follower", "static", "joining", "waiting", "assigning", "several"):
        _heartbeat(recorder, name, members[name])
    follower, static, several = members["follower"], members["static"], members["several"]
    request = commit_of("kept-stable", 1, 22, generation_id=2, member_id=follower.member_id)
    recorder.case("a member commits again", BY_NAME, request)
    _sync(recorder, "a follower asks for its assignment", follower)
    recorder.case("a follower joins unchanged", 9, replaced(follower.request, member_id=follower.member_id))
    recorder.case("a static member joins again", 9, static.request)
    recorder.case("a member joins with all its protocols", 9, replaced(several.request, member_id=several.member_id))
    recorder.case("offsets after it", BY_NAME, fetch_of(recorder, "kept-stable"))


def _heartbeat(recorder: GroupRecorder, name: str, client: GroupClient) -> None:
    request = HeartbeatRequest(
        group_id=client.group_id,
        generation_id=client.generation_id,
        member_id=client.member_id,
        group_instance_id=client.request.group_instance_id,
    )
    recorder.case(f"heartbeat of {name}", 4, request)


def _sync(recorder: GroupRecorder, case: str, client: GroupClient) -> None:
    request = SyncGroupRequest(
        group_id=client.group_id,
        generation_id=client.generation_id,
        member_id=client.member_id,
        protocol_type=client.request.protocol_type,
        protocol_name=client.request.protocols[0].name,
    )
    recorder.case(case, 5, request)
