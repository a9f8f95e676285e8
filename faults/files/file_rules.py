"""What goes wrong with files on purpose, as data: which operations on which files, when, and what is done to them.

The operations are the broker's own. A `write` is an append to a file, or a small file that is replaced as a whole; an
`fsync` is of a file or of the names in a folder; a `rename` is of a file or a folder. Replacing a file is a write, an
fsync where the broker asks for it, and a rename, one after the other. A path is "orders-0/00000000000000000000.log", or
"cluster-metadata.json" in the top folder; a folder in a folder path ends with "/".
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, to_builtins

from ..actions import INT64_MAX, Milliseconds
from ..rule_error import RuleError
from ..rules.fault_rules import When
from ..rules.match import ANY_OF_MAX, AnyText
from ..rules.rule_checks import check_window
from ..rules.value_tests import check_wanted
from ..strict_json import convert
from .file_kinds import file_kind_of, folder_of

_NAME_CHARACTERS_MAX = 1000

Operation = Literal["write", "fsync", "rename"]
FileKind = Literal["log", "index", "timeindex", "snapshot", "txnindex", "checkpoint", "metadata"]
FileAction = Literal["fail", "tear", "lose", "slow", "disk_full", "read_only", "corrupt"]
AnyOperation = Operation | Annotated[list[Operation], Meta(min_length=1, max_length=3)]
AnyFileKind = FileKind | Annotated[list[FileKind], Meta(min_length=1, max_length=ANY_OF_MAX)]
FileBytes = Annotated[int, Meta(ge=0, le=INT64_MAX)]

OPERATIONS: tuple[Operation, ...] = ("write", "fsync", "rename")
# What each action can happen to; anything else is refused.
ACTION_OPERATIONS: dict[FileAction, tuple[Operation, ...]] = {
    "fail": OPERATIONS,
    "tear": ("write",),
    "lose": OPERATIONS,
    "slow": OPERATIONS,
    "disk_full": ("write",),
    "read_only": ("write", "rename"),
    "corrupt": ("write",),
}
# A state of the disk, not an accident: it holds until the rule is lifted.
LASTING_ACTIONS = frozenset({"disk_full", "read_only"})
_ACTIONS_WITH_BYTES = ("tear", "corrupt")


class FileCrash(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Stop the node right there, as a SIGKILL would; restart_after_ms: start it again after so long, None not."""

    restart_after_ms: Milliseconds | None = None


class FileRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule for files; a field that is None asks nothing.

    operation: None is every one that the action can happen to. path, folder: the whole of it, or {"regex"}; of what is
    renamed, as it was. file_kind: by the name.
    action: `fail` does nothing and is an error; `tear` writes the first `bytes` bytes, or all but one if there are no
    more, and is an error; `lose` is said to be done, and is gone when the node stops or crashes; `slow` takes `ms`
    longer; `corrupt` flips the bits of the last `bytes` bytes of what is written, 1 by default; `disk_full` refuses
    what needs room, and `read_only` every change, until the rule is lifted.
    when: None is the first one, and for ever for disk_full and read_only; so is `times` 1 for these two.
    crash: with tear, what was written stays, and the node stops.
    """

    name: Annotated[str, Meta(max_length=_NAME_CHARACTERS_MAX)] = ""
    operation: AnyOperation | None = None
    path: AnyText | None = None
    folder: AnyText | None = None
    file_kind: AnyFileKind | None = None
    action: FileAction
    bytes: FileBytes | None = None
    ms: Milliseconds | None = None
    when: When | None = None
    crash: FileCrash | None = None

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that the rule is for."""
        if self.operation is None:
            return ACTION_OPERATIONS[self.action]
        return tuple(self.operation) if isinstance(self.operation, list) else (self.operation,)

    @property
    def effective_when(self) -> When:
        """When it acts, where that was not said too."""
        return When() if self.when is None else self.when

    @property
    def times(self) -> int | None:
        """How often it hits; None is for ever."""
        times = self.effective_when.times
        return None if self.action in LASTING_ACTIONS and times == 1 else times


# In the order in which they are asked.
FILE_MATCH_FIELDS = ("operation", "file_kind", "folder", "path")


def check_file_rule(rule: FileRule) -> None:
    """Raise RuleError for a rule that cannot be."""
    # A rule made in process has been checked by nothing but a type checker.
    convert(to_builtins(rule), FileRule)
    possible = ACTION_OPERATIONS[rule.action]
    for operation in rule.operations:
        if operation not in possible:
            allowed = " or ".join(possible)
            raise RuleError(
                "operation", operation, allowed, f"{rule.action} cannot happen to {operation}; allowed: {allowed}"
            )
    _check_numbers(rule)
    _check_files(rule)
    check_window(rule.effective_when)


def _check_numbers(rule: FileRule) -> None:
    """Raise RuleError for a number that the action needs and has not, or has and does not need."""
    action = rule.action
    if rule.bytes is None:
        if action == "tear":
            raise RuleError("bytes", None, "integer >= 0", "bytes: tear has to be told how many bytes are written")
    elif action not in _ACTIONS_WITH_BYTES:
        raise RuleError("bytes", rule.bytes, "nothing", f"bytes: {action} has no use for it; tear and corrupt have")
    elif action == "corrupt" and not rule.bytes:
        raise RuleError("bytes", 0, "integer >= 1", "bytes: of 0 bytes none is corrupt")
    if action == "slow" and not rule.ms:
        raise RuleError("ms", rule.ms, "integer >= 1", "ms: slow has to be told how slow")
    if action != "slow" and rule.ms is not None:
        raise RuleError("ms", rule.ms, "nothing", f"ms: {action} has no use for it; slow has")
    if rule.crash is not None and action != "tear":
        raise RuleError("crash", to_builtins(rule.crash), "nothing", f"crash: goes with tear, not with {action}")


def _check_files(rule: FileRule) -> None:
    """Raise RuleError for files that cannot be."""
    check_wanted("path", rule.path)
    check_wanted("folder", rule.folder)
    path = rule.path
    if not isinstance(path, str):
        return
    folder, kind = folder_of(path), file_kind_of(path)
    if isinstance(rule.folder, str) and rule.folder != folder:
        raise RuleError("folder", rule.folder, f"'{folder}'", f"folder: {path} is in '{folder}'")
    if isinstance(rule.file_kind, str) and rule.file_kind != kind:
        raise RuleError("file_kind", rule.file_kind, kind or "nothing", f"file_kind: {path} is not a {rule.file_kind}")
