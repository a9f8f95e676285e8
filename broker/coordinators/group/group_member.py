"""A member of a classic group, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....protocol.messages.join_group import JoinGroupResponse
from ....protocol.messages.sync_group import SyncGroupResponse
from ...runtime.deferred import Deferred


@dataclass(frozen=True, slots=True)
class MemberProtocol:
    """An assignment protocol that a member knows ("range"), with its metadata for it (its subscription)."""

    name: str
    metadata: bytes


@dataclass(slots=True, kw_only=True)
class GroupMember:
    """One member. Its protocols are in the order of its preference, client_host is as Java prints an address."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Sequence[MemberProtocol]
    assignment: bytes = b""
    # True until the first join phase it took part in is over.
    is_new: bool = False
    awaiting_join: Deferred[JoinGroupResponse] | None = field(default=None, repr=False)
    awaiting_sync: Deferred[SyncGroupResponse] | None = field(default=None, repr=False)

    @property
    def is_static(self) -> bool:
        """Whether the member has a group.instance.id."""
        return self.group_instance_id is not None

    def metadata_of(self, protocol_name: str) -> bytes:
        """Return the member's metadata for a protocol that it supports."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        raise AssertionError(f"member {self.member_id} does not support protocol {protocol_name}")

    def has_satisfied_heartbeat(self) -> bool:
        """Whether an expired session is excused: who waits for its group sends no heartbeats meanwhile.

        A new member is not excused: were its connection gone, it would wait for ever.
        """
        return not self.is_new and (self.awaiting_join is not None or self.awaiting_sync is not None)

    def await_join(self, answer: Deferred[JoinGroupResponse]) -> None:
        """Wait for the join phase to end; an earlier wait of the same member is never answered, as in Kafka."""
        self.awaiting_join = answer

        def stay_without_connection() -> None:
            if self.awaiting_join is answer:
                self.awaiting_join = Deferred()

        answer.on_abandoned = stay_without_connection

    def await_sync(self, answer: Deferred[SyncGroupResponse]) -> None:
        """Wait for the leader's assignment."""
        self.awaiting_sync = answer

        def stay_without_connection() -> None:
            if self.awaiting_sync is answer:
                self.awaiting_sync = Deferred()

        answer.on_abandoned = stay_without_connection

    def take_join_wait(self) -> Deferred[JoinGroupResponse] | None:
        """Return the waiting JoinGroup request, if there is one, for whoever answers it now."""
        answer, self.awaiting_join = self.awaiting_join, None
        return answer

    def take_sync_wait(self) -> Deferred[SyncGroupResponse] | None:
        """Return the waiting SyncGroup request, if there is one, for whoever answers it now."""
        answer, self.awaiting_sync = self.awaiting_sync, None
        return answer
