"""The sticky assignor: tasks stay where they are, or go where a standby task is, while the load stays even.

Members and processes are visited in the order of Kafka's hash tables, which decides where loads are equal.
Source: StickyTaskAssignor and ProcessState, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.streams_group_records import NO_CURRENT_TASKS, CurrentTasks, TargetTasks, Task
from ..java_hash_tables import buckets_of_capacity, computed_hash_order, in_hash_order, java_hash_order
from ..java_strings import java_string_hash, java_string_order
from .java_priority_queue import JavaPriorityQueue

NAME = "sticky"

_NO_OFFSETS: Mapping[Task, int] = {}


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """A member: its process, the tasks that it has, and the offsets that it has reported of tasks."""

    process_id: str
    previous: CurrentTasks | TargetTasks = NO_CURRENT_TASKS
    task_offsets: Mapping[Task, int] = field(default_factory=lambda: _NO_OFFSETS)


@dataclass(frozen=True, slots=True)
class SubtopologySpec:
    """A subtopology. is_stateful: whether it has state, of which there can be standby tasks."""

    task_count: int
    is_stateful: bool


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """The group to assign: its members by id, its subtopologies by id in ascending order, and its configs.

    is_of_4_3: visit processes in another order, and give no standby task again if the first process that has had it has
    the task.
    """

    members: Mapping[str, MemberSpec]
    subtopologies: Mapping[str, SubtopologySpec]
    standby_replicas: int = 0
    is_of_4_3: bool = False


def assign(spec: GroupSpec) -> dict[str, TargetTasks]:
    """Return the tasks of each member. Raises KafkaError UNKNOWN_SERVER_ERROR without members."""
    state = _State(spec)
    _assign_active(state)
    if spec.standby_replicas > 0:
        _assign_standby(state)
    return {
        member_id: TargetTasks(
            frozenset(process.active.get(member_id, ())), frozenset(process.standby.get(member_id, ()))
        )
        for member_id in spec.members
        for process in (state.process_of(member_id),)
    }


class _Process:
    """A process, its members, and the tasks that they have got so far."""

    def __init__(self) -> None:
        self.task_counts: dict[str, int] = {}
        self.active: dict[str, set[Task]] = {}
        self.standby: dict[str, set[Task]] = {}
        self._tasks: set[Task] = set()
        self._task_count = 0
        # The members by their count when the queue was made, which may be older; None if it must be made again.
        self._queue: JavaPriorityQueue[list[str | int]] | None = None

    @property
    def load(self) -> float:
        """The number of tasks for each member."""
        return self._task_count / len(self.task_counts)

    def has_task(self, task: Task) -> bool:
        return task in self._tasks

    def add(self, member_id: str, task: Task, *, is_active: bool) -> int:
        """Give a task to a member, and return the number of its tasks."""
        self._queue = None
        return self._add(member_id, task, is_active=is_active)

    def add_to_least_loaded(self, task: Task, *, is_active: bool) -> int:
        """Give a task to the member with the least tasks, and return the number of its tasks."""
        if len(self.task_counts) == 1:
            return self._add(next(iter(self.task_counts)), task, is_active=is_active)
        if self._queue is None:
            members = java_hash_order(self.task_counts)
            entries: list[list[str | int]] = [[member_id, self.task_counts[member_id]] for member_id in members]
            self._queue = JavaPriorityQueue[list[str | int]](entries, lambda entry: int(entry[1]))
        entry = self._queue.poll()
        assert entry is not None, "a process has members"
        entry[1] = self._add(str(entry[0]), task, is_active=is_active)
        self._queue.add(entry)
        return int(entry[1])

    def _add(self, member_id: str, task: Task, *, is_active: bool) -> int:
        (self.active if is_active else self.standby).setdefault(member_id, set()).add(task)
        self._tasks.add(task)
        self._task_count += 1
        self.task_counts[member_id] += 1
        return self.task_counts[member_id]


class _Quota:
    """How many tasks a member gets. Each member that is full leaves the rest to the others."""

    def __init__(self, task_count: int, member_count: int) -> None:
        self._task_count = task_count
        self._member_count = member_count
        self._update()

    def _update(self) -> None:
        self.per_member = -(-self._task_count // self._member_count) if self._member_count else 0

    def member_has(self, count: int) -> None:
        """Note that a member has got a task, and has this many now."""
        if count == self.per_member:
            self._member_count -= 1
            self._task_count -= count
            self._update()


class _State:
    """The state of an assignment."""

    def __init__(self, spec: GroupSpec) -> None:
        self.spec = spec
        active_count = sum(each.task_count for each in spec.subtopologies.values())
        stateful_count = sum(each.task_count for each in spec.subtopologies.values() if each.is_stateful)
        self._active_quota = _Quota(active_count, len(spec.members))
        self._total_quota = _Quota(active_count + stateful_count * spec.standby_replicas, len(spec.members))
        self.processes: dict[str, _Process] = {}
        # The member that has each active task.
        self.previous_active: dict[Task, str] = {}
        # The members that have each standby task first, then those with an offset of the task; the highest ones first.
        self.candidates: dict[Task, list[str]] = {}
        ranks: dict[Task, list[tuple[bool, int, str]]] = {}
        for member_id in java_hash_order(spec.members):
            member = spec.members[member_id]
            process = self.processes.setdefault(member.process_id, _Process())
            process.task_counts[member_id] = 0
            self.previous_active |= dict.fromkeys(member.previous.active, member_id)
            for task in member.previous.standby:
                ranks.setdefault(task, []).append((False, -member.task_offsets.get(task, 0), member_id))
            for task, offset in member.task_offsets.items():
                if task not in member.previous.standby:
                    ranks.setdefault(task, []).append((True, -offset, member_id))
        for task, ranked in ranks.items():
            self.candidates[task] = [member_id for *_, member_id in sorted(ranked, key=lambda rank: rank[:2])]

    def process_of(self, member_id: str) -> _Process:
        return self.processes[self.spec.members[member_id].process_id]

    def processes_by_load(self) -> JavaPriorityQueue[_Process]:
        capacity = len(self.spec.members)
        if self.spec.is_of_4_3:
            order = in_hash_order(self.processes, java_string_hash, buckets_of_capacity(capacity, len(self.processes)))
        else:
            order = computed_hash_order(self.processes, capacity)
        return JavaPriorityQueue[_Process]((self.processes[each] for each in order), lambda process: process.load)

    def tasks(self, *, is_active: bool) -> list[Task]:
        """Return all tasks, or those with state."""
        return [
            Task(subtopology_id, partition)
            for subtopology_id, each in self.spec.subtopologies.items()
            if is_active or each.is_stateful
            for partition in range(each.task_count)
        ]

    def give_active(self, member_id: str | None, task: Task) -> bool:
        """Give an active task to a member if it is not full, and return whether it was given."""
        if member_id is None:
            return False
        process = self.process_of(member_id)
        if process.task_counts[member_id] >= self._active_quota.per_member:
            return False
        self.note(process.add(member_id, task, is_active=True), is_active=True)
        return True

    def give_standby(self, member_id: str, task: Task) -> bool:
        """Give a standby task to a member if it is not full, and return whether it was given."""
        process = self.process_of(member_id)
        if process.task_counts[member_id] >= self._total_quota.per_member:
            return False
        self.note(process.add(member_id, task, is_active=False), is_active=False)
        return True

    def note(self, count: int, *, is_active: bool) -> None:
        """Note that a member has got a task, and has this many now."""
        if is_active:
            self._active_quota.member_has(count)
        self._total_quota.member_has(count)

    def least_loaded_candidate(self, task: Task, *, is_standby: bool) -> str | None:
        """Return the member that has a standby task, or offsets of the task, in the process with the least load.

        is_standby: leave out the processes that have the task already.
        """
        members = self.candidates.get(task, [])
        if is_standby and self.spec.is_of_4_3 and members and self.process_of(members[0]).has_task(task):
            return None
        found: str | None = None
        found_loads = (0.0, 0)
        for member_id in members:
            process = self.process_of(member_id)
            if is_standby and process.has_task(task):
                continue
            loads = process.load, process.task_counts[member_id]
            if found is None or (loads[0] < found_loads[0] and loads[1] < found_loads[1]):
                found, found_loads = member_id, loads
        return found


def _by_subtopology(task: Task) -> tuple[bytes, int]:
    return java_string_order(task.subtopology_id), task.partition


def _by_partition(task: Task) -> tuple[int, bytes]:
    return task.partition, java_string_order(task.subtopology_id)


def _assign_active(state: _State) -> None:
    tasks = sorted(state.tasks(is_active=True), key=_by_partition)
    tasks = [task for task in tasks if not state.give_active(state.previous_active.get(task), task)]
    tasks = [
        task for task in tasks if not state.give_active(state.least_loaded_candidate(task, is_standby=False), task)
    ]
    processes = state.processes_by_load()
    for task in sorted(tasks, key=_by_subtopology):
        process = processes.poll()
        if process is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"No process available to assign active task {task}.")
        state.note(process.add_to_least_loaded(task, is_active=True), is_active=True)
        processes.add(process)


def _assign_standby(state: _State) -> None:
    missing: list[tuple[Task, int]] = []
    for task in sorted(state.tasks(is_active=False), key=_by_partition, reverse=True):
        count = 0
        while count < state.spec.standby_replicas and _assign_standby_again(state, task):
            count += 1
        missing.append((task, state.spec.standby_replicas - count))
    processes = state.processes_by_load()
    for task, count in sorted(missing, key=lambda each: _by_subtopology(each[0]), reverse=True):
        for _ in range(count):
            if not _assign_standby_to_least_loaded(state, processes, task):
                break


def _assign_standby_again(state: _State, task: Task) -> bool:
    """Give a standby task to the member that has had it as active or standby, and return whether it was given."""
    active = state.previous_active.get(task)
    if active is not None and not state.process_of(active).has_task(task) and state.give_standby(active, task):
        return True
    candidate = state.least_loaded_candidate(task, is_standby=True)
    return candidate is not None and state.give_standby(candidate, task)


def _assign_standby_to_least_loaded(state: _State, processes: JavaPriorityQueue[_Process], task: Task) -> bool:
    """Give a standby task to the least loaded process without the task, and return whether there is one."""
    skipped: list[_Process] = []
    process = processes.poll()
    # As in Kafka, which ends the search once the queue is empty.
    while process is not None and process.has_task(task):
        skipped.append(process)
        process = processes.poll()
    if process is not None:
        state.note(process.add_to_least_loaded(task, is_active=False), is_active=False)
        processes.add(process)
    for each in reversed(skipped):
        processes.add(each)
    return process is not None
