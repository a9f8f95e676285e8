"""A file fault rule in force: matches operations and counts them. Matching follows faults.rules.fault_plan."""

from __future__ import annotations

from collections.abc import Callable

from ..rules.near_misses import Mismatch, NearMisses
from ..rules.rule_in_force import RuleInForce
from ..rules.value_tests import compile_test
from .file_actions import FileAction
from .file_kinds import file_kind_of, folder_of
from .file_rules import FILE_MATCH_FIELDS, FileRule
from .operation_kind import ALL_OPERATIONS, OperationKind

# The operations that rules name. Only these count as near misses.
_OPERATIONS = {kind: operation for operation, kinds in ALL_OPERATIONS.items() for kind in kinds}


class ArmedFileRule(RuleInForce[FileRule]):
    """A file fault rule with its id and counts."""

    def __init__(self, rule_id: int, rule: FileRule, now_ms: Callable[[], int]) -> None:
        """Arm a valid rule. Its after_ms and until_ms count from now."""
        super().__init__(rule_id, rule, rule.effective_when, now_ms, times=rule.times)
        self._near_misses = NearMisses(rule)
        kinds = (rule.declared.kinds[operation] for operation in rule.operations)
        self._kinds = frozenset[OperationKind]().union(*kinds)
        self._tests = [
            (name, compile_test(rule, name)) for name in FILE_MATCH_FIELDS if getattr(rule, name) is not None
        ]
        self._action = rule.declared.of(rule)

    @property
    def matched_noun(self) -> str:
        """What the rule matches: "file operation"."""
        return self.rule.matched_noun

    def evaluate(self, kind: OperationKind, path: str, node_id: int) -> FileAction | None:
        """Count the operation on a node's file, and return the action if it is hit; then call notify_waiters."""
        operation = _OPERATIONS.get(kind)
        if kind not in self._kinds:
            if operation is not None:
                self._near_misses.add(Mismatch("operation", operation, 0))
            return None
        values = {"node": node_id, "file_kind": file_kind_of(path), "folder": folder_of(path), "path": path}
        for depth, (name, test) in enumerate(self._tests, 1):
            if name != "operation" and not test(values[name]):
                if operation is not None:
                    self._near_misses.add(Mismatch(name, values[name], depth))
                return None
        return self._action if self.count_match() else None
