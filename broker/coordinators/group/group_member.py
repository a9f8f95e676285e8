"""A member of a classic group, its pending requests and subscription, and the vote on the assignment protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ....protocol.error_codes import ErrorCode
from ....protocol.frames import FrameError
from ....protocol.messages.join_group import JoinGroupResponse
from ....protocol.messages.sync_group import SyncGroupResponse
from ....protocol.primitives import Reader
from ...runtime.deferred import Deferred
from ..java_hash_tables import java_hash_order

# The protocol type of consumers. Other types ("connect") encode their metadata in another way.
CONSUMER_PROTOCOL_TYPE = "consumer"

# The size of an empty topic name. It bounds the count of topics, which is any 32-bit number.
TOPIC_BYTES_MIN = 2


@dataclass(frozen=True, slots=True)
class MemberProtocol:
    """An assignment protocol that a member supports ("range"), with the member's metadata for it (its subscription)."""

    name: str
    metadata: bytes


@dataclass(slots=True, kw_only=True)
class GroupMember:
    """One member.

    client_host: in Java's form of an address ("/127.0.0.1").
    protocols: in the order of the member's preference.
    is_new: True until the member's first join phase is over.
    awaiting_join, awaiting_sync: the pending responses to JoinGroup and SyncGroup.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Sequence[MemberProtocol]
    assignment: bytes = b""
    is_new: bool = False
    awaiting_join: Deferred[JoinGroupResponse] | None = field(default=None, repr=False)
    awaiting_sync: Deferred[SyncGroupResponse] | None = field(default=None, repr=False)

    @property
    def is_static(self) -> bool:
        """Whether the member has a group.instance.id."""
        return self.group_instance_id is not None

    def supports(self, protocol_name: str) -> bool:
        """Return whether the member supports a protocol."""
        return any(protocol.name == protocol_name for protocol in self.protocols)

    def metadata_of(self, protocol_name: str) -> bytes:
        """Return the member's metadata for a protocol that it supports."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        raise AssertionError(f"member {self.member_id} does not support protocol {protocol_name}")

    def has_satisfied_heartbeat(self) -> bool:
        """Whether the member stays although its session expired: it sends no heartbeats while a request is pending.

        A new member does not stay. If its connection has closed, it would stay for ever.
        """
        return not self.is_new and (self.awaiting_join is not None or self.awaiting_sync is not None)

    def await_join(self, deferred: Deferred[JoinGroupResponse]) -> None:
        """Wait for the end of the join phase. An earlier pending request gets no response, as in Kafka."""
        self.awaiting_join = deferred

        def stay_without_connection() -> None:
            if self.awaiting_join is deferred:
                self.awaiting_join = Deferred()

        deferred.on_abandoned = stay_without_connection

    def await_sync(self, deferred: Deferred[SyncGroupResponse]) -> None:
        """Wait for the leader's assignment."""
        self.awaiting_sync = deferred

        def stay_without_connection() -> None:
            if self.awaiting_sync is deferred:
                self.awaiting_sync = Deferred()

        deferred.on_abandoned = stay_without_connection


def has_common_protocol(members: Iterable[GroupMember], protocol_names: Iterable[str]) -> bool:
    """Return whether all members support the same one of the protocols. Without members, one name is enough."""
    supported = [{protocol.name for protocol in member.protocols} for member in members]
    return any(all(name in names for names in supported) for name in protocol_names)


def select_protocol(members: Sequence[GroupMember]) -> str:
    """Return the protocol with the most votes. Each member votes for its first protocol that all members support.

    Of protocols with equal votes Kafka takes the first in the order of its hash table.
    Source: ClassicGroup.selectProtocol, Kafka 4.3.0.
    """
    assert members, "a group without members has no protocol"
    votes: dict[str, int] = {}
    for member in members:
        vote = next(p.name for p in member.protocols if has_common_protocol(members, [p.name]))
        votes[vote] = votes.get(vote, 0) + 1
    return max(java_hash_order(votes), key=lambda name: votes[name])


def find_subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """Return the topics of a ConsumerProtocolSubscription; None if the bytes are not one.

    Only the fields of version 0 are read. Every version begins with them.
    Source: ClassicGroup.computeSubscribedTopics, Kafka 4.3.0.
    """
    reader = Reader.of_request(metadata)
    try:
        if reader.int16() < 0:
            return None
        count = reader.int32()
        if count < 0 or count * TOPIC_BYTES_MIN > len(metadata):
            return None
        topics = frozenset(reader.string() for _ in range(count))
        reader.nullable_data()
    except FrameError:
        return None
    return topics


def find_subscribed_topics_of(members: Iterable[GroupMember], protocol_name: str | None) -> frozenset[str] | None:
    """Return the topics to which consumers are subscribed; None if one subscription cannot be decoded."""
    topics: set[str] = set()
    for member in members:
        assert protocol_name is not None, "a group with members has a protocol"
        of_member = find_subscribed_topics(member.metadata_of(protocol_name))
        if of_member is None:
            return None
        topics |= of_member
    return frozenset(topics)


def join_error(error_code: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    """Return the response to a rejected JoinGroup request, in the newest version."""
    return JoinGroupResponse(error_code=error_code, member_id=member_id, protocol_name=None)


def sync_error(error_code: ErrorCode) -> SyncGroupResponse:
    """Return the response to a rejected SyncGroup request, in the newest version."""
    return SyncGroupResponse(error_code=error_code, protocol_type=None, protocol_name=None)
