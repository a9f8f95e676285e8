"""A client of one classic group, step by step: it remembers its member id and its generation as a consumer does."""

import struct
from typing import TypedDict, Unpack

from fauxka.protocol.messages.heartbeat import HeartbeatRequest
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from ..messages import replaced
from .group_recorder import GroupRecorder

JOIN_LATEST = 9
SYNC_LATEST = 5
HEARTBEAT_LATEST = 4
LEAVE_LATEST = 5
MEMBER_ID_REQUIRED = 79
SESSION_TIMEOUT_MS = 20_000
REBALANCE_TIMEOUT_MS = 15_000


def subscription(*topics: str) -> bytes:
    """Return a consumer's subscription, version 0."""
    names = b"".join(struct.pack(">h", len(topic)) + topic.encode() for topic in topics)
    return struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", -1)


def protocols_of(*names: str, metadata: bytes | None = None) -> list[JoinGroupRequestProtocol]:
    """Return protocols of these names; their metadata is a subscription to topic "t" if none is given."""
    data = subscription("t") if metadata is None else metadata
    return [JoinGroupRequestProtocol(name=name, metadata=data) for name in names]


class JoinDefaults(TypedDict, total=False):
    """Fields of all JoinGroup requests of a client."""

    session_timeout_ms: int
    rebalance_timeout_ms: int
    group_instance_id: str | None
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]


class JoinChanges(JoinDefaults, total=False):
    """Fields of a JoinGroup request that differ from what the client would send."""

    group_id: str
    member_id: str
    reason: str | None


class SyncChanges(TypedDict, total=False):
    """Fields of a SyncGroup request that differ from what the client would send."""

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: list[SyncGroupRequestAssignment]


class HeartbeatChanges(TypedDict, total=False):
    """Fields of a Heartbeat request that differ from what the client would send."""

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None


class GroupClient:
    """One client of a group; every method named after an API records a case."""

    def __init__(self, recorder: GroupRecorder, group_id: str, name: str, **defaults: Unpack[JoinDefaults]) -> None:
        """Connect as client "GROUP.NAME"; defaults are for all of its JoinGroup requests."""
        self.name = name
        self.group_id = group_id
        self.watcher = recorder
        self.recorder = recorder.another(f"{group_id}.{name}")
        self.member_id = ""
        self.generation_id = -1
        self.request = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            protocol_type="consumer",
            protocols=protocols_of("range"),
        )
        self.request = replaced(self.request, **defaults)

    # -- JoinGroup

    def start_join(self, version: int = JOIN_LATEST, **changes: Unpack[JoinChanges]) -> None:
        """Send a JoinGroup request."""
        request = replaced(self.request, member_id=self.member_id)
        self.recorder.start(version, replaced(request, **changes))

    def finish_join(self, case: str) -> JoinGroupResponse:
        """Record the answer to it."""
        response = self.recorder.finish(f"{self.name} {case}")
        assert isinstance(response, JoinGroupResponse), response
        if response.error_code in (0, MEMBER_ID_REQUIRED):
            self.member_id = response.member_id
            self.generation_id = response.generation_id
        return response

    def join(self, case: str, version: int = JOIN_LATEST, **changes: Unpack[JoinChanges]) -> JoinGroupResponse:
        """Record a JoinGroup request that is answered at once."""
        self.start_join(version, **changes)
        return self.finish_join(case)

    def start_joining(self, state: str = "PreparingRebalance", member_count: int = 2) -> None:
        """Ask for a member id, then join, and wait until that has brought the group into the state."""
        self.join("asks for a member id")
        self.start_join()
        self.watcher.expect(self.group_id, state, member_count)

    def join_alone(self) -> None:
        """Become the only member of a new group, up to its SyncGroup."""
        if self.request.group_instance_id is None:
            self.join("asks for a member id")
        self.join("joins")

    # -- the other APIs

    def start_sync(self, version: int = SYNC_LATEST, **changes: Unpack[SyncChanges]) -> None:
        """Send a SyncGroup request without assignments."""
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.request.group_instance_id,
            protocol_type=self.request.protocol_type,
            protocol_name=self.request.protocols[0].name,
        )
        self.recorder.start(version, replaced(request, **changes))

    def finish_sync(self, case: str) -> None:
        """Record the answer to it."""
        self.recorder.finish(f"{self.name} {case}")

    def sync(self, case: str, version: int = SYNC_LATEST, **changes: Unpack[SyncChanges]) -> None:
        """Record a SyncGroup request that is answered at once."""
        self.start_sync(version, **changes)
        self.finish_sync(case)

    def assign(self, case: str, *members: "GroupClient", version: int = SYNC_LATEST) -> None:
        """Record a SyncGroup request with an assignment for each member: its name."""
        self.sync(case, version, assignments=assignments_for(*members))

    def heartbeat(self, case: str, version: int = HEARTBEAT_LATEST, **changes: Unpack[HeartbeatChanges]) -> None:
        """Record a Heartbeat request."""
        request = HeartbeatRequest(
            group_id=self.group_id,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.request.group_instance_id,
        )
        self.recorder.case(f"{self.name} {case}", version, replaced(request, **changes))

    def leave(self, case: str, version: int = LEAVE_LATEST) -> None:
        """Record a LeaveGroup request for this member."""
        member = MemberIdentity(member_id=self.member_id, group_instance_id=self.request.group_instance_id)
        request = LeaveGroupRequest(group_id=self.group_id, member_id=self.member_id, members=[member])
        self.recorder.case(f"{self.name} {case}", version, request)


def assignments_for(*members: GroupClient) -> list[SyncGroupRequestAssignment]:
    """Return an assignment for each member: its name."""
    return [
        SyncGroupRequestAssignment(member_id=member.member_id, assignment=member.name.encode()) for member in members
    ]


def stable_pair(
    recorder: GroupRecorder, group_id: str, first: GroupClient | None = None, second: GroupClient | None = None
) -> tuple[GroupClient, GroupClient]:
    """Return a leader "a" and a follower "b" of a stable group in generation 2."""
    a = first or GroupClient(recorder, group_id, "a")
    b = second or GroupClient(recorder, group_id, "b")
    a.join_alone()
    a.assign("assigns", a)
    if b.request.group_instance_id is None:
        b.join("asks for a member id")
    b.start_join()
    recorder.expect(group_id, "PreparingRebalance", 2)
    a.join("rejoins")
    b.finish_join("has joined")
    b.start_sync()
    a.assign("assigns", a, b)
    b.finish_sync("is assigned")
    return a, b
