"""The state of one classic group: members, generation, leader, and the step of its rebalance.

A group is EMPTY, PREPARING_REBALANCE (waits for JoinGroup), COMPLETING_REBALANCE (waits for the leader's assignment),
STABLE or DEAD. PREVIOUS_STATES holds the allowed transitions.
- Every static member is in both `members` and `static_members`.
- The leader is a member, or None. The first member becomes the leader.
- A state other than EMPTY and DEAD has a protocol type. It is the same for all members.
- Responses to members are delayed until the step is done (GroupTimers). None is sent while the group is half changed.
This module starts no timer and reads no request: rebalance.py changes the state, group_join.py and group_membership.py
validate requests.
Source: ClassicGroup, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ....protocol.messages.sync_group import SyncGroupResponse
from ....protocol.stored_records.group_log_records import GroupMetadataKey
from ..coordinator_log import CoordinatorRecord
from .group import CheckOffset, GroupType, OffsetCommitter, accept_any_offset
from .group_member import (
    CONSUMER_PROTOCOL_TYPE,
    GroupMember,
    find_subscribed_topics_of,
    has_common_protocol,
    join_error,
    select_protocol,
    sync_error,
)
from .group_timers import GroupTimers

if TYPE_CHECKING:
    from ...runtime.deferred import Deferred
    from .offset_store import CommittedOffset


class GroupState(Enum):
    """The states of a classic group, by the names that ListGroups and DescribeGroups return."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


# States in which a rebalance may begin.
REBALANCEABLE_STATES = frozenset({GroupState.EMPTY, GroupState.COMPLETING_REBALANCE, GroupState.STABLE})

PREVIOUS_STATES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: REBALANCEABLE_STATES,
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.COMPLETING_REBALANCE}),
    GroupState.DEAD: frozenset(GroupState),
}


