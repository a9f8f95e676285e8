"""The state of one classic group: members, generation, leader, and which step of a rebalance it is in.

No timers and no requests here: rebalance.py moves a group from state to state, group_join.py and group_membership.py
judge what members ask for.
Source: ClassicGroup, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.join_group import JoinGroupResponse
from ....protocol.messages.sync_group import SyncGroupResponse
from ....protocol.stored_records.group_log_records import GroupMetadataKey
from ..coordinator_log import StateRecord
from .consumer_subscription import CONSUMER_PROTOCOL_TYPE, find_subscribed_topics
from .group import CheckOffset, GroupType, OffsetCommitter, every_offset
from .group_member import GroupMember
from .group_responses import join_refused, sync_refused
from .group_timers import GroupTimers
from .protocol_vote import has_common_protocol, select_protocol

if TYPE_CHECKING:
    from ...runtime.deferred import Deferred
    from .offset_store import CommittedOffset


class GroupState(Enum):
    """The states of a classic group, by the names that ListGroups and DescribeGroups show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


# States in which a new rebalance may begin.
REBALANCEABLE_STATES = frozenset({GroupState.EMPTY, GroupState.COMPLETING_REBALANCE, GroupState.STABLE})

PREVIOUS_STATES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: REBALANCEABLE_STATES,
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.COMPLETING_REBALANCE}),
    GroupState.DEAD: frozenset(GroupState),
}


