"""The members of a streams group: lookup of the member that sends a heartbeat, the check of its epoch, and removal.

A member is removed when it leaves, its session expires, or it does not revoke tasks in time. A static member may leave
temporarily, and keeps its tasks until it returns.
Source: GroupMetadataManager.getOrMaybeCreateDynamicStreamsGroupMember, getOrMaybeCreateStaticStreamsGroupMember,
streamsGroupLeave, streamsGroupFenceMember and the throwIf... methods, Kafka 4.4.0.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_values import TargetAssignmentMetadata
from ....protocol.stored_records.streams_group_records import (
    NO_CURRENT_TASKS,
    StreamsRecordType,
    TargetTasks,
    Task,
)
from ..group.member_group import JOIN_EPOCH, STATIC_LEAVE_EPOCH, check_member_epoch, unreleased_instance
from ..group.member_timeouts import MemberTimeouts, rebalance_timer, session_timer
from ..group.typed_groups import GroupChange
from .member import StreamsMember
from .streams_group import StreamsGroup

if TYPE_CHECKING:
    from ....protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, TaskIds
    from ..group.typed_groups import TypedGroupStore
    from .settings import StreamsGroupSettings

logger = logging.getLogger(__name__)

# The epoch of the tasks of a static member that left temporarily, so that it may commit with any epoch.
_RESET_EPOCH = 0


def owned_tasks(request: StreamsGroupHeartbeatRequest) -> TargetTasks | None:
    """Return the tasks that a heartbeat reports; None if it reports none.

    Raises KafkaError UNKNOWN_SERVER_ERROR for a subtopology that is there twice, as Kafka does.
    """
    if request.active_tasks is None or request.standby_tasks is None or request.warmup_tasks is None:
        return None
    return TargetTasks(*map(_tasks_of, (request.active_tasks, request.standby_tasks, request.warmup_tasks)))


def _tasks_of(task_ids: Sequence[TaskIds]) -> frozenset[Task]:
    if len({each.subtopology_id for each in task_ids}) < len(task_ids):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return frozenset(Task(each.subtopology_id, partition) for each in task_ids for partition in each.partitions)


def member_of(change: GroupChange[StreamsGroup], request: StreamsGroupHeartbeatRequest) -> StreamsMember:
    """Return the member that sends a heartbeat, or a new one that is not in the group yet.

    A static member that returns with another member id replaces the former one and inherits its tasks.
    Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID.
    """
    group, member_id, instance_id = change.group, request.member_id, request.instance_id
    is_joining = request.member_epoch == JOIN_EPOCH
    known = group.static_member(instance_id)
    if instance_id is not None and not is_joining:
        member = group.known_static_member(member_id, instance_id)
    elif known is not None and instance_id is not None:
        return _returned(change, known, member_id, instance_id)
    elif is_joining:
        member = group.members.get(member_id) or StreamsMember(member_id=member_id)
    else:
        member = group.member_of(member_id)
    check_member_epoch(member, request.member_epoch, "streams", lambda: _has_all(member, request))
    return member


def _returned(
    change: GroupChange[StreamsGroup], known: StreamsMember, member_id: str, instance_id: str
) -> StreamsMember:
    group = change.group
    if known.member_epoch != STATIC_LEAVE_EPOCH:
        raise unreleased_instance(known, member_id, instance_id)
    returned = replace(known, member_id=member_id, member_epoch=JOIN_EPOCH, previous_member_epoch=JOIN_EPOCH)
    add_tombstones(change, known.member_id)
    target = group.target_assignments.get(known.member_id, TargetTasks())
    change.add(StreamsRecordType.MEMBER_METADATA, returned.metadata, member_id)
    change.add(StreamsRecordType.TARGET_ASSIGNMENT_MEMBER, target, member_id)
    change.add(StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT, returned.current_assignment(), member_id)
    logger.info("group %s: static member %s returns as %s", group.group_id, instance_id, member_id)
    return returned


def _has_all(member: StreamsMember, request: StreamsGroupHeartbeatRequest) -> bool:
    """Whether all the tasks that the request reports are assigned to the member."""
    reported = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    return all(
        owned is not None
        and all(Task(each.subtopology_id, index) in has for each in owned for index in each.partitions)
        for owned, has in zip(reported, member.assigned, strict=True)
    )


def add_tombstones(change: GroupChange[StreamsGroup], member_id: str) -> None:
    """Add the tombstones of a member."""
    for record_type in (
        StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT,
        StreamsRecordType.TARGET_ASSIGNMENT_MEMBER,
        StreamsRecordType.MEMBER_METADATA,
    ):
        change.add(record_type, None, member_id)


class StreamsMembers:
    """Removes members, and those whose timeouts expire."""

    __slots__ = ("_settings", "_store", "_timeouts")

    def __init__(self, store: TypedGroupStore[StreamsGroup], settings: StreamsGroupSettings) -> None:
        """store: writes the removals."""
        self._store = store
        self._settings = settings
        self._timeouts: MemberTimeouts[StreamsGroup] = MemberTimeouts(self.remove)

    def leave_temporarily(self, group: StreamsGroup, member: StreamsMember) -> None:
        """Keep a static member and its tasks until it returns or its session expires. Raises KafkaError."""
        change = GroupChange(group)
        left = replace(
            member,
            member_epoch=STATIC_LEAVE_EPOCH,
            pending_revocation=NO_CURRENT_TASKS,
            assigned=member.assigned._replace(active=dict.fromkeys(member.assigned.active, _RESET_EPOCH)),
        )
        change.add(StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT, left.current_assignment(), member.member_id)
        self._store.commit(change)

    def remove(self, group: StreamsGroup, member_id: str) -> None:
        """Remove a member. Raises KafkaError: UNKNOWN_MEMBER_ID, and the errors of CoordinatorLog.append."""
        group.member_of(member_id)
        change = GroupChange(group)
        add_tombstones(change, member_id)
        # Before the write, which may fail: as in Kafka, a member that could not leave stays until it sends a heartbeat.
        for name_of in (session_timer, rebalance_timer):
            group.timers.cancel(name_of(member_id))
        self.bump_epoch(change, has_members=len(group.members) > 1)

    def bump_epoch(self, change: GroupChange[StreamsGroup], *, has_members: bool) -> None:
        """Commit the change with the group's next epoch, with which the next heartbeat assigns the tasks again.

        has_members: after the change.
        """
        group = change.group
        epoch = group.group_epoch + 1
        change.add(StreamsRecordType.GROUP_METADATA, replace(group.metadata, epoch=epoch))
        if self._settings.is_complete and not has_members:
            # Nothing is left to assign.
            change.add(StreamsRecordType.TARGET_ASSIGNMENT_METADATA, TargetAssignmentMetadata(epoch))
        self._store.commit(change)

    def begin_sessions(self, group: StreamsGroup) -> None:
        """Start the timers of a group that was loaded."""
        for member in group.members.values():
            self.extend_session(group, member.member_id)
            if member.must_revoke:
                self.start_rebalance_timeout(group, member)

    def extend_session(self, group: StreamsGroup, member_id: str) -> None:
        """Restart the member's session timeout."""
        self._timeouts.schedule_session(group, member_id, self._settings.session_timeout_ms(group.group_id))

    def update_rebalance_timeout(self, group: StreamsGroup, member: StreamsMember) -> None:
        """Start the rebalance timer if the member must revoke tasks, else cancel it."""
        if member.must_revoke:
            self.start_rebalance_timeout(group, member)
        else:
            group.timers.cancel(rebalance_timer(member.member_id))

    def start_rebalance_timeout(self, group: StreamsGroup, member: StreamsMember) -> None:
        """Remove the member if it still has this epoch after its rebalance timeout."""
        self._timeouts.schedule_rebalance(group, member, member.rebalance_timeout_ms, "tasks")
