"""File fault rules as data: which operations on which files, when, and the action.

- `write`: an append to a file, or the content of a small file that is replaced as a whole.
- `fsync`: of a file, or of the names in a folder. `rename`: of a file or a folder.
- Replacing a file is a write, an fsync if the broker asks for it, and a rename, in this order.
- All nodes share the rules and their counts.
- A path is "orders-0/00000000000000000000.log", or "cluster-metadata.json" in the top folder. The path of a synced
  folder ends with "/".
"""

from __future__ import annotations

import errno
from typing import Annotated, Literal, assert_never

from msgspec import Meta, Struct, to_builtins

from .. import strict_json
from ..match_values import ANY_OF_MAX, AnyNatural, AnyText
from ..numbers import INT64_MAX, Milliseconds
from ..rule_error import RuleError
from ..rules.fault_rules import When
from ..rules.named_rule import NamedRule
from ..rules.rule_checks import check_window
from ..rules.value_tests import check_match_value
from .file_actions import Corrupt, Crash, Fail, FileAction, Lose, Slow, Tear
from .file_kinds import file_kind_of, folder_of

Operation = Literal["write", "fsync", "rename"]
FileKind = Literal["log", "index", "timeindex", "snapshot", "txnindex", "checkpoint", "metadata"]
FileActionName = Literal["fail", "tear", "lose", "slow", "disk_full", "read_only", "corrupt"]
AnyOperation = Operation | Annotated[list[Operation], Meta(min_length=1, max_length=3)]
AnyFileKind = FileKind | Annotated[list[FileKind], Meta(min_length=1, max_length=ANY_OF_MAX)]
FileBytes = Annotated[int, Meta(ge=0, le=INT64_MAX)]

OPERATIONS: tuple[Operation, ...] = ("write", "fsync", "rename")
# The operations that each action can apply to.
ACTION_OPERATIONS: dict[FileActionName, tuple[Operation, ...]] = {
    "fail": OPERATIONS,
    "tear": ("write",),
    "lose": OPERATIONS,
    "slow": OPERATIONS,
    "disk_full": ("write",),
    "read_only": ("write", "rename"),
    "corrupt": ("write",),
}
# States of the disk: they last until the rule is removed.
LASTING_ACTIONS = frozenset({"disk_full", "read_only"})
_ACTIONS_WITH_BYTES = ("tear", "corrupt")
_CORRUPT_BYTES_DEFAULT = 1


class FileCrash(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Crash the node, as SIGKILL does. restart_after_ms: when it starts again; None for never."""

    restart_after_ms: Milliseconds | None = None


class FileRule(NamedRule, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file fault rule. A match field that is None matches everything.

    operation: None is every operation that the action can apply to. node: whose files.
    path, folder: the whole text, or {"regex"}; of a rename, the old path. file_kind: derived from the file's name.
    action: `fail` does nothing and raises EIO; `tear` writes the first `bytes` bytes, at most all but one, and raises
    EIO; `lose` reports success, and the change disappears when the node stops or crashes; `slow` takes `ms` longer;
    `corrupt` flips the bits of the last `bytes` bytes of a write (1 by default); `disk_full` refuses what needs space
    (ENOSPC) and `read_only` every change (EROFS), until the rule is removed.
    when: None is the first operation; for disk_full and read_only None, or `times` 1, is no limit.
    crash: with tear only: the written bytes stay and the node crashes.
    """

    operation: AnyOperation | None = None
    node: AnyNatural | None = None
    path: AnyText | None = None
    folder: AnyText | None = None
    file_kind: AnyFileKind | None = None
    action: FileActionName
    bytes: FileBytes | None = None
    ms: Milliseconds | None = None
    when: When | None = None
    crash: FileCrash | None = None

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that match."""
        if self.operation is None:
            return ACTION_OPERATIONS[self.action]
        return tuple(self.operation) if isinstance(self.operation, list) else (self.operation,)

    @property
    def effective_when(self) -> When:
        """`when` with its default."""
        return When() if self.when is None else self.when

    @property
    def times(self) -> int | None:
        """The number of hits; None for no limit."""
        times = self.effective_when.times
        return None if self.action in LASTING_ACTIONS and times == 1 else times


# In matching order.
FILE_MATCH_FIELDS = ("operation", "node", "file_kind", "folder", "path")


def check_file_rule(rule: FileRule) -> None:
    """Raise RuleError for an invalid rule."""
    strict_json.check(rule)
    possible = ACTION_OPERATIONS[rule.action]
    for operation in rule.operations:
        if operation not in possible:
            allowed = " or ".join(possible)
            raise RuleError(
                "operation", operation, allowed, f"{rule.action} cannot apply to {operation}; allowed: {allowed}"
            )
    _check_numbers(rule)
    _check_files(rule)
    check_window(rule.effective_when)


def action_of(rule: FileRule) -> FileAction:
    """Return the action of a valid rule."""
    match rule.action:
        case "fail":
            return Fail(errno.EIO)
        case "disk_full":
            return Fail(errno.ENOSPC)
        case "read_only":
            return Fail(errno.EROFS)
        case "tear":
            return Tear(rule.bytes or 0, None if rule.crash is None else Crash(rule.crash.restart_after_ms))
        case "lose":
            return Lose()
        case "slow":
            return Slow(rule.ms or 0)
        case "corrupt":
            return Corrupt(rule.bytes or _CORRUPT_BYTES_DEFAULT)
        case _:
            assert_never(rule.action)


def _check_numbers(rule: FileRule) -> None:
    """Raise RuleError for a missing parameter of the action, and for one that the action does not have."""
    action = rule.action
    if rule.bytes is None:
        if action == "tear":
            raise RuleError("bytes", None, "integer >= 0", "bytes is missing: tear needs the number of bytes to write")
    elif action not in _ACTIONS_WITH_BYTES:
        raise RuleError("bytes", rule.bytes, "nothing", f"bytes: {action} has no bytes; only tear and corrupt have")
    elif action == "corrupt" and not rule.bytes:
        raise RuleError("bytes", 0, "integer >= 1", "bytes: corrupt needs at least 1 byte")
    if action == "slow" and not rule.ms:
        raise RuleError("ms", rule.ms, "integer >= 1", "ms: slow needs a delay of at least 1 ms")
    if action != "slow" and rule.ms is not None:
        raise RuleError("ms", rule.ms, "nothing", f"ms: {action} has no ms; only slow has")
    if rule.crash is not None and action != "tear":
        raise RuleError("crash", to_builtins(rule.crash), "nothing", f"crash: {action} has no crash; only tear has")


def _check_files(rule: FileRule) -> None:
    """Raise RuleError for a path, folder and file_kind that no file can have together."""
    check_match_value("node", rule.node)
    check_match_value("path", rule.path)
    check_match_value("folder", rule.folder)
    path = rule.path
    if not isinstance(path, str):
        return
    folder, kind = folder_of(path), file_kind_of(path)
    if isinstance(rule.folder, str) and rule.folder != folder:
        raise RuleError("folder", rule.folder, f"'{folder}'", f"folder: {path} is in '{folder}'")
    if isinstance(rule.file_kind, str) and rule.file_kind != kind:
        raise RuleError("file_kind", rule.file_kind, kind or "nothing", f"file_kind: {path} is not a {rule.file_kind}")
