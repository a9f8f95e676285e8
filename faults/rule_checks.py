"""Which parts of a rule go together: what its models cannot say, each refusal with its reason."""

from __future__ import annotations

import re
from typing import cast

import msgspec

from ..protocol.api_keys import APIS
from ..protocol.error_codes import ErrorCode
from .fault_rules import Error, FaultRule, When, kind_of
from .match import CONNECTION_FIELDS, IntegerRange, Match, Pattern
from .rule_error import RuleError
from .strict_json import convert, parse

# What goes with which point, and why the rest does not.
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
_AT_ACCEPTED = "a connection that was accepted has sent no request yet"
_NO_BYTES_YET = "the bytes of the answer are there only at answering"
_BYTES_MADE = "the bytes of the answer are made already; received and applied are in front of that"
_APPLIED_ALREADY = "the request was applied already"
# What the answer to a rule has beside the rule: taken, and ignored, where a rule that was printed is posted again.
ANSWER_FIELDS = frozenset({"id", "hits", "matched", "remaining", "last_hit_ms", "near_misses"})
_API_NAMES = {api.name: api for api in APIS.values()}


def decode_rule(data: bytes) -> FaultRule:
    """Return the rule that the JSON says; a rule as it was answered is one too. Raises RuleError."""
    rule = convert(parse_rule(data), FaultRule)
    check_rule(rule)
    return rule


def parse_rule(data: bytes) -> object:
    """Return the JSON of a rule, of any kind, in Python's own types, without what an answer adds. Raises RuleError."""
    document = parse(data)
    if isinstance(document, dict):
        fields = cast("dict[str, object]", document)
        document = {name: value for name, value in fields.items() if name not in ANSWER_FIELDS}
    return document


def check_rule(rule: FaultRule) -> None:
    """Raise RuleError for a rule that cannot be."""
    # A rule made in process has been checked by nothing but a type checker.
    convert(msgspec.to_builtins(rule), FaultRule)
    _check_values(rule.match)
    check_window(rule.when)
    _check_point(rule)
    if isinstance(rule.action, Error):
        _check_error(rule.action)


def _check_values(match: Match) -> None:
    for name in match.__struct_fields__:
        wanted: object = getattr(match, name)
        if isinstance(wanted, list):
            for index, entry in enumerate(cast("list[object]", wanted)):
                _check_value(f"match.{name}[{index}]", name, entry)
        else:
            _check_value(f"match.{name}", name, wanted)


def _check_value(field: str, name: str, wanted: object) -> None:
    if name == "api" and wanted is not None and wanted not in _API_NAMES:
        allowed = ", ".join(sorted(_API_NAMES))
        raise RuleError(field, wanted, allowed, f"{field}: there is no API {wanted!r}; allowed: {allowed}")
    if isinstance(wanted, Pattern):
        check_pattern(field, wanted)
    if isinstance(wanted, IntegerRange):
        _check_range(field, wanted)


def check_pattern(field: str, wanted: Pattern) -> None:
    """Raise RuleError for a regular expression that is none."""
    try:
        re.compile(wanted.regex)
    except (re.error, RecursionError, OverflowError) as error:
        allowed = "a regular expression of Python's module re"
        raise RuleError(f"{field}.regex", wanted.regex, allowed, f"{field}.regex does not compile: {error}") from None


def _check_range(field: str, wanted: IntegerRange) -> None:
    if wanted.first is None and wanted.last is None:
        raise RuleError(field, {}, "from, to or both", f"{field}: a range has from, to or both")
    if wanted.first is not None and wanted.last is not None and wanted.first > wanted.last:
        allowed = f"integer >= {wanted.first}"
        raise RuleError(
            f"{field}.to", wanted.last, allowed, f"{field}: from {wanted.first} to {wanted.last} is nothing"
        )


def check_window(when: When) -> None:
    """Raise RuleError for a time in which nothing is."""
    if when.until_ms is not None and when.until_ms <= when.after_ms:
        allowed = f"integer >= {when.after_ms + 1}"
        message = f"when.until_ms: nothing is after {when.after_ms} ms and before {when.until_ms} ms"
        raise RuleError("when.until_ms", when.until_ms, allowed, message)


def _check_point(rule: FaultRule) -> None:
    kind = kind_of(rule.action)
    if kind not in ACTIONS_AT[rule.point]:
        allowed = ", ".join(ACTIONS_AT[rule.point])
        message = f"{kind} cannot be done at {rule.point}: {_reason(rule.point, kind)}"
        raise RuleError("action.kind", kind, allowed, message)
    if rule.point == "accepted":
        for name in rule.match.__struct_fields__:
            if name not in CONNECTION_FIELDS and getattr(rule.match, name) is not None:
                wanted = msgspec.to_builtins(getattr(rule.match, name))
                allowed = ", ".join(CONNECTION_FIELDS)
                raise RuleError(f"match.{name}", wanted, allowed, f"match.{name} cannot be known: {_AT_ACCEPTED}")


def _reason(point: str, kind: str) -> str:
    if point == "accepted":
        return _AT_ACCEPTED
    if kind in ("truncate", "corrupt", "drip"):
        return _NO_BYTES_YET
    return _BYTES_MADE if point == "answering" else _APPLIED_ALREADY


def _check_error(action: Error) -> None:
    if isinstance(action.error, str) and action.error not in ErrorCode.__members__:
        allowed = "a name of Kafka's errors, such as NOT_LEADER_OR_FOLLOWER, or a code"
        raise RuleError("action.error", action.error, allowed, f"action.error: Kafka has no error {action.error!r}")
