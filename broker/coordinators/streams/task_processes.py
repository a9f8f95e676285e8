"""The processes that have the tasks of a group, or have not revoked them yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ....protocol.stored_records.streams_group_records import Task
from .member import StreamsMember


class TaskProcesses:
    """The ids of the processes by task. Implements TaskOwners."""

    __slots__ = ("_active", "_standby", "_warmup")

    def __init__(self, members: Iterable[StreamsMember]) -> None:
        """Read the tasks of the members."""
        self._active: dict[Task, str] = {}
        self._standby: dict[Task, set[str]] = {}
        self._warmup: dict[Task, set[str]] = {}
        for member in members:
            for tasks in (member.assigned, member.pending_revocation):
                self._active |= dict.fromkeys(tasks.active, member.process_id)
                for task in tasks.standby:
                    self._standby.setdefault(task, set()).add(member.process_id)
                for task in tasks.warmup:
                    self._warmup.setdefault(task, set()).add(member.process_id)

    def active_process(self, task: Task) -> str | None:
        """Return the id of the process in which the task is active, or None."""
        return self._active.get(task)

    def standby_processes(self, task: Task) -> Collection[str]:
        """Return the ids of the processes in which the task is a standby task."""
        return self._standby.get(task, ())

    def warmup_processes(self, task: Task) -> Collection[str]:
        """Return the ids of the processes in which the task is a warm-up task."""
        return self._warmup.get(task, ())
