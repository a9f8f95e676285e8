"""Principals from the names in client certificates: ssl.principal.mapping.rules.

Rules are RULE:pattern/replacement/, followed by L or U for lower or upper case, and DEFAULT, which takes the name as it
is. A slash inside a rule is written with a backslash before it. The first rule whose pattern matches the whole name
applies: each match of the pattern in the name is replaced, as by Java's String.replaceAll. So `.*` replaces the name
and, once more, the empty text at its end.

Patterns are those of Java that RE2 matches with the same result (java_regex). Names come from clients, and no pattern
may hold the event loop.
Source: SslPrincipalMapper, Kafka 4.3.0; tests/broker/principal_mapping_4.3.0.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ....protocol.linear_regex import CapturingRegex, RegexError, RegexMatch
from ....security.java_text import trim
from ...config.config_types import ConfigError
from .java_regex import JavaRegex, compile_java_regex

KEY = "ssl.principal.mapping.rules"
DEFAULT = "DEFAULT"
_PART = r"((?:\\.|[^\\/])*)"
_RULE = re.compile(rf"{DEFAULT}|RULE:{_PART}/{_PART}/([LU]?)")
_SEPARATOR = re.compile(r"\s*(?:,\s*|\Z)", re.ASCII)
_REFERENCE = re.compile(
    r"\\(?P<literal>.)|\$(?P<number>[0-9]+)|\$\{(?P<name>[a-zA-Z][a-zA-Z0-9]*)\}|(?P<wrong>[\\$])", re.DOTALL
)


class NoPrincipalError(Exception):
    """No rule gives a name a principal. The message is one line for the log."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """pattern: None for DEFAULT. case: L, U or empty."""

    pattern: JavaRegex | None = None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """Return the principal, None if the pattern does not match. Raises ValueError for a wrong replacement."""
        if self.pattern is None:
            return name
        matches = self.pattern.matches(name)
        if not matches:
            return None
        principal = b"".join(self._replaced(self.pattern.compiled, matches, name.encode())).decode()
        return {"L": principal.lower(), "U": principal.upper()}.get(self.case, principal)

    def _replaced(self, pattern: CapturingRegex, matches: Iterable[RegexMatch], text: bytes) -> Iterator[bytes]:
        position = 0
        for match in matches:
            yield text[position : match.start()]
            yield _expanded(self.replacement, pattern, _Found(match, text))
            position = match.end()
        yield text[position:]


class _Found(NamedTuple):
    """A match in a text."""

    match: RegexMatch
    text: bytes

    def group(self, number: int) -> bytes:
        """Return the text of a group, none if the group has not matched."""
        return self.text[max(0, self.match.start(number)) : max(0, self.match.end(number))]


class PrincipalMapping:
    """The rules of one listener, in their order."""

    def __init__(self, text: str) -> None:
        """text: the value of the key. Raises ConfigError."""
        self._text = text
        self._rules = list(_parse_rules(text))

    def principal_of(self, name: str) -> str:
        """Return the principal of a name. Raises NoPrincipalError."""
        try:
            for rule in self._rules:
                principal = rule.apply(name)
                if principal is not None:
                    return principal
        except ValueError as error:
            raise NoPrincipalError(f"{KEY}={self._text} cannot be applied to {name!r}: {error}") from error
        raise NoPrincipalError(f"no rule of {KEY}={self._text} applies to {name!r}")


def _parse_rules(text: str) -> Iterator[_Rule]:
    text = trim(text)
    position = 0
    while position < len(text):
        rule = _RULE.match(text, position)
        rule_end = position if rule is None else rule.end()
        separator = _SEPARATOR.search(text, rule_end)
        assert separator is not None, "the end of the text is a separator"
        if separator.start() > rule_end:
            raise _invalid(text[position : separator.start()], f"unexpected {text[rule_end : separator.start()]!r}")
        if rule is not None:
            yield _rule_of(rule)
        position = separator.end()


def _rule_of(match: re.Match[str]) -> _Rule:
    pattern, replacement, case = match.groups()
    if pattern is None:
        return _Rule()
    try:
        return _Rule(compile_java_regex(pattern), replacement, case)
    except RegexError as error:
        raise _invalid(match.group(), f"{pattern!r} cannot be used: {error}") from error


def _invalid(rule: str, reason: str) -> ConfigError:
    return ConfigError(
        f"{KEY}: {rule!r}: {reason}; allowed: {DEFAULT}, RULE:pattern/replacement/, with L or U behind it"
    )


def _expanded(replacement: str, pattern: CapturingRegex, match: _Found) -> bytes:
    """Return the replacement with the groups of a match. Raises ValueError."""
    parts: list[bytes] = []
    position = 0
    for reference in _REFERENCE.finditer(replacement):
        parts.append(replacement[position : reference.start()].encode())
        parts.append(_value_of(reference, pattern, match))
        position = reference.end()
    parts.append(replacement[position:].encode())
    return b"".join(parts)


def _value_of(reference: re.Match[str], pattern: CapturingRegex, match: _Found) -> bytes:
    literal, digits, name = reference.group("literal", "number", "name")
    if literal is not None:
        return str(literal).encode()
    if name is not None and name in pattern.groupindex:
        return match.group(pattern.groupindex[name])
    if digits is None:
        raise ValueError(f"the replacement has {reference.group()!r}, which is no group")
    number, rest = int(digits[0]), digits[1:]
    if number > pattern.groups:
        # Kafka takes a number without its group as text, where the pattern has any groups.
        if pattern.groups:
            return f"${digits}".encode()
        raise ValueError(f"the replacement has ${number}, and the pattern no groups")
    while rest and number * 10 + int(rest[0]) <= pattern.groups:
        number, rest = number * 10 + int(rest[0]), rest[1:]
    return match.group(number) + rest.encode()
