"""Regular expressions of RE2 for topic names, with the error messages of RE2/J 1.8, which Kafka 4.3.0 uses.

`matches` releases the global interpreter lock, so that a thread can run it without a pause of the event loop. The
constructor holds the lock. Costs are in steps: one instruction of the program on one byte, at most 50 ns.
"""

from __future__ import annotations

import re

from ....protocol.linear_regex import RegexError, compile_regex

# About 25 ms, during which the event loop waits.
COMPILE_STEPS_MAX = 500_000
# Costs of compilation, measured with (?i), which makes them larger. The costliest character is in a range of all of
# Unicode, the costliest escape sequence is \W, and the costliest Unicode class is \PL.
_STEPS_PER_CHARACTER = 100
_STEPS_PER_ESCAPE = 200
_STEPS_PER_UNICODE_CLASS = 20_000
_STEPS_PER_REPETITION = 20
# The cost of one call of `matches`, whatever the expression is.
_STEPS_PER_MATCH = 200

TOO_LARGE = "expression too large"
_INVALID_NAME = "invalid named capture"
_INVALID_REPEAT_COUNT = "invalid repeat count"
_REPEAT_COUNT_MAX = 1000

# RE2's error, up to its colon, to RE2/J's.
_DESCRIPTIONS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid UTF-8": "invalid escape sequence",
    "invalid named capture group": _INVALID_NAME,
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": _INVALID_REPEAT_COUNT,
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "pattern too large - compile failed": TOO_LARGE,
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "regexp/syntax: internal error",
}

# Quoted text, an escape sequence, a repetition with its counts, or the name of a group.
_TOKENS = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\(?P<escaped>.)|\{(?P<least>\d{1,4})(?:,(?P<most>\d{0,4}))?\}|\(\?P?<(?P<name>\w+)>", re.DOTALL
)


class InvalidRegexError(Exception):
    """The text is not a regular expression, or one that costs too much. description: RE2/J's message."""

    def __init__(self, description: str) -> None:
        """Set the description."""
        super().__init__(description)
        self.description = description


class TopicRegex:
    """A compiled expression."""

    def __init__(self, text: str) -> None:
        """Compile the expression. Raises InvalidRegexError."""
        if compile_steps(text) > COMPILE_STEPS_MAX:
            raise InvalidRegexError(TOO_LARGE)
        try:
            self._pattern = compile_regex(_TOKENS.sub(_refuse_byte_escape, text))
        except RegexError as error:
            raise InvalidRegexError(_description_of(str(error))) from error
        if _has_duplicate_name(text):
            raise InvalidRegexError("duplicate capture group name")

    def matches(self, name: str) -> bool:
        """Whether the whole name matches."""
        return self._pattern.fullmatch(name.encode()) is not None

    def match_steps(self, name: str) -> int:
        """Return the largest cost of matches(name)."""
        return _STEPS_PER_MATCH + self._pattern.programsize * (len(name) + 1)


def compile_steps(text: str) -> int:
    """Return the largest cost of compiling the expression, valid or not."""
    steps = _STEPS_PER_CHARACTER * len(text)
    for token in _TOKENS.finditer(text):
        if token["least"] is not None:
            steps += _STEPS_PER_REPETITION * max(int(token["least"]), int(token["most"] or 0))
        elif token["escaped"] is not None:
            steps += _STEPS_PER_UNICODE_CLASS if token["escaped"] in "pP" else _STEPS_PER_ESCAPE
    return steps


def _refuse_byte_escape(token: re.Match[str]) -> str:
    r"""Return the token, but \y for \C: RE2/J accepts neither, RE2 accepts \C."""
    return "\\y" if token["escaped"] == "C" else token[0]


def _has_duplicate_name(text: str) -> bool:
    """Whether two groups have the same name, which RE2 accepts and RE2/J does not."""
    names = [token["name"] for token in _TOKENS.finditer(text) if token["name"]]
    return len(set(names)) < len(names)


def _description_of(message: str) -> str:
    """Return RE2/J's message for one of RE2: a kind, and after a colon the part of the expression."""
    kind, _, part = message.partition(": ")
    if kind == "invalid perl operator" and part.startswith("(?<"):
        return _INVALID_NAME
    if kind == "bad repetition operator" and _has_invalid_count(part):
        return _INVALID_REPEAT_COUNT
    return _DESCRIPTIONS.get(kind, kind)


def _has_invalid_count(operators: str) -> bool:
    """Whether the counts of the last repetition are invalid, which RE2/J reports before the nesting."""
    last = operators[operators.rfind("{") :].rstrip("?")
    if not last.endswith("}"):
        return False
    least, _, most = last[1:-1].partition(",")
    return max(int(least), int(most or 0)) > _REPEAT_COUNT_MAX or (most != "" and int(most) < int(least))
