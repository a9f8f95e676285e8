"""JoinGroup of dynamic members: who is let in, what is refused, what a rebalance waits for."""

from fauxka.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity

from ..group_client import JOIN_LATEST, GroupClient, protocols_of, stable_pair, subscription
from ..group_recorder import GroupRecorder

JOIN_VERSIONS = range(JOIN_LATEST + 1)
# A rebalance timeout that a scene waits for.
QUICK_MS = 1_000


def refused(recorder: GroupRecorder) -> None:
    """Requests that are refused whatever the group."""
    for version in JOIN_VERSIONS:
        a = GroupClient(recorder, "refused", "a")
        a.join("joins a group without an id", version, group_id="")
        a.join("has a session timeout below the least", version, session_timeout_ms=499)
        a.join("joins a group that there is not as a member", version, member_id="nobody")
        a.join("has no protocols", version, protocols=[])
        a.join("has no protocol type", version, protocol_type="")
    a = GroupClient(recorder, "refused", "b")
    a.join("has a session timeout above the greatest", session_timeout_ms=1_800_001)
    a.join("names itself in a group without an id", group_id="", member_id="nobody")
    a.join("has a negative session timeout", session_timeout_ms=-1)
    a.join("names itself and an instance that there is not", member_id="nobody", group_instance_id="i")


def whole_life(recorder: GroupRecorder) -> None:
    """One member from JoinGroup to LeaveGroup in every version, APIs of about the same age together."""
    for version in JOIN_VERSIONS:
        recorder.scene = f"whole life v{version}"
        a = GroupClient(recorder, f"life-{version}", "a")
        if version >= 4:
            a.join("asks for a member id", version)
        a.join("joins", version)
        younger = min(version, 5)
        a.assign("assigns", a, version=younger)
        a.sync("asks again", younger)
        a.heartbeat("is alive", min(version, 4))
        a.join("rejoins as leader", version)
        a.heartbeat("is alive before its SyncGroup", min(version, 4))
        a.leave("leaves", younger)
        a.heartbeat("is alive after it left", min(version, 4))
        a.leave("leaves again", younger)
        a.join("rejoins the empty group under its old id", version)


def protocols(recorder: GroupRecorder) -> None:
    """Protocol types and protocols that do not fit the group's, and the vote among the protocols that do."""
    _, b = stable_pair(recorder, "protocols")
    c = GroupClient(recorder, "protocols", "c")
    c.join("has another protocol type", protocol_type="connect")
    c.join("has no protocol in common", protocols=protocols_of("roundrobin"))
    c.join("has no protocols", protocols=[])
    b.join("rejoins with another protocol type", protocol_type="connect")
    b.join("rejoins with no protocol in common", protocols=protocols_of("roundrobin"))


def vote(recorder: GroupRecorder, group_id: str, *preferences: tuple[str, ...]) -> None:
    """Members with these preferences vote for the protocol."""
    members = [
        GroupClient(recorder, group_id, name, protocols=protocols_of(*names))
        for name, names in zip("abc", preferences, strict=False)
    ]
    members[0].join_alone()
    members[0].sync("assigns nothing", protocol_name=preferences[0][0])
    for count, member in enumerate(members[1:], 2):
        member.start_joining(member_count=count)
    members[0].join("rejoins")
    for member in members[1:]:
        member.finish_join("has joined")


def votes(recorder: GroupRecorder) -> None:
    """Which protocol wins; of several with as many votes it is not the first voter's.

    The names have places of their own in a hash table of Java: what shares one comes in no order that repeats.
    """
    vote(recorder, "vote-majority", ("range", "roundrobin"), ("roundrobin", "range"), ("roundrobin", "range"))
    vote(recorder, "vote-candidates", ("sticky", "range"), ("range", "roundrobin"))
    vote(recorder, "vote-tie-1", ("range", "roundrobin"), ("roundrobin", "range"))
    vote(recorder, "vote-tie-2", ("roundrobin", "range"), ("range", "roundrobin"))
    vote(
        recorder, "vote-tie-3", ("roundrobin", "range", "x"), ("x", "roundrobin", "range"), ("range", "x", "roundrobin")
    )
    vote(recorder, "vote-tie-4", ("cooperative-sticky", "range"), ("range", "cooperative-sticky"))
    vote(recorder, "vote-tie-5", ("b", "a", "c"), ("c", "b", "a"), ("a", "c", "b"))


