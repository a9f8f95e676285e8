"""Classic members and members of the consumer protocol in one group."""

import struct

from fauxka.protocol.messages.heartbeat import HeartbeatRequest
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fauxka.protocol.messages.list_groups import ListGroupsRequest
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from ..consumer_group_client import ConsumerMember
from ..consumer_group_recorder import ConsumerGroupRecorder
from .heartbeats import TOPIC

MEMBER_ID_REQUIRED = 79


def partitions_of(topic: str, *partitions: int) -> bytes:
    """Return one topic's partitions, as both parts of the consumers' own protocol write them."""
    head = struct.pack(">h", len(topic)) + topic.encode()
    return head + struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)


def assignment(version: int, topic: str, *partitions: int) -> bytes:
    """Return an assignment of one topic's partitions."""
    return struct.pack(">hi", version, 1) + partitions_of(topic, *partitions) + struct.pack(">i", -1)


def subscription(version: int, topics: list[str], owned: tuple[int, ...] = ()) -> bytes:
    """Return a subscription; owned: partitions of TOPIC."""
    names = b"".join(struct.pack(">h", len(topic)) + topic.encode() for topic in topics)
    data = struct.pack(">hi", version, len(topics)) + names + struct.pack(">i", -1)
    if version >= 1:
        data += struct.pack(">i", 1) + partitions_of(TOPIC, *owned) if owned else struct.pack(">i", 0)
    if version >= 2:
        data += struct.pack(">i", -1)
    if version >= 3:
        data += struct.pack(">h", -1)
    return data


