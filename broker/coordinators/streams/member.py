"""A member of a streams group: a thread of a Kafka Streams application.

Members are immutable; each change creates a new one.
Source: StreamsGroupMember and MemberState, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from ....protocol.stored_records.streams_group_records import (
    NEW_MEMBER,
    NO_CURRENT_TASKS,
    CurrentTasks,
    StreamsCurrentAssignment,
    StreamsMemberMetadata,
    TargetTasks,
)
from ..group.member_group import LEAVE_EPOCH, UNKNOWN_STATE, NumberedState


class MemberState(NumberedState):
    """The states of a member, by their numbers in the log."""

    STABLE = 1
    # The member must revoke tasks before it gets its next epoch.
    UNREVOKED_TASKS = 2
    # The member waits for tasks that others have not given up yet.
    UNRELEASED_TASKS = 3
    UNKNOWN = UNKNOWN_STATE


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsMember:
    """A member, and the tasks that it has or must revoke. Both epochs of a new member are 0."""

    member_id: str
    metadata: StreamsMemberMetadata = NEW_MEMBER
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: CurrentTasks = NO_CURRENT_TASKS
    pending_revocation: CurrentTasks = NO_CURRENT_TASKS

    @property
    def instance_id(self) -> str | None:
        """The group.instance.id of a static member."""
        return self.metadata.instance_id

    @property
    def process_id(self) -> str:
        """The id of the process that runs the member."""
        return self.metadata.process_id

    @property
    def rebalance_timeout_ms(self) -> int:
        """The time in which the member must revoke tasks."""
        return self.metadata.rebalance_timeout_ms

    @property
    def must_revoke(self) -> bool:
        """Whether the member has tasks to revoke."""
        return self.state is MemberState.UNREVOKED_TASKS

    def has_tasks(self, targets: Mapping[str, TargetTasks]) -> bool:
        """Whether the member has its tasks of a target assignment, and no others."""
        target = targets.get(self.member_id, TargetTasks())
        assigned = self.assigned
        return target == TargetTasks(frozenset(assigned.active), assigned.standby, assigned.warmup)

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Whether the member has its target assignment of this epoch."""
        return self.state is MemberState.STABLE and self.member_epoch == assignment_epoch

    def with_metadata(self, metadata: StreamsMemberMetadata) -> Self:
        """Return the member with other metadata."""
        return replace(self, metadata=metadata)

    def with_assignment(self, value: StreamsCurrentAssignment) -> Self:
        """Return the member with the assignment of a record."""
        return replace(
            self,
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=MemberState.of(value.state),
            assigned=value.assigned,
            pending_revocation=value.pending_revocation,
        )

    def without_assignment(self) -> Self:
        """Return the member after the tombstone of its assignment."""
        return replace(
            self,
            member_epoch=LEAVE_EPOCH,
            previous_member_epoch=LEAVE_EPOCH,
            assigned=NO_CURRENT_TASKS,
            pending_revocation=NO_CURRENT_TASKS,
        )

    def current_assignment(self) -> StreamsCurrentAssignment:
        """Return the value of the member's record."""
        return StreamsCurrentAssignment(
            member_epoch=self.member_epoch,
            previous_member_epoch=self.previous_member_epoch,
            state=self.state,
            assigned=self.assigned,
            pending_revocation=self.pending_revocation,
        )