def rejoining(recorder: GroupRecorder) -> None:
    """What a known member's JoinGroup starts, and what it only repeats."""
    a, b = stable_pair(recorder, "rejoining")
    b.join("rejoins unchanged while stable")
    b.heartbeat("is alive")
    b.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    recorder.expect("rejoining", "PreparingRebalance", 2)
    a.heartbeat("is alive while the group rebalances")
    a.sync("asks for its assignment while the group rebalances")
    a.join("rejoins")
    b.finish_join("has rejoined with other metadata")
    a.join("as leader repeats its JoinGroup before the assignment")
    b.join(
        "repeats its JoinGroup before the assignment",
        protocols=protocols_of("range", metadata=subscription("other")),
    )
    b.start_sync()
    a.start_join(protocols=protocols_of("range", metadata=subscription("third")))
    b.finish_sync("waits for its assignment when the leader comes with other metadata")
    b.join("rejoins")
    a.finish_join("has rejoined with other metadata")
    b.join("gives an unknown member id", member_id="nobody")


def pending(recorder: GroupRecorder) -> None:
    """An id that was handed out and not used yet holds up a rebalance until it comes, leaves or expires."""
    a = GroupClient(recorder, "pending", "a")
    a.join_alone()
    a.assign("assigns", a)
    b = GroupClient(recorder, "pending", "b")
    b.join("asks for a member id")
    b.heartbeat("is alive before it joins", generation_id=1)
    b.join("joins as a static member", group_instance_id="i")
    b.sync("asks for an assignment before it joins", generation_id=1)
    a.start_join()
    recorder.expect("pending", "PreparingRebalance", 1)
    b.leave("leaves before it joins")
    a.finish_join("has rejoined")
    a.assign("assigns", a)
    c = GroupClient(recorder, "pending", "c", session_timeout_ms=600)
    c.join("asks for a member id")
    a.start_join()
    a.finish_join("has rejoined after the pending member's session expired")
    c.join("comes too late")


def full(recorder: GroupRecorder) -> None:
    """group.max.size, which is 3 here."""
    a, b = stable_pair(recorder, "full")
    c = GroupClient(recorder, "full", "c")
    c.start_joining(member_count=3)
    d = GroupClient(recorder, "full", "d")
    d.join("comes fourth, before all have rejoined")
    d.leave("leaves")
    a.start_join()
    b.join("rejoins")
    a.finish_join("has rejoined")
    c.finish_join("has joined")
    d.member_id = ""
    d.join("comes fourth, before the assignment")
    d.join("comes fourth as a static member", group_instance_id="i")
    b.start_sync()
    c.start_sync()
    a.assign("assigns", a, b, c)
    b.finish_sync("is assigned")
    c.finish_sync("is assigned")
    d.join("comes fourth to a stable group")
    b.join("rejoins the full group")


def timeouts(recorder: GroupRecorder) -> None:
    """Sessions and rebalance timeouts that run out."""
    a, b = stable_pair(recorder, "session", second=GroupClient(recorder, "session", "b", session_timeout_ms=600))
    recorder.expect("session", "PreparingRebalance", 1)
    a.heartbeat("is alive after the other's session expired")
    a.join("rejoins")
    b.heartbeat("is alive too late")
    c, d = stable_pair(
        recorder,
        "rebalance",
        GroupClient(recorder, "rebalance", "a", rebalance_timeout_ms=QUICK_MS),
        GroupClient(recorder, "rebalance", "b", rebalance_timeout_ms=QUICK_MS),
    )
    d.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    d.finish_join("has rejoined alone, and leads")
    c.heartbeat("is alive after it missed the rebalance")
    recorder.expect("rebalance", "Empty", 0)
    d.sync("comes too late with the assignment")


def leader_leaves(recorder: GroupRecorder) -> None:
    """A follower waits for an assignment when the leader leaves."""
    a, b = stable_pair(recorder, "leader-leaves")
    a.start_join()
    recorder.expect("leader-leaves", "PreparingRebalance", 2)
    b.join("rejoins")
    a.finish_join("has rejoined")
    b.start_sync()
    a.leave("leaves before the assignment")
    b.finish_sync("waits for its assignment when the leader leaves")
    b.join("rejoins, and leads")


def waiting_member_leaves(recorder: GroupRecorder) -> None:
    """A member is removed by another connection while its JoinGroup waits."""
    a, b = stable_pair(recorder, "waiting-leaves")
    b.start_join(protocols=protocols_of("range", metadata=subscription("other")))
    recorder.expect("waiting-leaves", "PreparingRebalance", 2)
    a.recorder.case("a has b leave", 5, _leave_of("waiting-leaves", b))
    b.finish_join("waits to rejoin when it is removed")
    a.join("rejoins")


def _leave_of(group_id: str, member: GroupClient) -> LeaveGroupRequest:
    return LeaveGroupRequest(group_id=group_id, members=[MemberIdentity(member_id=member.member_id)])
