"""Operations on file fault rules."""

from __future__ import annotations

from msgspec import Struct

from ...faults.files.armed_file_rule import ArmedFileRule
from ...faults.files.file_actions import FileActionName
from ...faults.files.file_rules import AnyFileKind, AnyOperation, FileBytes, FileCrash, FileRule
from ...faults.match_values import AnyNatural, AnyText
from ...faults.numbers import Milliseconds
from ...faults.rules.fault_rules import When
from ...faults.rules.near_misses import NearMiss
from ...faults.rules.rule_checks import ANSWER_FIELDS
from ..control import Control
from ..operation import PATIENT, Caller, Operation
from ..paging import NumberPage, page_of
from .rule_addresses import addressed_rule
from .rule_models import AwaitQuery, Hits, RuleAddress, RuleChange, RuleQuery
from .rule_operations import ADDRESS_ERRORS
from .waiting import wait_for_hits

TAG = "files"


class FileRuleInfo(Struct, kw_only=True):
    """A file fault rule in force, with the counts of a fault rule."""

    id: int
    name: str
    enabled: bool
    operation: AnyOperation | None
    node: AnyNatural | None
    path: AnyText | None
    folder: AnyText | None
    file_kind: AnyFileKind | None
    action: FileActionName
    bytes: FileBytes | None
    ms: Milliseconds | None
    when: When | None
    crash: FileCrash | None
    hits: int
    matched: int
    remaining: int | None
    last_hit_ms: int | None
    near_misses: list[NearMiss]


class FileRulePage(Struct, kw_only=True):
    """File fault rules in evaluation order."""

    items: list[FileRuleInfo]
    next: str | None


def add_file_rule(control: Control, body: FileRule) -> FileRuleInfo:
    """Add a file fault rule after the others."""
    return file_rule_info(control.files.add(body))


def list_file_rules(control: Control, query: NumberPage) -> FileRulePage:
    """List the file fault rules in evaluation order."""
    items, token = page_of(control.files.after(query.since), query.limit, file_rule_info, lambda armed: str(armed.id))
    return FileRulePage(items=items, next=token)


def get_file_rule(control: Control, path: RuleAddress, query: RuleQuery) -> FileRuleInfo:
    """Return a file fault rule with its counts."""
    return file_rule_info(addressed_rule(control.files, path, query))


def replace_file_rule(control: Control, path: RuleAddress, body: FileRule) -> FileRuleInfo:
    """Replace a file fault rule; its counts start at 0."""
    return file_rule_info(control.files.replace(addressed_rule(control.files, path).id, body))


def change_file_rule(control: Control, path: RuleAddress, body: RuleChange) -> FileRuleInfo:
    """Enable or disable a file fault rule, which keeps its place and its counts."""
    return file_rule_info(control.files.set_enabled(addressed_rule(control.files, path).id, body.enabled))


def remove_file_rule(control: Control, path: RuleAddress) -> FileRuleInfo:
    """Remove a file fault rule, such as a full disk."""
    return file_rule_info(control.files.remove(addressed_rule(control.files, path).id))


def remove_file_rules(control: Control) -> FileRulePage:
    """Remove all file fault rules, and return them with their counts."""
    rules = control.files.rules
    control.files.clear()
    return FileRulePage(items=[file_rule_info(armed) for armed in rules], next=None)


async def await_file_rule(control: Control, path: RuleAddress, query: AwaitQuery, caller: Caller = PATIENT) -> Hits:
    """Wait for the hits of a rule; 408 with the hits so far after the timeout."""
    armed = addressed_rule(control.files, path, query)
    return Hits(id=armed.id, hits=await wait_for_hits(armed, query.hits, query.timeout_ms, caller))


def file_rule_info(armed: ArmedFileRule) -> FileRuleInfo:
    """Return the model of a rule in force."""
    rule = armed.rule
    return FileRuleInfo(
        id=armed.id,
        name=rule.name,
        enabled=rule.enabled,
        operation=rule.operation,
        node=rule.node,
        path=rule.path,
        folder=rule.folder,
        file_kind=rule.file_kind,
        action=rule.action,
        bytes=rule.bytes,
        ms=rule.ms,
        when=rule.when,
        crash=rule.crash,
        hits=armed.hits,
        matched=armed.matched,
        remaining=armed.remaining,
        last_hit_ms=armed.last_hit_ms,
        near_misses=armed.near_misses,
    )


ONE_RULE = "/v1/files/{id}"

OPERATIONS = (
    Operation(method="POST", path="/v1/files", perform=add_file_rule, tag=TAG, status=201, ignored=ANSWER_FIELDS),
    Operation(method="GET", path="/v1/files", perform=list_file_rules, tag=TAG),
    Operation(method="DELETE", path="/v1/files", perform=remove_file_rules, tag=TAG),
    Operation(method="GET", path=ONE_RULE, perform=get_file_rule, tag=TAG, errors=ADDRESS_ERRORS),
    Operation(
        method="PUT", path=ONE_RULE, perform=replace_file_rule, tag=TAG, errors=ADDRESS_ERRORS, ignored=ANSWER_FIELDS
    ),
    Operation(method="PATCH", path=ONE_RULE, perform=change_file_rule, tag=TAG, errors=ADDRESS_ERRORS),
    Operation(method="DELETE", path=ONE_RULE, perform=remove_file_rule, tag=TAG, errors=ADDRESS_ERRORS),
    Operation(
        method="GET", path=f"{ONE_RULE}/await", perform=await_file_rule, tag=TAG, errors=(*ADDRESS_ERRORS, 408, 503)
    ),
)
