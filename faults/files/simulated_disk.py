"""The disk of one node: the file fault rules in force, the delay of slow operations, and what a stop leaves.

Operations arrive on the event loop's thread and on others. A slow operation blocks the other threads by the real clock.
The event loop's thread must not block: there the delays of one request add up, and its response waits for their sum.

Torn or lost files are `damaged`: the disk keeps them until they are whole again, and stops them when the node stops.
Without an enabled rule, a damaged file or a stopped node, `is_armed` is False and files skip all of this.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, Protocol, assert_never
from weakref import WeakSet

from .file_actions import ContentChange, Fail, Lose, Slow, Tear, WriteAction
from .file_rule_plan import FileRulePlan, Threads
from .operation_kind import os_error

if TYPE_CHECKING:
    from .file_actions import FileAction
    from .operation_kind import OperationKind

# Lost renames that a stop undoes; the oldest beyond that stay done.
UNDONE_MAX = 10_000


class DiskFile(Protocol):
    """An open file of the disk."""

    def forget_safe_size(self) -> None:
        """Delete the recorded size up to which the file is synced."""
        ...

    def machine_stopped(self) -> None:
        """Leave in the file only what is on the disk."""
        ...


class SimulatedDisk:
    """The disk that the files of one node share.

    plan: the rules of all nodes. node_id: of the node, 1 until it is set.
    on_crash: crashes the node and restarts it after so many ms, None for never.
    is_armed: whether files must ask before an operation. is_late: whether take_delay_ms returns more than 0.
    """

    def __init__(self, now_ms: Callable[[], int], threads: Threads, plan: FileRulePlan | None = None) -> None:
        """now_ms: the broker's clock. plan: the rules of the first node; None for that node, without rules yet."""
        self.node_id = 1
        self.is_armed = False
        self.is_late = False
        self.on_crash: Callable[[int | None], None] | None = None
        self._now_ms = now_ms
        self._threads = threads
        self._late_until_ms = 0
        self._is_stopped = False
        # Files that record up to where they are synced.
        self._watched: WeakSet[DiskFile] = WeakSet()
        self._damaged: set[DiskFile] = set()
        self._undo_steps: list[Callable[[], None]] = []
        self.plan = FileRulePlan(now_ms, threads) if plan is None else plan
        self.plan.on_change.append(self._rules_changed)

    def take_delay_ms(self) -> int:
        """Return how long the response of the current request waits for slow files, and reset it to 0."""
        if not self.is_late:
            return 0
        self.is_late = False
        return max(0, self._late_until_ms - self._now_ms())

    def machine_stopped(self) -> None:
        """Leave in the files what is on the disk. Every operation fails until machine_started.

        Runs on the event loop's thread, or after its end, when no operation waits for a slow file.
        """
        self._is_stopped = True
        self.is_armed = True
        self.is_late = False
        damaged, self._damaged = self._damaged, set()
        for file in damaged:
            file.machine_stopped()
        self._forget_safe_sizes()
        undo_steps, self._undo_steps = self._undo_steps, []
        for undo in reversed(undo_steps):
            # The renamed file may have been deleted since.
            with suppress(OSError):
                undo()

    def machine_started(self) -> None:
        """Allow operations again; the rules are still in force."""
        self._is_stopped = False
        self._rules_changed()

    def _forget_damage(self) -> None:
        self._damaged.clear()
        self._undo_steps.clear()
        self._rules_changed()

    def _rules_changed(self) -> None:
        if not self.plan.enabled_rules:
            # Without rules files do not record their syncs, and no operation is slow.
            self._forget_safe_sizes()
            self._threads.wake()
        self.is_armed = bool(self.plan.enabled_rules or self._damaged) or self._is_stopped

    def _forget_safe_sizes(self) -> None:
        for file in list(self._watched):
            file.forget_safe_size()
        self._watched.clear()

    # Called by files and the file system.

    def check_running(self, path: str) -> None:
        """Raise OSError(EIO) while the node is stopped."""
        if self._is_stopped:
            raise os_error(errno.EIO, path)

    def decide(self, kind: OperationKind, path: str) -> FileAction | None:
        """Count an operation and return the action of the first rule that hits it."""
        return self.plan.decide(kind, path, self.node_id)

    def check(self, kind: OperationKind, path: str) -> WriteAction | None:
        """Count an operation and apply the rule that hits it. Raises OSError; see begin."""
        self.check_running(path)
        action = self.decide(kind, path)
        return None if action is None else self.begin(action, path)

    def begin(self, action: Fail | Slow | WriteAction, path: str) -> WriteAction | None:
        """Apply what happens before the operation, and return what changes the operation itself.

        Raises OSError for Fail, and for Slow if the node stopped meanwhile.
        """
        match action:
            case Fail(error_number):
                raise os_error(error_number, path)
            case Slow(ms):
                self._delay(ms, path)
                return None
            case Tear() | Lose() | ContentChange():
                return action
            case _:
                assert_never(action)

    def _delay(self, ms: int, path: str) -> None:
        if self._threads.pause(ms):
            self.check_running(path)
            return
        now_ms = self._now_ms()
        self._late_until_ms = (max(now_ms, self._late_until_ms) if self.is_late else now_ms) + ms
        self.is_late = True

    def fail_torn_write(self, tear: Tear, path: str) -> NoReturn:
        """Raise the OSError of a torn write, after the crash of the node if the rule has one."""
        if tear.crash is not None and self.on_crash is not None:
            on_crash, restart_after_ms = self.on_crash, tear.crash.restart_after_ms
            self._threads.run(lambda: on_crash(restart_after_ms))
        raise os_error(errno.EIO, path)

    def watch(self, file: DiskFile) -> None:
        """Call forget_safe_size of the file when the rules or the node stop."""
        with self._threads.lock:
            self._watched.add(file)

    def add_damaged(self, file: DiskFile) -> None:
        """Call machine_stopped of the file when the node stops."""
        with self._threads.lock:
            self._damaged.add(file)

    def remove_damaged(self, file: DiskFile) -> None:
        """Remove a file in which nothing is torn or lost any more."""
        with self._threads.lock:
            self._damaged.discard(file)
        if not self._damaged:
            self._threads.run(self._rules_changed)

    def undo_at_stop(self, undo: Callable[[], None]) -> None:
        """Call undo when the node stops; its OSError is ignored."""
        del self._undo_steps[: -UNDONE_MAX + 1]
        self._undo_steps.append(undo)
