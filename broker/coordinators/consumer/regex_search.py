"""Matches names with regular expressions in pieces, so that a costly expression does not stop the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator

from .topic_regex import InvalidRegexError, TopicRegex, compile_steps

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
