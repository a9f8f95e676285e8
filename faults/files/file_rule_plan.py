"""The rules for files in force, in order, and what they decide of each operation.

Rules are asked in order; the first that hits acts, and those behind it neither match nor count that operation. Without
msgspec, which only those load who have a rule. Operations come from several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from ..rules.rule_list import RuleList

if TYPE_CHECKING:
    from .armed_file_rule import ArmedFileRule
    from .file_fault import FileFault
    from .file_rules import FileRule
    from .operation_kind import OperationKind


class Threads(Protocol):
    """What tells the event loop's thread from others."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """For what several threads count together; nobody waits while holding it."""
        ...

    def run(self, callback: Callable[[], None]) -> None:
        """Run callback on the event loop's thread: at once there, soon from another."""
        ...

    def pause(self, ms: int) -> bool:
        """Wait by the clock, and return True; or, on the event loop's thread, return False at once."""
        ...

    def wake(self) -> None:
        """Let go all who wait now; on the event loop's thread."""
        ...


class FileRulePlan(RuleList["FileRule", "ArmedFileRule"]):
    """The rules for the files of one node; all methods but decide are for the event loop's thread."""

    def __init__(self, now_ms: Callable[[], int], threads: Threads, changed: Callable[[], None]) -> None:
        """Start without rules.

        now_ms: the broker's clock. changed: called when rules came or went.
        """
        super().__init__()
        self._now_ms = now_ms
        self._threads = threads
        self._tell_changed = changed

    def _armed(self, rule_id: int, rule: FileRule) -> ArmedFileRule:
        # Only whoever has a rule has msgspec loaded; the broker's start has not.
        from .armed_file_rule import ArmedFileRule
        from .file_rules import check_file_rule

        check_file_rule(rule)
        return ArmedFileRule(rule_id, rule, self._now_ms)

    def _changed(self) -> None:
        self._tell_changed()

    def decide(self, kind: OperationKind, path: str) -> FileFault | None:
        """Count an operation, and return what the first rule that hits it does to it."""
        for armed in self.rules:
            with self._threads.lock:
                fault = armed.ask(kind, path)
            if fault is not None:
                self._threads.run(armed.tell_waiters)
                return fault
        return None
