"""Regular expressions of RE2, which match any text in time that grows with its length only.

Clients and users send expressions, and none of them may hold the event loop. google-re2 is loaded with the first one.
"""

from __future__ import annotations

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


class _Options(Protocol):
    log_errors: bool
    max_mem: int
    never_capture: bool


class _Re2(Protocol):
    error: type[Exception]

    def Options(self) -> _Options: ...

    def compile(self, pattern: str, options: _Options) -> CompiledRegex: ...


def compile_regex(text: str) -> CompiledRegex:
    """Compile an expression. Raises RegexError."""
    re2 = _load_re2()
    try:
        return re2.compile(text, _options())
    except re2.error as error:
        message: bytes = error.args[0]
        raise RegexError(message.decode()) from error


@cache
def _load_re2() -> _Re2:
    return cast("_Re2", import_module("re2"))


@cache
def _options() -> _Options:
    options = _load_re2().Options()
    options.log_errors = False
    options.max_mem = MEMORY_BYTES_MAX
    options.never_capture = True
    return options
