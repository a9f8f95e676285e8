"""The target assignment of a streams group: computed for each group epoch, but not too often.

The first assignment of a group waits for more members (group.streams.initial.rebalance.delay.ms), and there is at most
one in an assignment interval. Meanwhile the response says that the assignment is delayed.
Source: GroupMetadataManager.maybeUpdateStreamsTargetAssignment and computeDelayedTargetAssignment,
TargetAssignmentBuilder and UpdatedMembersAndTargetAssignmentView, Kafka 4.4.0.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ....protocol.error_codes import KafkaError
from ....protocol.stored_records.consumer_group_values import TargetAssignmentMetadata
from ....protocol.stored_records.streams_group_records import StreamsRecordType, TargetTasks
from ....protocol.streams_status import StreamsStatus
from ..group.typed_groups import GroupChange
from ..java_hash_tables import java_hash_order
from . import sticky_assignor
from .settings import STANDBY_REPLICAS
from .sticky_assignor import GroupSpec, MemberSpec, SubtopologySpec
from .streams_group import RefinedAssignment, StreamsGroup

if TYPE_CHECKING:
    from ..group.typed_groups import TypedGroupStore
    from .heartbeat import Heartbeat
    from .member import StreamsMember
    from .settings import StreamsGroupSettings
    from .topology import ConfiguredTopology

logger = logging.getLogger(__name__)

# The name of the timer that ends the initial delay.
INITIAL_DELAY = "initial rebalance"


class Target(NamedTuple):
    """An assignment epoch, and the tasks of one member in it."""

    epoch: int
    tasks: TargetTasks


class _Wanted(NamedTuple):
    """What an assignment is for: the epoch of the group with its change, its topology and its assignment configs.

    member: as its heartbeat updates it. is_refined: whether refined tasks are the only reason for a new epoch.
    """

    epoch: int
    configured: ConfiguredTopology
    configs: Mapping[str, str]
    member: StreamsMember | None = None
    is_refined: bool = False


class _Targets(NamedTuple):
    """An assignment epoch, and the tasks of all members in it; None for those of the group.

    delay: what the assignment waits for, as the response says it.
    """

    epoch: int
    tasks: Mapping[str, TargetTasks] | None = None
    delay: str | None = None


class _UpdatedMembers(NamedTuple):
    """The members of a group and their last target assignment, after the update of one of them."""

    members: Mapping[str, StreamsMember]
    targets: Mapping[str, TargetTasks]

    @classmethod
    def of(cls, group: StreamsGroup, updated: StreamsMember | None) -> _UpdatedMembers:
        """Return those of the group with the updated member, which replaces the static one of its instance id."""
        if updated is None:
            return cls(group.members, group.target_assignments)
        members, targets = dict(group.members), dict(group.target_assignments)
        members[updated.member_id] = updated
        replaced = group.static_member(updated.instance_id)
        if replaced is not None and replaced.member_id != updated.member_id:
            del members[replaced.member_id]
            if replaced.member_id in targets:
                targets[updated.member_id] = targets.pop(replaced.member_id)
        return cls(members, targets)


class TargetAssignments:
    """Computes the target assignments of groups."""

    __slots__ = ("_settings", "_store")

    def __init__(self, store: TypedGroupStore[StreamsGroup], settings: StreamsGroupSettings) -> None:
        """store: writes the assignment after the initial delay."""
        self._store = store
        self._settings = settings

    def begin_initial_delay(self, group: StreamsGroup) -> None:
        """Delay the first assignment of a group without members, if that is configured."""
        delay_ms = self._settings.initial_delay_ms(group.group_id)
        if delay_ms > 0 and not group.timers.is_scheduled(INITIAL_DELAY):
            group.timers.schedule(INITIAL_DELAY, delay_ms, lambda: self._end_initial_delay(group))

    def _end_initial_delay(self, group: StreamsGroup) -> None:
        if group.is_empty or group.configured is None or not self._store.registry.has(group):
            return
        change = GroupChange(group)
        wanted = _Wanted(group.group_epoch, group.configured, group.metadata.assignment_configs or {})
        try:
            self._update(change, wanted)
            self._store.commit(change)
        except KafkaError as error:
            # The next heartbeat of a member computes the assignment.
            logger.warning("group %s: cannot assign tasks: %s", group.group_id, error.message)

    def update(
        self,
        heartbeat: Heartbeat,
        configured: ConfiguredTopology,
        epoch: int,
        *,
        refined: Mapping[str, TargetTasks] | None,
    ) -> Target:
        """Return the member's target assignment; compute those of all members if they are due.

        epoch: of the group, with the change. refined: the refined tasks of all members, if they are the only reason
        for a new epoch.
        """
        group, member = heartbeat.change.group, heartbeat.member
        configs = self._settings.assignment_configs(group.group_id)
        is_refined = refined is not None
        targets = self._update(heartbeat.change, _Wanted(epoch, configured, configs, member, is_refined))
        if targets.delay is not None:
            heartbeat.add_status(StreamsStatus.ASSIGNMENT_DELAYED, f"Assignment delayed due to the {targets.delay}.")
        if not self._settings.refines(group.group_id):
            tasks = _last_tasks(group, member) if targets.tasks is None else targets.tasks.get(member.member_id)
            return Target(targets.epoch, tasks or TargetTasks())
        if is_refined or group.refined.epoch != targets.epoch:
            known = _UpdatedMembers.of(group, member).targets if targets.tasks is None else targets.tasks
            group.refined = RefinedAssignment(targets.epoch, known if refined is None else refined)
        return Target(targets.epoch, group.refined.targets.get(member.member_id, TargetTasks()))

    def _update(self, change: GroupChange[StreamsGroup], wanted: _Wanted) -> _Targets:
        group, epoch = change.group, wanted.epoch
        if group.timers.is_scheduled(INITIAL_DELAY):
            return _Targets(group.assignment_epoch, {}, "configured initial rebalance delay")
        if group.assignment_epoch >= epoch:
            return _Targets(group.assignment_epoch)
        if wanted.is_refined and group.assignment_epoch >= group.group_epoch:
            metadata = TargetAssignmentMetadata(epoch, group.assignment_timestamp_ms)
            change.add(StreamsRecordType.TARGET_ASSIGNMENT_METADATA, metadata)
            return _Targets(epoch)
        if not group.may_assign(self._settings.assignment_interval_ms(group.group_id)):
            return _Targets(group.assignment_epoch, delay="configured assignment interval")
        updated = _UpdatedMembers.of(group, wanted.member)
        targets = self._assign(group, updated, wanted)
        for each in java_hash_order(updated.members):
            target = targets.get(each, TargetTasks())
            if updated.targets.get(each) != target:
                change.add(StreamsRecordType.TARGET_ASSIGNMENT_MEMBER, target, each)
        metadata = TargetAssignmentMetadata(epoch, group.timers.now_ms())
        change.add(StreamsRecordType.TARGET_ASSIGNMENT_METADATA, metadata)
        logger.info("group %s: assigned tasks for epoch %d to %d members", group.group_id, epoch, len(updated.members))
        return _Targets(epoch, targets)

    def _assign(self, group: StreamsGroup, updated: _UpdatedMembers, wanted: _Wanted) -> Mapping[str, TargetTasks]:
        """Return the tasks of each member; none while topics are missing.

        Before Kafka 4.4, what a member has had is its last target assignment.
        """
        if not wanted.configured.is_ready:
            return {}
        is_complete = self._settings.is_complete
        spec = GroupSpec(
            {
                member_id: MemberSpec(
                    member.process_id,
                    member.assigned if is_complete else updated.targets.get(member_id, TargetTasks()),
                    group.offsets_of(member_id).positions,
                )
                for member_id, member in updated.members.items()
            },
            {
                subtopology_id: SubtopologySpec(each.task_count, bool(each.changelog_topics))
                for subtopology_id, each in wanted.configured.subtopologies.items()
            },
            int(wanted.configs.get(STANDBY_REPLICAS, 0)),
            is_of_4_3=not is_complete,
        )
        return sticky_assignor.assign(spec)


def _last_tasks(group: StreamsGroup, member: StreamsMember) -> TargetTasks:
    """Return the last target assignment of a member, which may replace the static one of its instance id."""
    known = group.static_member(member.instance_id)
    member_id = member.member_id if known is None else known.member_id
    return group.target_assignments.get(member_id, TargetTasks())
