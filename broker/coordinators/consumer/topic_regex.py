"""Regular expressions of RE2 for topic names, with the error messages of RE2/J 1.8, which Kafka 4.3.0 uses.

`matches` releases the global interpreter lock, so that a thread can run it without a pause of the event loop. The
constructor holds the lock. Costs are in steps: one instruction of the program on one byte, at most 50 ns. RegexSearch
matches in pieces, so that a costly expression does not stop the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator

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


logger = logging.getLogger(__name__)

# The cost of one piece, in the steps of TopicRegex: at most 25 ms. It must not be less than COMPILE_STEPS_MAX.
PIECE_STEPS_MAX = 500_000


class RegexSearch:
    """Finds the names that match each of several expressions.

    The first piece runs in the caller's thread. Each later piece runs in a thread of the event loop's executor, one at
    a time. A match that costs more than a piece is a piece of its own, and never the first.
    """

    __slots__ = ("_pending_steps", "_pieces", "matched")

    def __init__(self, regexes: Iterable[str], names: Iterable[str]) -> None:
        """Match nothing yet. An invalid expression matches no name."""
        # The matching names of each expression, in the order of names.
        self.matched: dict[str, list[str]] = {}
        self._pieces = self._match(list(regexes), list(names))
        # The cost of the work that the next step of _pieces does.
        self._pending_steps = 0

    def run(self, done: Callable[[], None], is_wanted: Callable[[], bool]) -> None:
        """Call done when all names are matched: before the return if one piece is enough, else from the event loop.

        The search ends without a call of done when is_wanted returns False between two pieces, and at shutdown.
        """
        if self.run_piece():
            done()
        else:
            self._run_in_thread(done, is_wanted)

    def run_piece(self) -> bool:
        """Do work that costs up to PIECE_STEPS_MAX. Returns whether all names are matched."""
        steps = self._pending_steps
        for next_steps in self._pieces:
            steps += next_steps
            if steps > PIECE_STEPS_MAX:
                self._pending_steps = next_steps
                return False
        return True

    def _match(self, regexes: list[str], names: list[str]) -> Iterator[int]:
        """Yield the cost of each compilation and of each match, before it is done."""
        for regex in regexes:
            matched = self.matched[regex] = []
            yield compile_steps(regex)
            try:
                pattern = TopicRegex(regex)
            except InvalidRegexError as error:
                logger.error("%r is not a regular expression: %s", regex, error.description)
                continue
            for name in names:
                yield pattern.match_steps(name)
                if pattern.matches(name):
                    matched.append(name)

    def _run_in_thread(self, done: Callable[[], None], is_wanted: Callable[[], bool]) -> None:
        def piece_done(piece: asyncio.Future[bool]) -> None:
            is_complete = piece.result()
            if not is_wanted():
                return
            if is_complete:
                done()
            else:
                self._run_in_thread(done, is_wanted)

        try:
            piece = asyncio.get_running_loop().run_in_executor(None, self.run_piece)
        except RuntimeError:
            # The executor is shut down, because the event loop is about to close.
            return
        piece.add_done_callback(piece_done)
