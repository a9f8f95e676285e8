"""The next step of a member from the tasks that it has to its target assignment.

A task is active on one member at most, and a process has it once: as active, standby or warm-up. So a member waits for
a task until the other member of its process, or for an active task any member, has given it up. A member whose standby
or warm-up task becomes active keeps it until then, and the state of the task with it.
Source: CurrentAssignmentBuilder, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.streams_group_records import NO_CURRENT_TASKS, CurrentTasks, TargetTasks, Task
from .member import MemberState, StreamsMember


class TaskOwners(Protocol):
    """The processes that have tasks, or have not given them up yet."""

    def active_process(self, task: Task) -> str | None:
        """Return the id of the process in which the task is active, or None."""
        ...

    def standby_processes(self, task: Task) -> Collection[str]:
        """Return the ids of the processes in which the task is a standby task."""
        ...

    def warmup_processes(self, task: Task) -> Collection[str]:
        """Return the ids of the processes in which the task is a warm-up task."""
        ...


@dataclass(slots=True)
class _Difference:
    """What a member keeps, revokes and gets. is_waiting: whether other processes have some of its target."""

    kept: set[Task]
    revoked: set[Task]
    granted: set[Task]
    is_waiting: bool

    @classmethod
    def of(
        cls, current: Collection[Task], target: Collection[Task], is_unreleased: Callable[[Task], bool]
    ) -> _Difference:
        """is_unreleased: whether the member must wait for the task."""
        had, wanted = set(current), set(target)
        new = wanted - had
        granted = {task for task in new if not is_unreleased(task)}
        return cls(had & wanted, had - wanted, granted, len(granted) < len(new))

    def grant_now(self, tasks: Collection[Task]) -> None:
        """Give those of the tasks that the member gets to it in this step."""
        now = self.granted & set(tasks)
        self.granted -= now
        self.kept |= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """The input of a step.

    owned: the tasks that the member reports, None if it reports none. keeps_promoted: whether a member keeps a standby
    or warm-up task that becomes another kind of task on it (ReleaseRules.completes_streams_groups).
    """

    target_epoch: int
    target: TargetTasks
    owners: TaskOwners
    owned: TargetTasks | None
    keeps_promoted: bool = True

    def step(self, member: StreamsMember) -> StreamsMember:
        """Return the member after its next step; the same member if it must wait.

        Raises KafkaError FENCED_MEMBER_EPOCH for a member in state UNKNOWN that still reports tasks.
        """
        match member.state:
            case MemberState.STABLE if member.member_epoch == self.target_epoch:
                return member
            case MemberState.UNREVOKED_TASKS if self._still_has(member.pending_revocation):
                return member
            case MemberState.UNREVOKED_TASKS:
                return self._towards_target(member, member.member_epoch + 1)
            case MemberState.UNKNOWN:
                if self.owned is None or any(self.owned):
                    raise KafkaError(
                        ErrorCode.FENCED_MEMBER_EPOCH,
                        "The streams group member is in a unknown state. The member must abandon all its tasks and "
                        "rejoin.",
                    )
                return self._towards_target(member, self.target_epoch)
            case _:
                return self._towards_target(member, member.member_epoch)

    def _still_has(self, tasks: CurrentTasks) -> bool:
        """Whether the member has not confirmed that it has given up all these tasks."""
        if self.owned is None:
            return True
        return any(not owned.isdisjoint(given) for owned, given in zip(self.owned, tasks, strict=True))

    def _towards_target(self, member: StreamsMember, member_epoch: int) -> StreamsMember:
        """Return the member one step nearer to its target. member_epoch: its epoch until it has given up tasks."""
        had = member.assigned
        active = _Difference.of(had.active, self.target.active, lambda task: self._is_active_unreleased(member, task))
        standby = _Difference.of(
            had.standby, self.target.standby, lambda task: self._is_standby_unreleased(member, task)
        )
        warmup = _Difference.of(had.warmup, self.target.warmup, lambda task: self._is_warmup_unreleased(member, task))
        if self.keeps_promoted:
            self._convert(had, standby, warmup)
        pending = CurrentTasks(
            {task: had.active[task] for task in active.revoked}, frozenset(standby.revoked), frozenset(warmup.revoked)
        )
        must_revoke = any(pending) and self._still_has(pending)
        if self.keeps_promoted:
            promoted = set[Task]() if must_revoke else active.granted
            standby.kept |= (had.standby & self.target.active) - promoted
            warmup.kept |= (had.warmup & self.target.active) - promoted
        kept = {task: had.active[task] for task in active.kept}
        if must_revoke:
            assigned = CurrentTasks(kept, frozenset(standby.kept), frozenset(warmup.kept))
            return _moved(member, MemberState.UNREVOKED_TASKS, member_epoch, assigned, pending)
        is_waiting = active.is_waiting or standby.is_waiting or warmup.is_waiting
        granted: Mapping[Task, int] = dict.fromkeys(active.granted, self.target_epoch)
        assigned = CurrentTasks(
            {**kept, **granted}, frozenset(standby.kept | standby.granted), frozenset(warmup.kept | warmup.granted)
        )
        state = MemberState.UNRELEASED_TASKS if is_waiting else MemberState.STABLE
        return _moved(member, state, self.target_epoch, assigned, NO_CURRENT_TASKS)

    def _is_active_unreleased(self, member: StreamsMember, task: Task) -> bool:
        """Whether the member must wait for an active task."""
        return (
            self.owners.active_process(task) is not None
            or self._is_elsewhere(member, self.owners.standby_processes(task), member.assigned.standby, task)
            or self._is_elsewhere(member, self.owners.warmup_processes(task), member.assigned.warmup, task)
        )

    def _is_standby_unreleased(self, member: StreamsMember, task: Task) -> bool:
        """Whether the member must wait for a standby task."""
        return (
            (self._is_active_here(member, task) and not (self.keeps_promoted and task in member.assigned.active))
            or member.process_id in self.owners.standby_processes(task)
            or self._is_elsewhere(member, self.owners.warmup_processes(task), member.assigned.warmup, task)
        )

    def _is_warmup_unreleased(self, member: StreamsMember, task: Task) -> bool:
        """Whether the member must wait for a warm-up task."""
        return (
            self._is_active_here(member, task)
            or self._is_elsewhere(member, self.owners.standby_processes(task), member.assigned.standby, task)
            or member.process_id in self.owners.warmup_processes(task)
        )

    def _is_active_here(self, member: StreamsMember, task: Task) -> bool:
        return self.owners.active_process(task) == member.process_id

    def _is_elsewhere(
        self, member: StreamsMember, processes: Collection[str], own: Collection[Task], task: Task
    ) -> bool:
        """Whether another member of the member's process has the task."""
        return member.process_id in processes and not (self.keeps_promoted and task in own)

    def _convert(self, had: CurrentTasks, standby: _Difference, warmup: _Difference) -> None:
        """Give a task that the member has as one kind to it as another kind at once."""
        standby.grant_now(had.active)
        for outgoing, incoming, tasks in ((standby, warmup, had.standby), (warmup, standby, had.warmup)):
            outgoing.revoked -= incoming.granted & tasks
            incoming.grant_now(tasks)
        for replicas in (standby, warmup):
            replicas.revoked -= self.target.active


def _moved(
    member: StreamsMember, state: MemberState, epoch: int, assigned: CurrentTasks, pending: CurrentTasks
) -> StreamsMember:
    return replace(
        member,
        state=state,
        member_epoch=epoch,
        previous_member_epoch=member.member_epoch,
        assigned=assigned,
        pending_revocation=pending,
    )
