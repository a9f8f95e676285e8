"""Rules and their counts as objects and as text, for the handles of rules."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TypeVar, cast

from msgspec import structs, to_builtins

from ...faults import strict_json
from ...faults.actions import kind_of
from ...faults.files.file_rules import FileRule
from ...faults.rule_error import RuleError
from ...faults.rules.fault_rules import FaultRule, When
from ...faults.rules.near_misses import describe_misses
from ...faults.rules.rule_lookup import AmbiguousRuleError, UnknownRuleError
from ..errors import CallError
from ..operations.file_operations import FileRuleInfo
from ..operations.rule_models import RuleAddress, RuleInfo

AnyInfo = RuleInfo | FileRuleInfo
Given = TypeVar("Given", bound=FaultRule | FileRule)

NOT_FOUND, CONFLICT = 404, 409
# The parameter that names a rule.
ADDRESS = "id"
DEFAULT_WHEN: dict[str, object] = to_builtins(When())


def read_rule(rule_type: type[Given], rule: object, fields: Mapping[str, object]) -> Given:
    """Return the rule that a caller gives as an object, as the JSON of the admin API, or by its fields.

    Raises RuleError.
    """
    if isinstance(rule, rule_type):
        return rule
    if not isinstance(rule, Mapping | None):
        allowed = f"a {rule_type.__name__}, a dict as in the admin API, or fields as arguments"
        raise RuleError("", ascii(rule), allowed, f"cannot add {rule!a}; allowed: {allowed}")
    return strict_json.convert({**cast("Mapping[str, object]", rule or {}), **fields}, rule_type)


def rule_of(info: AnyInfo) -> FaultRule | FileRule:
    """Return a rule without its counts."""
    rule_type = FaultRule if isinstance(info, RuleInfo) else FileRule
    fields = {name: value for name, value in structs.asdict(info).items() if name in rule_type.__struct_fields__}
    return rule_type(**fields)


def address_of(address: int | str) -> RuleAddress:
    """Return an id or a name as the operations take it. Raises UnknownRuleError for an empty name."""
    if address == "":
        raise UnknownRuleError("there is no rule ''")
    return strict_json.convert({ADDRESS: str(address)}, RuleAddress)


@contextmanager
def lookup_errors() -> Generator[None]:
    """Raise UnknownRuleError and AmbiguousRuleError for what the operations say of a rule's id or name."""
    try:
        yield
    except CallError as error:
        if error.detail.field != ADDRESS:
            raise
        raise (UnknownRuleError if error.status == NOT_FOUND else AmbiguousRuleError)(str(error)) from None


def shown(info: AnyInfo) -> str:
    """Return id, name, action, state and counts in one line."""
    state = "" if info.enabled else ", disabled"
    counts = f"{info.hits} hits, {info.matched} matched"
    return f"<rule {info.id} {info.name!r}: {action_text(rule_of(info))}{state}, {counts}>"


def description_of(info: AnyInfo) -> list[str]:
    """Return a line with the rule and its counts, and a line for each of the nearest misses."""
    rule = rule_of(info)
    given = json.dumps(without_defaults(to_builtins(rule)))
    return [
        f"rule {info.id} {info.name!r}: {info.hits} hits, {info.matched} matched: {given}",
        *(f"    {line}" for line in describe_misses(info.near_misses, rule.matched_noun)),
    ]


def action_text(rule: FaultRule | FileRule) -> str:
    """Return what a rule does: "close at applied" of a FaultRule, "tear" of a FileRule."""
    return rule.action if isinstance(rule, FileRule) else f"{kind_of(rule.action)} at {rule.point}"


def json_of(rule: FaultRule) -> dict[str, object]:
    """Return the JSON of a rule without the fields that have their defaults, at any depth."""
    fields = without_defaults(to_builtins(rule))
    when: dict[str, object] = to_builtins(rule.when)
    changed = {name: value for name, value in when.items() if value != DEFAULT_WHEN[name]}
    return {**fields, "when": changed} if changed else fields


def without_defaults(rule: object) -> dict[str, object]:
    """Return the JSON fields of a rule without default values."""
    fields = cast("dict[str, object]", rule)
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", {}, DEFAULT_WHEN) and not (name == "enabled" and value)
    }
