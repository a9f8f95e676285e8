"""The file fault rules in force, and the action that they choose for an operation.

Enabled rules are evaluated in order. The first that hits ends the search: later rules neither match nor count that
operation. Operations arrive on several threads. msgspec is imported with the first rule.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from .. import files
from ..rules.rule_list import RuleList

if TYPE_CHECKING:
    from .armed_file_rule import ArmedFileRule
    from .file_actions import FileAction
    from .file_rules import FileRule
    from .operation_kind import OperationKind


class Threads(Protocol):
    """The event loop's thread and the others."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Protects counts that several threads change; no holder blocks."""
        ...

    def run(self, callback: Callable[[], None]) -> None:
        """Run callback on the event loop's thread: at once if called there, otherwise soon."""
        ...

    def pause(self, ms: int) -> bool:
        """Block for ms and return True. On the event loop's thread return False at once."""
        ...

    def wake(self) -> None:
        """End all pauses. Called on the event loop's thread."""
        ...


class FileRulePlan(RuleList["FileRule", "ArmedFileRule"]):
    """The file fault rules of all nodes. Only decide may be called on other threads than the event loop's.

    on_change: called after every change of the rules.
    """

    def __init__(self, now_ms: Callable[[], int], threads: Threads) -> None:
        """Start without rules. now_ms: the broker's clock."""
        super().__init__()
        self.on_change: list[Callable[[], None]] = []
        self._now_ms = now_ms
        self._threads = threads

    def _arm(self, rule_id: int, rule: FileRule) -> ArmedFileRule:
        files.file_rules.check_file_rule(rule)
        return files.armed_file_rule.ArmedFileRule(rule_id, rule, self._now_ms)

    def _changed(self) -> None:
        for changed in self.on_change:
            changed()

    def decide(self, kind: OperationKind, path: str, node_id: int) -> FileAction | None:
        """Count an operation on a file of a node and return the action of the first rule that hits it."""
        for armed in self.enabled_rules:
            with self._threads.lock:
                action = armed.evaluate(kind, path, node_id)
            if action is not None:
                self._threads.run(armed.notify_waiters)
                return action
        return None
