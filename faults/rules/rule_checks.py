"""Checks of a rule that its models cannot express: which values fit together."""

from __future__ import annotations

from msgspec import structs, to_builtins

from .. import strict_json
from ..actions import ACTION_TYPES, kind_of
from ..points import POINTS, Reason
from ..rule_error import RuleError
from .api_checks import apis_of, check_apis
from .fault_rules import FaultRule, When
from .match import CONNECTION_FIELDS
from .value_tests import check_match

# The kinds of the actions that are possible at each point.
ACTIONS_AT: dict[str, tuple[str, ...]] = {
    point: tuple(kind_of(each) for each in ACTION_TYPES if point in each.points.possible) for point in POINTS
}
# Fields that responses add to a rule. They are ignored in a request body, so that a response can be posted again.
ANSWER_FIELDS = frozenset({"id", "hits", "matched", "remaining", "last_hit_ms", "near_misses"})


def check_rule(rule: FaultRule) -> None:
    """Raise RuleError for an invalid rule."""
    strict_json.check(rule)
    check_match(rule.match, "match.")
    check_window(rule.when)
    _check_point(rule)
    check_apis(rule.match)
    refusal = rule.action.refusal(apis_of(rule.match))
    if refusal is not None:
        raise RuleError(*refusal)


def check_window(when: When) -> None:
    """Raise RuleError for an empty window."""
    if when.until_ms is not None and when.until_ms <= when.after_ms:
        allowed = f"integer >= {when.after_ms + 1}"
        message = f"when.until_ms: {when.until_ms} ms is not after after_ms, {when.after_ms} ms"
        raise RuleError("when.until_ms", when.until_ms, allowed, message)


def _check_point(rule: FaultRule) -> None:
    reason = rule.action.points.why_not(rule.point)
    if reason is not None:
        kind = kind_of(rule.action)
        allowed = ", ".join(ACTIONS_AT[rule.point])
        message = f"{kind} cannot be applied at {rule.point}: {reason.value}"
        raise RuleError("action.kind", kind, allowed, message)
    if rule.point == "accepted":
        _check_accepted(rule)


def _check_accepted(rule: FaultRule) -> None:
    """Raise RuleError for a field of the action or the match that only requests have."""
    for field in structs.fields(rule.action):
        if field.name in rule.action.not_at_accepted and getattr(rule.action, field.name) != field.default:
            default = strict_json.encode(field.default).decode()
            raise _not_at_accepted(f"action.{field.name}", getattr(rule.action, field.name), default)
    for name in rule.match.__struct_fields__:
        if name not in CONNECTION_FIELDS and getattr(rule.match, name) is not None:
            raise _not_at_accepted(f"match.{name}", getattr(rule.match, name), ", ".join(CONNECTION_FIELDS))


def _not_at_accepted(field: str, value: object, allowed: str) -> RuleError:
    message = f"{field} is not known at accepted: {Reason.NO_REQUEST_YET.value}"
    return RuleError(field, to_builtins(value), allowed, message)
