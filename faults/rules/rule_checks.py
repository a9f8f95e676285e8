"""Checks of a rule that its models cannot express: which values fit together."""

from __future__ import annotations

from typing import get_args

import msgspec

from ...protocol.api_keys import Api
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.partial_errors import can_report_error
from ...protocol.errors.response_frames import has_throttle_time
from ...protocol.similar_names import suggestion
from .. import strict_json
from ..actions import Action, Delay, Error, Hang, Scope, Throttle, kind_of
from ..rule_error import RuleError
from .api_checks import apis_of, check_apis
from .fault_rules import FaultRule, When
from .match import CONNECTION_FIELDS
from .value_tests import check_match

_SCOPES: tuple[Scope, ...] = get_args(Scope)
# The actions of each point.
ACTIONS_AT: dict[str, tuple[str, ...]] = {
    "accepted": ("observe", "delay", "hang", "close", "reset", "drip"),
    "received": (
        "observe",
        "error",
        "drop",
        "delay",
        "hang",
        "hold",
        "close",
        "reset",
        "throttle",
        "deliver_twice",
        "crash",
    ),
    "applied": ("observe", "error", "drop", "delay", "hang", "hold", "close", "reset", "throttle", "crash"),
    "answering": ("observe", "truncate", "corrupt", "drip", "delay", "close", "reset"),
}
_AT_ACCEPTED = "an accepted connection has sent no request yet"
_NO_BYTES_YET = "the response has bytes only at answering"
_BYTES_MADE = "the response is already encoded; use received or applied"
_APPLIED_ALREADY = "the request is already applied"
# Fields that responses add to a rule. They are ignored in a request body, so that a response can be posted again.
ANSWER_FIELDS = frozenset({"id", "hits", "matched", "remaining", "last_hit_ms", "near_misses"})


def check_rule(rule: FaultRule) -> None:
    """Raise RuleError for an invalid rule."""
    strict_json.check(rule)
    check_match(rule.match, "match.")
    check_window(rule.when)
    _check_point(rule)
    check_apis(rule.match)
    _check_action(rule.action, apis_of(rule.match))


def check_window(when: When) -> None:
    """Raise RuleError for an empty window."""
    if when.until_ms is not None and when.until_ms <= when.after_ms:
        allowed = f"integer >= {when.after_ms + 1}"
        message = f"when.until_ms: {when.until_ms} ms is not after after_ms, {when.after_ms} ms"
        raise RuleError("when.until_ms", when.until_ms, allowed, message)


def _check_point(rule: FaultRule) -> None:
    kind = kind_of(rule.action)
    if kind not in ACTIONS_AT[rule.point]:
        allowed = ", ".join(ACTIONS_AT[rule.point])
        message = f"{kind} cannot be applied at {rule.point}: {_reason(rule.point, kind)}"
        raise RuleError("action.kind", kind, allowed, message)
    if rule.point == "accepted":
        if isinstance(rule.action, (Delay, Hang)) and rule.action.release_order:
            message = f"action.release_order: {_AT_ACCEPTED}, so there is no order of responses"
            raise RuleError("action.release_order", True, "false", message)
        for name in rule.match.__struct_fields__:
            if name not in CONNECTION_FIELDS and getattr(rule.match, name) is not None:
                wanted = msgspec.to_builtins(getattr(rule.match, name))
                allowed = ", ".join(CONNECTION_FIELDS)
                raise RuleError(
                    f"match.{name}", wanted, allowed, f"match.{name} is not known at accepted: {_AT_ACCEPTED}"
                )


def _reason(point: str, kind: str) -> str:
    if point == "accepted":
        return _AT_ACCEPTED
    if kind in ("truncate", "corrupt", "drip"):
        return _NO_BYTES_YET
    return _BYTES_MADE if point == "answering" else _APPLIED_ALREADY


def _check_action(action: Action, apis: list[Api]) -> None:
    """Raise RuleError for an unknown error, and for an action that the responses of the APIs cannot carry."""
    if isinstance(action, Error):
        if isinstance(action.error, str) and action.error not in ErrorCode.__members__:
            raise _unknown_error(action.error)
        for api in apis:
            if action.scope is not None and not can_report_error(api, action.scope):
                allowed = ", ".join(scope for scope in _SCOPES if can_report_error(api, scope))
                message = f"action.scope: responses of {api.name} have no error code for a {action.scope}"
                raise RuleError("action.scope", action.scope, allowed, message)
    elif isinstance(action, Throttle):
        for api in apis:
            if not has_throttle_time(api):
                message = f"action.kind: responses of {api.name} have no throttle_time_ms"
                raise RuleError("action.kind", "throttle", "an API whose responses have a throttle_time_ms", message)


def _unknown_error(name: str) -> RuleError:
    hint = suggestion(name, ErrorCode.__members__)
    allowed = "the name of a Kafka error, such as NOT_LEADER_OR_FOLLOWER, or its code"
    return RuleError("action.error", name, allowed, f"action.error: Kafka has no error {name!r}{hint}")
