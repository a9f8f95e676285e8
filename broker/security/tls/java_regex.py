r"""Expressions of Java that RE2 can match with the same result.

RE2 reads some expressions in another way than Java, and a rule would give a client another principal:

| expression | Java | RE2 | here |
|---|---|---|---|
| `.` | no line terminator | no `\n` | translated |
| `\s`, `\S` | with U+000B | without | translated |
| `(?i)` | letters of ASCII | letters of Unicode: U+017F matches `s`, U+212A matches `k` | those are hidden from RE2 |
| `(?i)` with other characters, `\x` or `\p` | | | refused |
| `[a[b]]`, `[[:alpha:]]`, `[a&&b]`, `[]a]` | unions, intersections | characters | refused |
| `\1`, `\v`, `\C`, `(?m)`, `(?U)`, `(?s)` for a part | | | refused |
| `$` | also before a line terminator at the end | at the end | names with such an end are refused |

`\b` is that of Java 19 and newer: between letters, digits and `_` of ASCII, and other characters.
Source: java.util.regex.Pattern, Java 17; tests/broker/principal_mapping_4.3.0.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....protocol.linear_regex import CapturingRegex, RegexError, RegexMatch, compile_capturing_regex

LINE_TERMINATORS = ("\n", "\r", "\x85", "\u2028", "\u2029")
_ANY = r"[^\n\r\x{85}\x{2028}\x{2029}]"
_SPACE = r"\t-\r "
_NO_SPACE = r"\x{0}-\x{8}\x{e}-\x{1f}!-\x{10ffff}"
_TOKENS = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\[pPx](?:\{[^}]*\}|.)|\\.|\(\?(?P<on>[a-zA-Z]*)(?P<off>-[a-zA-Z]*)?(?P<scope>[:)])|&&|.",
    re.DOTALL,
)
_FLAGS = frozenset("is-")
_REFUSED_ESCAPE = re.compile(r"\\[0-9vC]")
# Characters that RE2 takes for s and k, each with one that has the same length in UTF-8 and no case.
_HIDDEN = str.maketrans({"\u017f": "\xa4", "\u212a": "\ue000"})


@dataclass(frozen=True, slots=True)
class JavaRegex:
    """A compiled expression. ignores_case: whether a part has the flag i. has_end: whether it has `$`."""

    compiled: CapturingRegex
    ignores_case: bool
    has_end: bool

    def matches(self, name: str) -> list[RegexMatch]:
        """Return the matches, none if the expression does not match the whole name. Positions are those of UTF-8.

        Raises ValueError for a name that Java may match otherwise.
        """
        text = (name.translate(_HIDDEN) if self.ignores_case else name).encode()
        if self.compiled.fullmatch(text) is None:
            return []
        if self.has_end and name.endswith(LINE_TERMINATORS):
            raise ValueError("the name ends with a line terminator")
        return list(self.compiled.finditer(text))


def compile_java_regex(pattern: str) -> JavaRegex:
    """Compile an expression. Raises RegexError, also for one that RE2 would read in another way than Java."""
    translation = _Translation()
    text = "".join(translation.tokens(pattern))
    if translation.ignores_case and (translation.has_codes or not pattern.isascii()):
        raise RegexError(r"(?i) is possible with characters of ASCII only, and without \x and \p")
    return JavaRegex(compile_capturing_regex(text), translation.ignores_case, translation.has_end)


class _Translation:
    """The state of the translation of one expression."""

    def __init__(self) -> None:
        self.ignores_case = self.has_end = self.has_codes = False
        self._matches_all = self._is_in_class = False

    def tokens(self, pattern: str) -> Iterator[str]:
        """Yield the tokens for RE2. Raises RegexError."""
        before: str | None = None
        for match in _TOKENS.finditer(pattern):
            token = match[0]
            if match["scope"] is not None and not self._is_in_class:
                self._take_flags(match)
                yield token
            else:
                yield self._in_class(token, before) if self._is_in_class else self._outside(token)
            before = "[" if token == "^" and before == "[" else token

    def _take_flags(self, match: re.Match[str]) -> None:
        on, off = match["on"], match["off"] or ""
        is_for_all = match.start() == 0 and match["scope"] == ")"
        if not _FLAGS.issuperset(on + off) or "s" in off or ("s" in on and not is_for_all):
            raise RegexError(f"{match[0]}: allowed are i, and s at the start of the whole expression")
        self.ignores_case |= "i" in on
        self._matches_all |= "s" in on

    def _outside(self, token: str) -> str:
        if token == "[":
            self._is_in_class = True
        elif token == "." and not self._matches_all:
            return _ANY
        self.has_end |= token == "$"
        return {r"\s": f"[{_SPACE}]", r"\S": f"[^{_SPACE}]"}.get(token) or self._checked(token)

    def _in_class(self, token: str, before: str | None) -> str:
        if token in ("[", "&&") or token.startswith(r"\Q") or (token == "]" and before == "["):
            raise RegexError(f"{token!r} in a class: Java reads it in another way")
        if token == "]":
            self._is_in_class = False
        return {r"\s": _SPACE, r"\S": _NO_SPACE}.get(token) or self._checked(token)

    def _checked(self, token: str) -> str:
        if _REFUSED_ESCAPE.fullmatch(token) is not None:
            raise RegexError(f"{token}: Java reads it in another way")
        self.has_codes |= token.startswith((r"\p", r"\P", r"\x"))
        return token