class ClassicGroup:
    """A group whose leader assigns the partitions (JoinGroup, SyncGroup)."""

    group_type = GroupType.CLASSIC
    __slots__ = (
        "generation_id",
        "group_id",
        "leader_id",
        "members",
        "new_member_added",
        "pending_join_members",
        "pending_sync_members",
        "previous_state",
        "protocol_name",
        "protocol_type",
        "state",
        "state_changed_ms",
        "static_members",
        "subscribed_topics",
        "timers",
    )

    def __init__(self, group_id: str, timers: GroupTimers) -> None:
        """Create the group without members, in generation 0."""
        self.group_id = group_id
        self.timers = timers
        self.state = GroupState.EMPTY
        self.previous_state = GroupState.DEAD
        self.state_changed_ms = timers.now_ms()
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, GroupMember] = {}
        # group.instance.id to the current member id.
        self.static_members: dict[str, str] = {}
        # Member ids that were sent with MEMBER_ID_REQUIRED, and with which no client has joined yet.
        self.pending_join_members: set[str] = set()
        # Members of the current generation that have not sent SyncGroup yet.
        self.pending_sync_members: set[str] = set()
        # None: unknown, because the members are not consumers or their metadata cannot be decoded.
        self.subscribed_topics: frozenset[str] | None = None
        # Whether a member joined during the initial rebalance delay, which extends it.
        self.new_member_added = False

    # -- state

    @property
    def state_name(self) -> str:
        """The state by the name that ListGroups returns."""
        return self.state.value

    @property
    def listed_protocol_type(self) -> str:
        """The protocol type that ListGroups returns; empty before the first member has joined."""
        return self.protocol_type or ""

    @property
    def is_empty(self) -> bool:
        """Whether the group has no members."""
        return self.state is GroupState.EMPTY

    @property
    def uses_consumer_protocol(self) -> bool:
        """Whether the members are consumers."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def can_rebalance(self) -> bool:
        """Whether a rebalance may begin; False during a join phase."""
        return self.state in REBALANCEABLE_STATES

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def awaiting_join_count(self) -> int:
        """The number of members with a pending JoinGroup request."""
        return sum(member.awaiting_join is not None for member in self.members.values())

    @property
    def has_all_members_joined(self) -> bool:
        """Whether every member has a pending JoinGroup request, and no issued member id is unused."""
        return not self.pending_join_members and self.awaiting_join_count == len(self.members)

    def is_leader(self, member_id: str) -> bool:
        """Whether the member assigns the partitions."""
        return self.leader_id == member_id

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member consumes the topic. Consumers with an unreadable subscription count as subscribed."""
        if self.subscribed_topics is None:
            return self.uses_consumer_protocol
        return topic_name in self.subscribed_topics

    def supports_protocols(self, protocol_type: str, protocol_names: Iterable[str]) -> bool:
        """Whether a member with these protocols may join."""
        names = list(protocol_names)
        if self.is_empty:
            return bool(protocol_type) and bool(names)
        return self.protocol_type == protocol_type and has_common_protocol(self.members.values(), names)

    def check_member(self, member_id: str, group_instance_id: str | None) -> None:
        """Raise KafkaError UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID unless the member is in the group."""
        if group_instance_id is not None:
            current = self.static_members.get(group_instance_id)
            if current is not None and current != member_id:
                raise KafkaError(
                    ErrorCode.FENCED_INSTANCE_ID,
                    f"group {self.group_id}: instance {group_instance_id} is member {current}, not {member_id}",
                )
            if current is None:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {self.group_id}: no instance {group_instance_id}")
        if member_id not in self.members:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {self.group_id}: no member {member_id!r}")

    def check_generation(self, generation_id: int) -> None:
        """Raise KafkaError ILLEGAL_GENERATION unless it is the current generation."""
        if generation_id != self.generation_id:
            raise KafkaError(
                ErrorCode.ILLEGAL_GENERATION,
                f"group {self.group_id} is in generation {self.generation_id}, not {generation_id}",
            )

    # -- offsets and deletion

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Return the check of each offset. Members may commit any offset, others only while the group is empty.

        Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS.
        Source: ClassicGroup.validateOffsetCommit, Kafka 4.3.0.
        """
        generation_id, is_transactional = committer.generation_id, committer.is_transactional
        if generation_id < 0 and self.is_empty:
            return accept_any_offset
        if generation_id >= 0 or committer.member_id or committer.group_instance_id is not None:
            self.check_member(committer.member_id, committer.group_instance_id)
            self.check_generation(generation_id)
        elif not is_transactional:
            # TxnOffsetCommit names no member before version 3.
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {self.group_id} has members, so only they may commit")
        if self.state is GroupState.COMPLETING_REBALANCE and not is_transactional:
            raise KafkaError(
                ErrorCode.REBALANCE_IN_PROGRESS,
                f"group {self.group_id} has not assigned generation {generation_id} yet",
            )
        return accept_any_offset

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Accept every client."""

    def check_offset_delete(self) -> None:
        """Raise KafkaError NON_EMPTY_GROUP for members other than consumers, because their topics are unknown."""
        if not self.uses_consumer_protocol:
            self.check_delete()

    def check_delete(self) -> None:
        """Raise KafkaError NON_EMPTY_GROUP unless the group is empty."""
        if not self.is_empty:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, f"group {self.group_id} has {len(self.members)} members")

    def retention_base_ms(self, committed: CommittedOffset) -> int | None:
        """Return the time from which the retention of an offset counts; None while the offset does not expire.

        For a group that had members, it is when the last one left. It is the commit if the group never had members,
        and for topics to which a stable group of consumers is no longer subscribed.
        Source: ClassicGroup.offsetExpirationCondition, Kafka 4.3.0.
        """
        if self.protocol_type is None:
            return committed.commit_timestamp_ms
        if self.is_empty:
            return self.state_changed_ms
        if self.state is GroupState.STABLE and self.subscribed_topics is not None:
            return committed.commit_timestamp_ms
        return None

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """Return the tombstone of the group."""
        return (CoordinatorRecord(GroupMetadataKey(self.group_id).encode(), None),)

    def close(self) -> None:
        """Move to DEAD and cancel all timers."""
        self.transition_to(GroupState.DEAD)
        self.timers.cancel_all()

    def fail_pending_requests(self) -> None:
        """Respond NOT_COORDINATOR to the pending requests, when the step is done."""
        for member in self.members.values():
            self.respond_to_join(member, join_error(ErrorCode.NOT_COORDINATOR, member.member_id))
            self.respond_to_sync(member, sync_error(ErrorCode.NOT_COORDINATOR))

    # -- changes

    def transition_to(self, state: GroupState) -> None:
        """Change the state, as PREVIOUS_STATES allows."""
        assert self.state in PREVIOUS_STATES[state], f"group {self.group_id}: {self.state.value} -> {state.value}"
        self.previous_state = self.state
        self.state = state
        self.state_changed_ms = self.timers.now_ms()

    def add(self, member: GroupMember) -> None:
        """Add a member. The first one sets the protocol type and becomes the leader."""
        assert self.supports_protocols(member.protocol_type, [protocol.name for protocol in member.protocols])
        if member.group_instance_id is not None:
            assert member.group_instance_id not in self.static_members, f"{member.group_instance_id} is a member"
            self.static_members[member.group_instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self.pending_join_members.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending member. If it was the leader, the first other member becomes the leader."""
        member = self.members.pop(member_id, None)
        if member is not None and member.group_instance_id is not None:
            del self.static_members[member.group_instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_join_members.discard(member_id)
        self.pending_sync_members.discard(member_id)

    def replace_static_member(self, group_instance_id: str, new_member_id: str) -> GroupMember:
        """Give a static member a new id and return the member. Pending requests under the old id are fenced."""
        old_member_id = self.static_members[group_instance_id]
        member = self.members.pop(old_member_id)
        self.respond_to_join(member, join_error(ErrorCode.FENCED_INSTANCE_ID, old_member_id))
        self.respond_to_sync(member, sync_error(ErrorCode.FENCED_INSTANCE_ID))
        member.member_id = new_member_id
        member.is_new = False
        self.members[new_member_id] = member
        self.static_members[group_instance_id] = new_member_id
        if self.leader_id == old_member_id:
            self.leader_id = new_member_id
        return member

    def elect_joined_leader(self) -> bool:
        """Keep the leader if it has rejoined, else take the first member that has. Return whether there is one."""
        if self.leader_id is None:
            return False
        if self.members[self.leader_id].awaiting_join is None:
            joined = [member_id for member_id, member in self.members.items() if member.awaiting_join is not None]
            if not joined:
                return False
            self.leader_id = joined[0]
        return True

    def restore(
        self,
        *,
        protocol_type: str | None,
        protocol_name: str | None,
        generation_id: int,
        leader_id: str | None,
        members: Sequence[GroupMember],
    ) -> None:
        """Set the state of a new group: stable with these members, or empty without any."""
        assert self.is_empty and not self.members, f"group {self.group_id} has members"
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.generation_id = generation_id
        self.leader_id = leader_id
        for member in members:
            self.add(member)
        self.state = GroupState.STABLE if members else GroupState.EMPTY
        self.subscribed_topics = self._find_subscribed_topics()

    def begin_generation(self) -> None:
        """Start the next generation with the present members: CompletingRebalance, or Empty without members."""
        self.generation_id += 1
        self.protocol_name = select_protocol(list(self.members.values())) if self.members else None
        self.subscribed_topics = self._find_subscribed_topics()
        self.transition_to(GroupState.COMPLETING_REBALANCE if self.members else GroupState.EMPTY)
        self.pending_sync_members.clear()

    def _find_subscribed_topics(self) -> frozenset[str] | None:
        if not self.uses_consumer_protocol:
            return None
        return find_subscribed_topics_of(self.members.values(), self.protocol_name)

    # -- responses, in the newest version of each API

    def join_response(self, member_id: str) -> JoinGroupResponse:
        """Return the response to a member of the current generation. Only the leader gets the list of members."""
        return JoinGroupResponse(
            generation_id=self.generation_id,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            leader=self.leader_id or "",
            member_id=member_id,
            members=self._joined_members() if self.is_leader(member_id) else [],
        )

    def _joined_members(self) -> list[JoinGroupResponseMember]:
        """Return all members with their metadata for the selected protocol."""
        protocol_name = self.protocol_name
        assert protocol_name is not None, f"group {self.group_id} has no protocol in state {self.state.value}"
        return [
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.metadata_of(protocol_name),
            )
            for member in self.members.values()
        ]

    def sync_response(self, member: GroupMember) -> SyncGroupResponse:
        """Return the response with the member's assignment."""
        return SyncGroupResponse(
            protocol_type=self.protocol_type, protocol_name=self.protocol_name, assignment=member.assignment
        )

    def respond_to_join(self, member: GroupMember, response: JoinGroupResponse) -> None:
        """Respond to the member's pending JoinGroup request, if there is one, when the step is done."""
        deferred, member.awaiting_join = member.awaiting_join, None
        if deferred is not None:
            self.delay_join_response(deferred, response)

    def delay_join_response(self, deferred: Deferred[JoinGroupResponse], response: JoinGroupResponse) -> None:
        """Complete the response to a JoinGroup request when the step is done."""
        self.timers.delay_response(
            lambda: deferred.complete(response),
            lambda error_code: deferred.complete(join_error(error_code, response.member_id)),
        )

    def respond_to_sync(self, member: GroupMember, response: SyncGroupResponse) -> bool:
        """Respond to the member's pending SyncGroup request when the step is done. Return whether there is one."""
        deferred, member.awaiting_sync = member.awaiting_sync, None
        if deferred is None:
            return False
        self.timers.delay_response(
            lambda: deferred.complete(response), lambda error_code: deferred.complete(sync_error(error_code))
        )
        return True