class ClassicMember:
    """A classic member that reads what it is assigned."""

    def __init__(
        self, recorder: ConsumerGroupRecorder, group_id: str, name: str, instance_id: str | None = None
    ) -> None:
        """Be the client called name."""
        self.watcher = recorder
        self.recorder = recorder.another(f"{group_id}.{name}")
        self.group_id = group_id
        self.name = name
        self.instance_id = instance_id
        self.member_id = ""
        self.generation_id = -1

    def request(
        self, owned: tuple[int, ...] = (), version: int = 1, topics: list[str] | None = None
    ) -> JoinGroupRequest:
        """Return a JoinGroup request."""
        metadata = subscription(version, topics or [TOPIC], owned)
        return JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=20_000,
            rebalance_timeout_ms=15_000,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )

    def join(self, case: str = "joins", owned: tuple[int, ...] = (), *, version: int = 9) -> None:
        """Join, with the id that it was given if it was."""
        self._joined(self.recorder.case(f"{self.name} {case}", version, self.request(owned)))

    def _joined(self, response: object | None) -> None:
        assert isinstance(response, JoinGroupResponse), response
        if response.error_code in (0, MEMBER_ID_REQUIRED):
            self.member_id = response.member_id
            self.generation_id = response.generation_id

    def sync(self, case: str = "syncs", assigned: bytes | None = None, generation_id: int | None = None) -> None:
        """Ask for its assignment, or give it to itself as the leader of a classic group."""
        given = [] if assigned is None else [SyncGroupRequestAssignment(member_id=self.member_id, assignment=assigned)]
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation_id if generation_id is None else generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=given,
        )
        self.recorder.case(f"{self.name} {case}", 5, request)

    def beat(self, case: str = "is alive", generation_id: int | None = None) -> None:
        """Send a heartbeat."""
        request = HeartbeatRequest(
            group_id=self.group_id,
            generation_id=self.generation_id if generation_id is None else generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        self.recorder.case(f"{self.name} {case}", 4, request)

    def leave(self, case: str = "leaves") -> None:
        """Leave."""
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        self.recorder.case(f"{self.name} {case}", 5, LeaveGroupRequest(group_id=self.group_id, members=[identity]))


def classic_group(recorder: ConsumerGroupRecorder, group_id: str, instance_id: str | None = None) -> ClassicMember:
    """Return the only member of a stable classic group, which has all partitions of TOPIC."""
    classic = ClassicMember(recorder, group_id, "classic", instance_id)
    if instance_id is None:
        classic.join("asks for a member id")
    classic.join()
    classic.sync("assigns", assignment(1, TOPIC, 0, 1, 2, 3, 4, 5))
    return classic


def upgrade(recorder: ConsumerGroupRecorder) -> None:
    """A member of the consumer protocol joins a classic group, and leaves it again."""
    classic = classic_group(recorder, "upgrade")
    a = ConsumerMember(recorder, "upgrade", "a", TOPIC)
    a.beat("is alive in a classic group", member_epoch=3)
    a.join("joins the classic group")
    recorder.describe_case("with a classic member", "upgrade")
    recorder.case("listed", 5, ListGroupsRequest())
    classic.beat("is told to join again")
    classic.sync("syncs too early")
    classic.join("joins again with its partitions", (0, 1, 2, 3, 4, 5))
    classic.sync("is to have less")
    recorder.describe_case("while it gives up", "upgrade")
    classic.beat("is told to join once more")
    classic.join("joins again with less", (0, 1, 2))
    classic.sync("has less")
    classic.beat()
    classic.beat("is alive in another generation", generation_id=1)
    classic.sync("syncs in another generation", generation_id=1)
    a.beat("gets what is free")
    a.own()
    recorder.describe_case("is stable", "upgrade")
    second = ClassicMember(recorder, "upgrade", "second")
    second.join("asks for a member id")
    second.join()
    second.sync("has nothing yet")
    recorder.describe_case("with two classic members", "upgrade")
    a.leave()
    recorder.case("listed as classic", 5, ListGroupsRequest())
    recorder.describe_case("is no consumer group", "upgrade")
    classic.beat("is told to join the classic group again")
    recorder.kept("kept", "upgrade")


def upgrade_refused(recorder: ConsumerGroupRecorder) -> None:
    """Classic groups that no member of the consumer protocol may join."""
    connect = ClassicMember(recorder, "connect", "worker")
    request = connect.request()
    request.protocol_type = "connect"
    connect.recorder.case("a worker joins", 3, request)
    ConsumerMember(recorder, "connect", "a", TOPIC).join("joins workers")
    broken = ClassicMember(recorder, "broken", "broken")
    request = broken.request()
    request.protocols = [JoinGroupRequestProtocol(name="range", metadata=b"\x00")]
    response = broken.recorder.case("a member with a broken subscription joins", 3, request)
    assert isinstance(response, JoinGroupResponse)
    broken.member_id, broken.generation_id = response.member_id, response.generation_id
    broken.sync("assigns", b"")
    ConsumerMember(recorder, "broken", "a", TOPIC).join("joins the broken one")
    custom = classic_group(recorder, "custom")
    custom.join("joins again")
    custom.sync("assigns with data of its own", assignment(1, TOPIC, 0)[:-4] + struct.pack(">i", 1) + b"x")
    ConsumerMember(recorder, "custom", "a", TOPIC).join("joins the custom one")


def static(recorder: ConsumerGroupRecorder) -> None:
    """A static member comes back with the other protocol."""
    classic = classic_group(recorder, "static-migration", "i")
    a = ConsumerMember(recorder, "static-migration", "a", TOPIC, instance_id="i")
    a.join("takes the place of the classic member")
    recorder.describe_case("with the consumer", "static-migration")
    classic.beat("is alive under the old id")
    classic.member_id = ""
    classic.join("takes the place back")
    recorder.case("listed", 5, ListGroupsRequest())
    classic.sync("has all")
    classic.beat()
    recorder.kept("kept", "static-migration")


def empty_groups(recorder: ConsumerGroupRecorder) -> None:
    """Groups without members go from one protocol to the other without further ado."""
    classic = classic_group(recorder, "empty-groups")
    classic.leave()
    a = ConsumerMember(recorder, "empty-groups", "a", TOPIC)
    a.join("joins the empty classic group")
    a.leave()
    classic.sync("syncs in an empty consumer group")
    classic.beat("is alive in an empty consumer group")
    classic.leave("leaves an empty consumer group")
    classic.member_id = ""
    classic.join("asks for a member id")
    classic.join("joins the empty consumer group")
    recorder.case("listed", 5, ListGroupsRequest())
    recorder.kept("kept", "empty-groups")
