"""What goes wrong with the files of a broker that serves: the rules in force, and the machine that the files are on.

Operations on files come from the event loop's thread and from others. What is slow makes the others wait by the clock;
on the event loop's thread, which must not wait, it is added up, and the answer to the request waits for so long.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn
from weakref import WeakSet

from .file_rule_plan import FileRulePlan, Threads
from .operation_kind import os_error
from .ruled_file import RuledFile, stopped_error
from .ruled_file_system import RuledFileSystem

if TYPE_CHECKING:
    from ...storage.file_systems.file_system import FileSystem
    from .file_fault import FileFault
    from .operation_kind import OperationKind

# Renames that were lost and are to be undone; of more than that the oldest stay done.
UNDONE_MAX = 10_000


class FileFaults:
    """The faults of the files of one node.

    plan: the rules. on_crash: stops the node, to be started again after so many ms, None for never.
    is_armed: whether files have to ask before they do something; without rules that is never so.
    is_late: whether take_delay_ms has something to tell.
    """

    def __init__(self, now_ms: Callable[[], int], threads: Threads) -> None:
        """Start without rules.

        now_ms: the broker's clock.
        """
        self.is_armed = False
        self.is_late = False
        self.on_crash: Callable[[int | None], None] | None = None
        self._now_ms = now_ms
        self._threads = threads
        self._late_until_ms = 0
        self._is_stopped = False
        # Those of which it is known what is safe, and those of which something was torn or lost.
        self._watched: WeakSet[RuledFile] = WeakSet()
        self._marked: set[RuledFile] = set()
        self._undoings: list[Callable[[], None]] = []
        self.plan = FileRulePlan(now_ms, threads, self._rules_changed)

    def wrap(self, inner: FileSystem) -> RuledFileSystem:
        """Return the files of inner as they are to be used; what was torn or lost of others before is forgotten."""
        self._marked.clear()
        self._undoings.clear()
        self._rules_changed()
        return RuledFileSystem(inner.inner if isinstance(inner, RuledFileSystem) else inner, self)

    def take_delay_ms(self) -> int:
        """Return how long the answer to the request in hand waits for slow files; 0 when it is asked again."""
        if not self.is_late:
            return 0
        self.is_late = False
        return max(0, self._late_until_ms - self._now_ms())

    def machine_stopped(self) -> None:
        """Leave in the files what is on the disk; until machine_started every operation on them fails.

        On the event loop's thread, or after its end, when nobody waits for slow files.
        """
        self._is_stopped = True
        self.is_armed = True
        self.is_late = False
        marked, self._marked = self._marked, set()
        for file in marked:
            file.machine_stopped()
        self._forget_safe_sizes()
        undoings, self._undoings = self._undoings, []
        for undo in reversed(undoings):
            # What was renamed may have been deleted since.
            with suppress(OSError):
                undo()

    def machine_started(self) -> None:
        """Have the files used again; the rules are still in force."""
        self._is_stopped = False
        self._rules_changed()

    def _rules_changed(self) -> None:
        if not self.plan.rules:
            # Nobody looks any more when they are synced, and nothing is slow any more.
            self._forget_safe_sizes()
            self._threads.wake()
        self.is_armed = bool(self.plan.rules or self._marked) or self._is_stopped

    def _forget_safe_sizes(self) -> None:
        for file in list(self._watched):
            file.forget_safe_size()
        self._watched.clear()

    # For the files.

    def check_running(self, path: str) -> None:
        """Raise OSError while the machine is down."""
        if self._is_stopped:
            raise stopped_error(path)

    def decide(self, kind: OperationKind, path: str) -> FileFault | None:
        """Count an operation, and return what goes wrong with it."""
        return self.plan.decide(kind, path)

    def begin(self, fault: FileFault, path: str) -> None:
        """Do what goes wrong before the operation: raises OSError, or is slow."""
        if fault.action == "slow":
            if self._threads.pause(fault.ms):
                self.check_running(path)
            else:
                now_ms = self._now_ms()
                self._late_until_ms = (max(now_ms, self._late_until_ms) if self.is_late else now_ms) + fault.ms
                self.is_late = True
        elif fault.error_number and fault.action != "tear":
            raise os_error(fault.error_number, path)

    def check(self, kind: OperationKind, path: str) -> FileFault | None:
        """Count an operation, do what goes wrong before it, and return what else goes wrong with it."""
        self.check_running(path)
        fault = self.decide(kind, path)
        if fault is not None:
            self.begin(fault, path)
        return fault

    def tear(self, fault: FileFault, path: str) -> NoReturn:
        """Raise what a torn write fails by; the machine stops first where the rule says so."""
        if fault.is_crash and self.on_crash is not None:
            on_crash, restart_after_ms = self.on_crash, fault.restart_after_ms
            self._threads.run(lambda: on_crash(restart_after_ms))
        raise os_error(fault.error_number, path)

    def watch(self, file: RuledFile) -> None:
        """Tell the file when what it knows of its syncs does not hold any more."""
        with self._threads.lock:
            self._watched.add(file)

    def mark(self, file: RuledFile) -> None:
        """Tell the file when the machine stops: something of it was torn or lost."""
        with self._threads.lock:
            self._marked.add(file)

    def unmark(self, file: RuledFile) -> None:
        """Forget a file of which nothing is torn or lost any more."""
        with self._threads.lock:
            self._marked.discard(file)
        if not self._marked:
            self._threads.run(self._rules_changed)

    def undo_at_stop(self, undo: Callable[[], None]) -> None:
        """Have something undone when the machine stops, if that is possible then."""
        del self._undoings[: -UNDONE_MAX + 1]
        self._undoings.append(undo)
