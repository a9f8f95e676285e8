"""A rule for files in force: it looks at operations, counts, and says what it does to those that it hits."""

from __future__ import annotations

import errno
from collections.abc import Callable

from ..rules.match_outcome import Mismatch
from ..rules.near_misses import NearMiss, NearMisses
from ..rules.rule_counts import RuleCounts
from ..rules.value_tests import test_of
from .file_fault import FileFault
from .file_kinds import file_kind_of, folder_of
from .file_rules import FILE_MATCH_FIELDS, FileRule
from .operation_kind import CHANGES, GROWTHS, SYNCS, OperationKind

# A file that is replaced is renamed too, which is asked for by itself.
_RENAMES = frozenset({OperationKind.RENAME, OperationKind.RENAME_FOLDER})
_WRITES = frozenset({OperationKind.WRITE, OperationKind.REPLACE})
# What the three operations of rules are; these are counted, and those that miss a rule are told.
_KINDS = {"write": _WRITES, "fsync": SYNCS, "rename": _RENAMES}
_OPERATIONS = {kind: operation for operation, kinds in _KINDS.items() for kind in kinds}
# A disk that takes no more, or nothing at all, refuses other operations besides.
_KINDS_OF_STATES = {
    ("disk_full", "write"): GROWTHS,
    ("read_only", "write"): CHANGES - SYNCS - _RENAMES,
    ("read_only", "rename"): _RENAMES,
}
_ERROR_NUMBERS = {"fail": errno.EIO, "tear": errno.EIO, "disk_full": errno.ENOSPC, "read_only": errno.EROFS}


class ArmedFileRule(RuleCounts):
    """A rule with its id and its counts."""

    def __init__(self, rule_id: int, rule: FileRule, now_ms: Callable[[], int]) -> None:
        """Arm the rule, which has been checked; its times count from now."""
        super().__init__(rule.effective_when, now_ms, times=rule.times)
        self.id = rule_id
        self.rule = rule
        self._near_misses = NearMisses(rule)
        self._kinds = frozenset[OperationKind]().union(
            *(_KINDS_OF_STATES.get((rule.action, operation), _KINDS[operation]) for operation in rule.operations)
        )
        self._tests = [(name, test_of(rule, name)) for name in FILE_MATCH_FIELDS if getattr(rule, name) is not None]
        crash = rule.crash
        self._fault = FileFault(
            rule_id=rule_id,
            action=rule.action,
            error_number=_ERROR_NUMBERS.get(rule.action, 0),
            byte_count=1 if rule.bytes is None else rule.bytes,
            ms=rule.ms or 0,
            is_crash=crash is not None,
            restart_after_ms=None if crash is None else crash.restart_after_ms,
        )

    @property
    def near_misses(self) -> list[NearMiss]:
        """What kept operations from matching, those that came furthest first."""
        return self._near_misses.told()

    def ask(self, kind: OperationKind, path: str) -> FileFault | None:
        """Count the operation, and return what the rule does to it if it hits; waiters are to be told then."""
        operation = _OPERATIONS.get(kind)
        if kind not in self._kinds:
            if operation is not None:
                self._near_misses.add(Mismatch("operation", operation, 0))
            return None
        values = {"file_kind": file_kind_of(path), "folder": folder_of(path), "path": path}
        for depth, (name, test) in enumerate(self._tests, 1):
            if name != "operation" and not test(values[name]):
                if operation is not None:
                    self._near_misses.add(Mismatch(name, values[name], depth))
                return None
        return self._fault if self.count_match() else None
