"""File fault rules as data: which operations on which files, when, and the action.

- `write`: an append to a file, or the content of a small file that is replaced as a whole.
- `fsync`: of a file, or of the names in a folder. `rename`: of a file or a folder.
- Replacing a file is a write, an fsync if the broker asks for it, and a rename, in this order.
- All nodes share the rules and their counts.
- A path is "orders-0/00000000000000000000.log", or "cluster-metadata.json" in the top folder. The path of a synced
  folder ends with "/".
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct, to_builtins

from .. import strict_json
from ..match_values import ANY_OF_MAX, AnyNatural, AnyText
from ..numbers import INT64_MAX, Milliseconds
from ..rule_error import RuleError
from ..rules.fault_rules import When
from ..rules.named_rule import NamedRule
from ..rules.rule_checks import check_window
from ..rules.value_tests import check_match_value, compile_test
from .file_action_declaration import ParameterName
from .file_actions import FILE_ACTIONS, FILE_ACTIONS_BY_NAME, FileAction, FileActionName
from .file_kinds import TOP_FOLDER_KINDS, file_kind_of, folder_of
from .operation_kind import Operation

FileKind = Literal["log", "index", "timeindex", "snapshot", "txnindex", "checkpoint", "metadata"]
AnyOperation = Operation | Annotated[list[Operation], Meta(min_length=1, max_length=3)]
AnyFileKind = FileKind | Annotated[list[FileKind], Meta(min_length=1, max_length=ANY_OF_MAX)]
FileBytes = Annotated[int, Meta(ge=0, le=INT64_MAX)]

PARAMETERS: tuple[ParameterName, ...] = get_args(ParameterName)


class FileCrash(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Crash the node, as SIGKILL does. restart_after_ms: when it starts again; None for never."""

    restart_after_ms: Milliseconds | None = None


class FileRule(NamedRule, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file fault rule. A match field that is None matches everything.

    operation: None is every operation that the action can apply to. node: whose files.
    path, folder: the whole text, or {"regex"}; of a rename, the old path. file_kind: derived from the file's name.
    bytes, ms, crash: the parameters of the action.
    when: None is the first operation; for a state of the disk None, or `times` 1, is no limit.
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
    def declared(self) -> type[FileAction]:
        """The class of the action."""
        return FILE_ACTIONS_BY_NAME[self.action]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that match."""
        if self.operation is None:
            return tuple(self.declared.kinds)
        return tuple(self.operation) if isinstance(self.operation, list) else (self.operation,)

    @property
    def matched_noun(self) -> str:
        """What the rule matches: "file operation"."""
        return "file operation"

    @property
    def effective_when(self) -> When:
        """`when` with its default."""
        return When() if self.when is None else self.when

    @property
    def times(self) -> int | None:
        """The number of hits; None for no limit."""
        times = self.effective_when.times
        return None if self.declared.is_lasting and times == 1 else times


# In matching order.
FILE_MATCH_FIELDS = ("operation", "node", "file_kind", "folder", "path")


def check_file_rule(rule: FileRule) -> None:
    """Raise RuleError for an invalid rule."""
    strict_json.check(rule)
    possible = tuple(rule.declared.kinds)
    for operation in rule.operations:
        if operation not in possible:
            allowed = " or ".join(possible)
            raise RuleError(
                "operation", operation, allowed, f"{rule.action} cannot apply to {operation}; allowed: {allowed}"
            )
    for name in PARAMETERS:
        _check_parameter(rule, name)
    _check_files(rule)
    check_window(rule.effective_when)


def _check_parameter(rule: FileRule, name: ParameterName) -> None:
    """Raise RuleError for a missing parameter of the action, and for one that the action does not have."""
    action, value = rule.action, getattr(rule, name)
    parameter = next((each for each in rule.declared.parameters if each.name == name), None)
    if parameter is None:
        if value is not None:
            others = [each.name for each in FILE_ACTIONS if any(other.name == name for other in each.parameters)]
            message = f"{name}: {action} has no {name}; only {' and '.join(others)} can have it"
            raise RuleError(name, to_builtins(value), "nothing", message)
    elif value is None:
        if parameter.is_required:
            raise RuleError(name, None, f"integer >= {parameter.least}", f"{name} is missing: {action} needs it")
    elif isinstance(value, int) and value < parameter.least:
        message = f"{name}: {action} needs at least {parameter.least}"
        raise RuleError(name, value, f"integer >= {parameter.least}", message)


def _check_files(rule: FileRule) -> None:
    """Raise RuleError for a path, folder and file_kind that no file can have together."""
    for name in ("node", "path", "folder"):
        check_match_value(name, getattr(rule, name))
    has_kind = compile_test(rule, "file_kind")
    if isinstance(rule.path, str):
        folder, kind = folder_of(rule.path), file_kind_of(rule.path)
        if rule.folder is not None and not compile_test(rule, "folder")(folder):
            raise _unmatched(rule, "folder", f"'{folder}'", f"{rule.path} is in '{folder}'")
        if rule.file_kind is not None and not has_kind(kind):
            raise _unmatched(rule, "file_kind", kind or "nothing", f"{rule.path} is not such a file")
    elif rule.folder == "" and rule.file_kind is not None and not any(map(has_kind, TOP_FOLDER_KINDS)):
        kinds = " or ".join(TOP_FOLDER_KINDS)
        raise _unmatched(rule, "file_kind", kinds, f"the top folder has only files of the kinds {kinds}")


def _unmatched(rule: FileRule, name: str, allowed: str, reason: str) -> RuleError:
    return RuleError(name, to_builtins(getattr(rule, name)), allowed, f"{name}: {reason}")