class ClassicGroup:
    """One group whose members assign partitions among themselves (JoinGroup, SyncGroup)."""

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
        """Start without members, in generation 0."""
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
        # group.instance.id to the member id it has now.
        self.static_members: dict[str, str] = {}
        # Ids that were handed out with MEMBER_ID_REQUIRED and have not come back yet.
        self.pending_join_members: set[str] = set()
        # Members that know their generation and have not asked for their assignment yet.
        self.pending_sync_members: set[str] = set()
        # None: not known, as of a group of another protocol type.
        self.subscribed_topics: frozenset[str] | None = None
        # During the first rebalance: whether to wait a little longer for even more members.
        self.new_member_added = False

    # -- what it is

    @property
    def group_type(self) -> GroupType:
        """Which kind of group it is."""
        return GroupType.CLASSIC

    @property
    def state_name(self) -> str:
        """Its state, by the name that ListGroups shows."""
        return self.state.value

    @property
    def listed_protocol_type(self) -> str:
        """What its members do, as ListGroups shows it; empty before the first one has joined."""
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
        """Whether a rebalance may begin; False while one waits for its members."""
        return self.state in REBALANCEABLE_STATES

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def awaiting_join_count(self) -> int:
        """How many members have (re)joined and wait."""
        return sum(member.awaiting_join is not None for member in self.members.values())

    @property
    def has_all_members_joined(self) -> bool:
        """Whether nobody is missing, nor on the way in."""
        return not self.pending_join_members and all(
            member.awaiting_join is not None for member in self.members.values()
        )

    def is_leader(self, member_id: str) -> bool:
        """Whether that member assigns the partitions."""
        return self.leader_id == member_id

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member consumes the topic; consumers whose subscriptions cannot be read count as subscribed."""
        if self.subscribed_topics is None:
            return self.uses_consumer_protocol
        return topic_name in self.subscribed_topics

    def supports_protocols(self, protocol_type: str, protocol_names: Iterable[str]) -> bool:
        """Whether a member with these protocols fits in."""
        names = list(protocol_names)
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and bool(names)
        return self.protocol_type == protocol_type and has_common_protocol(self.members.values(), names)

    def check_member(self, member_id: str, group_instance_id: str | None) -> None:
        """Raise KafkaError unless that member is in the group: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
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
        """Raise KafkaError ILLEGAL_GENERATION unless it is the current one."""
        if generation_id != self.generation_id:
            raise KafkaError(
                ErrorCode.ILLEGAL_GENERATION,
                f"group {self.group_id} is in generation {self.generation_id}, not {generation_id}",
            )

    # -- its offsets, and its end

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Let every offset of a member pass, and of others those for a group without members.

        Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS.
        Source: ClassicGroup.validateOffsetCommit, Kafka 4.3.0.
        """
        generation_id, is_transactional = committer.generation_id, committer.is_transactional
        if generation_id < 0 and self.is_empty:
            return every_offset
        if generation_id >= 0 or committer.member_id or committer.group_instance_id is not None:
            self.check_member(committer.member_id, committer.group_instance_id)
            self.check_generation(generation_id)
        elif not is_transactional:
            # Transactional producers of old versions tell nothing of the member.
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {self.group_id} has members, so only they may commit")
        if self.state is GroupState.COMPLETING_REBALANCE and not is_transactional:
            raise KafkaError(
                ErrorCode.REBALANCE_IN_PROGRESS,
                f"group {self.group_id} has not assigned generation {generation_id} yet",
            )
        return every_offset

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Let everybody read offsets."""

    def check_offset_delete(self) -> None:
        """Raise KafkaError NON_EMPTY_GROUP for members of whom it is not known which topics they use."""
        if not self.is_empty and not self.uses_consumer_protocol:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, f"group {self.group_id} has {len(self.members)} members")

    def check_delete(self) -> None:
        """Raise KafkaError NON_EMPTY_GROUP while there are members, or will be."""
        if not self.is_empty:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, f"group {self.group_id} has {len(self.members)} members")

    def retention_base_ms(self, committed: CommittedOffset) -> int | None:
        """Return from when on the retention of an offset counts; None while it does not expire.

        Offsets of a group that had members count from when the last one left; those of one that never had any, and
        topics that a stable group of consumers has given up, from their commit.
        Source: ClassicGroup.offsetExpirationCondition, Kafka 4.3.0.
        """
        if self.protocol_type is None:
            return committed.commit_timestamp_ms
        if self.is_empty:
            return self.state_changed_ms
        if self.state is GroupState.STABLE and self.subscribed_topics is not None:
            return committed.commit_timestamp_ms
        return None

    def tombstones(self) -> Sequence[StateRecord]:
        """Return the record that says that there is no such group any more."""
        return (StateRecord(GroupMetadataKey(self.group_id).encode(), None),)

    def close(self) -> None:
        """Be dead; no timer runs any more."""
        self.transition_to(GroupState.DEAD)
        self.timers.cancel_all()

    def refuse_waiting(self) -> None:
        """Have whoever waits look for another coordinator."""
        for member in self.members.values():
            self.answer_join(member, join_refused(ErrorCode.NOT_COORDINATOR, member.member_id))
            self.answer_sync(member, sync_refused(ErrorCode.NOT_COORDINATOR))

    def finish_step(self) -> None:
        """Send the answers that were put off until a step was done."""
        self.timers.finish_step()

    # -- how it changes

    def transition_to(self, state: GroupState) -> None:
        """Change the state; which changes there are is in PREVIOUS_STATES."""
        assert self.state in PREVIOUS_STATES[state], f"group {self.group_id}: {self.state.value} -> {state.value}"
        self.previous_state = self.state
        self.state = state
        self.state_changed_ms = self.timers.now_ms()

    def add(self, member: GroupMember) -> None:
        """Take a member in; the first one decides the protocol type, and leads."""
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
        """Let a member or a pending member go; if it led, another member leads."""
        member = self.members.pop(member_id, None)
        if member is not None and member.group_instance_id is not None:
            del self.static_members[member.group_instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_join_members.discard(member_id)
        self.pending_sync_members.discard(member_id)

    def replace_static_member(self, group_instance_id: str, new_member_id: str) -> GroupMember:
        """Give a static member a new id and return it; a request that waits under the old id is fenced."""
        old_member_id = self.static_members[group_instance_id]
        member = self.members.pop(old_member_id)
        self.answer_join(member, join_refused(ErrorCode.FENCED_INSTANCE_ID, old_member_id))
        self.answer_sync(member, sync_refused(ErrorCode.FENCED_INSTANCE_ID))
        member.member_id = new_member_id
        member.is_new = False
        self.members[new_member_id] = member
        self.static_members[group_instance_id] = new_member_id
        if self.leader_id == old_member_id:
            self.leader_id = new_member_id
        return member

    def answer_join(self, member: GroupMember, response: JoinGroupResponse) -> None:
        """Answer the member's waiting JoinGroup request, if there is one.

        It leaves when the step is done, see GroupTimers.
        """
        answer = member.take_join_wait()
        if answer is not None:
            self.send_join(answer, response)

    def send_join(self, answer: Deferred[JoinGroupResponse], response: JoinGroupResponse) -> None:
        """Answer a JoinGroup request in the same way."""
        self.timers.put_off(
            lambda: answer.complete(response),
            lambda error_code: answer.complete(join_refused(error_code, response.member_id)),
        )

    def answer_sync(self, member: GroupMember, response: SyncGroupResponse) -> bool:
        """Answer the member's waiting SyncGroup request in the same way; return whether there was one."""
        answer = member.take_sync_wait()
        if answer is None:
            return False
        self.timers.put_off(
            lambda: answer.complete(response), lambda error_code: answer.complete(sync_refused(error_code))
        )
        return True

    def elect_joined_leader(self) -> bool:
        """Keep the leader if it has joined, else choose one that has; return whether there is one."""
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
        """Be, instead of new, stable with these members, or empty without any."""
        assert self.is_empty and not self.members, f"group {self.group_id} has members"
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.generation_id = generation_id
        self.leader_id = leader_id
        for member in members:
            self.add(member)
        self.state = GroupState.STABLE if members else GroupState.EMPTY
        self.subscribed_topics = self._compute_subscribed_topics()

    def begin_generation(self) -> None:
        """Start the next generation with the members there are: CompletingRebalance, or Empty."""
        self.generation_id += 1
        self.protocol_name = select_protocol(list(self.members.values())) if self.members else None
        self.subscribed_topics = self._compute_subscribed_topics()
        self.transition_to(GroupState.COMPLETING_REBALANCE if self.members else GroupState.EMPTY)
        self.pending_sync_members.clear()

    def _compute_subscribed_topics(self) -> frozenset[str] | None:
        if not self.uses_consumer_protocol:
            return None
        topics: set[str] = set()
        for member in self.members.values():
            assert self.protocol_name is not None
            of_member = find_subscribed_topics(member.metadata_of(self.protocol_name))
            if of_member is None:
                return None
            topics |= of_member
        return frozenset(topics)
