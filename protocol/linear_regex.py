"""Regular expressions of RE2, which match any text in time that grows with its length only.

Clients and users send expressions, and none of them may hold the event loop. google-re2 is loaded with the first one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Protocol, cast

# The memory of one compiled expression: its program, and the states found while it matches. google-re2 caches the last
# 128 expressions of the process.
MEMORY_BYTES_MAX = 512 * 1024


class RegexError(Exception):
    """The text is not an expression of RE2, or one that is too large. The message is RE2's."""


class CompiledRegex(Protocol):
    """A compiled expression of google-re2, which has no type hints. `fullmatch` releases the interpreter lock."""

    @property
    def programsize(self) -> int:
        """The number of instructions of the program."""
        ...

    def fullmatch(self, text: bytes) -> object | None:
        """Return a match of the whole text in UTF-8, or None."""
        ...

    def search(self, text: bytes) -> object | None:
        """Return the first match anywhere in the text in UTF-8, or None."""
        ...


class RegexMatch(Protocol):
    """A match of google-re2. Group 0 is the match itself."""

    def start(self, number: int = 0, /) -> int:
        """Return the position of a group in bytes, -1 if the group has not matched."""
        ...

    def end(self, number: int = 0, /) -> int:
        """Return the position after a group in bytes, -1 if the group has not matched."""
        ...


class CapturingRegex(CompiledRegex, Protocol):
    """A compiled expression whose matches have the text of its groups."""

    @property
    def groups(self) -> int:
        """The number of groups."""
        ...

    @property
    def groupindex(self) -> dict[str, int]:
        """The groups with a name."""
        ...

    def finditer(self, text: bytes) -> Iterable[RegexMatch]:
        """Return the matches in the text, from left to right; an empty one directly after another match too."""
        ...


class _Options(Protocol):
    log_errors: bool
    max_mem: int
    never_capture: bool


class _Re2(Protocol):
    error: type[Exception]

    def Options(self) -> _Options: ...

    def compile(self, pattern: str, options: _Options) -> CapturingRegex: ...


def compile_regex(text: str) -> CompiledRegex:
    """Compile an expression. Raises RegexError."""
    return _compile(text, captures=False)


def compile_capturing_regex(text: str) -> CapturingRegex:
    """Compile an expression whose groups are needed. Raises RegexError."""
    return _compile(text, captures=True)


def _compile(text: str, *, captures: bool) -> CapturingRegex:
    re2 = _load_re2()
    try:
        return re2.compile(text, _options(captures=captures))
    except re2.error as error:
        message: bytes = error.args[0]
        raise RegexError(message.decode()) from error


@cache
def _load_re2() -> _Re2:
    return cast("_Re2", import_module("re2"))


@cache
def _options(*, captures: bool) -> _Options:
    options = _load_re2().Options()
    options.log_errors = False
    options.max_mem = MEMORY_BYTES_MAX
    options.never_capture = not captures
    return options
