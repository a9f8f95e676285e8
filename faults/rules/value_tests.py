"""Compiles a value of a match (a text, an integer, a regex, a range, or a list of these) to a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from msgspec import to_builtins

from ...protocol.linear_regex import RegexError, compile_regex
from ..bytes_checks import check_bytes
from ..match_values import HeaderMatch, IntegerRange, Pattern
from ..rule_error import RuleError
from .match import Match

Value = int | str | None
Test = Callable[[Value], bool]


def compile_test(match: object, field: str) -> Test:
    """Return a function that tests a value against a field of the match. None never matches."""
    entries = _entries_of(getattr(match, field))
    exact = frozenset(entry for entry in entries if isinstance(entry, (int, str)))
    ranges = [entry for entry in entries if isinstance(entry, IntegerRange)]
    patterns = [compile_regex(entry.regex) for entry in entries if isinstance(entry, Pattern)]
    if not ranges and not patterns:
        return exact.__contains__

    def test(value: Value) -> bool:
        if value in exact:
            return True
        if isinstance(value, int):
            return any(_is_in_range(value, each) for each in ranges)
        if value is None or not patterns:
            return False
        text = value.encode(errors="replace")
        return any(pattern.fullmatch(text) is not None for pattern in patterns)

    return test


def check_match(match: Match, prefix: str = "") -> None:
    """Raise RuleError for a value that no request can have. prefix: of the field in the error."""
    for name in match.__struct_fields__:
        check_match_value(f"{prefix}{name}", getattr(match, name))
    for principal in _entries_of(match.principal):
        if isinstance(principal, str) and ":" not in principal:
            field = f"{prefix}principal"
            allowed = "a principal such as User:alice, or a regex"
            raise RuleError(field, principal, allowed, f"{field} cannot be {principal!r}; allowed: {allowed}")


def check_match_value(field: str, wanted: object) -> None:
    """Raise RuleError for an invalid regex, an empty range, and ambiguous bytes. field: the path of wanted."""
    entries = _entries_of(wanted)
    for index, entry in enumerate(entries):
        path = f"{field}[{index}]" if isinstance(wanted, list) else field
        if isinstance(entry, Pattern):
            _check_pattern(f"{path}.regex", entry.regex)
        elif isinstance(entry, IntegerRange):
            _check_range(path, entry)
        elif isinstance(entry, HeaderMatch):
            check_bytes(f"{path}.name", entry.name, RuleError)
            check_bytes(f"{path}.value", entry.value, RuleError)
        else:
            check_bytes(path, entry, RuleError)


def _entries_of(wanted: object) -> list[object]:
    return cast("list[object]", wanted) if isinstance(wanted, list) else [wanted]


def _is_in_range(value: int, wanted: IntegerRange) -> bool:
    if wanted.first is not None and value < wanted.first:
        return False
    return wanted.last is None or value <= wanted.last


def _check_pattern(field: str, regex: str) -> None:
    try:
        compile_regex(regex)
    except RegexError as error:
        allowed = "a regular expression of RE2, which has no lookaround and no backreference"
        raise RuleError(field, regex, allowed, f"{field} does not compile: {error}") from None


def _check_range(field: str, wanted: IntegerRange) -> None:
    if wanted.first is None and wanted.last is None:
        raise RuleError(field, to_builtins(wanted), "from, to or both", f"{field}: a range needs from, to or both")
    if wanted.first is not None and wanted.last is not None and wanted.first > wanted.last:
        allowed = f"integer >= {wanted.first}"
        message = f"{field}.to: {wanted.last} is less than from, {wanted.first}"
        raise RuleError(f"{field}.to", wanted.last, allowed, message)
