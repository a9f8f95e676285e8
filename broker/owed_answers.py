"""The answers that a connection owes: from the first that is not there yet on, in the order of their requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from .request_context import Buffers, Deferred

# Requests that are worked on behind one whose answer still waits for its flush. A producer has five in flight; more
# gain nothing, as all of them are flushed together anyway.
OWED_MAX = 64


class _Owed:
    """One request's answer, or the wait for it."""

    __slots__ = ("answer", "pending")

    def __init__(self, pending: Deferred[Buffers] | None, answer: Buffers | None) -> None:
        self.pending = pending
        self.answer = answer


class OwedAnswers:
    """Waits for answers and writes them in order.

    is_full: nothing may be added before some were written. That is so behind an answer that is of another kind than a
    wait for a flush: those are small, and any other may hold as much as a fetch.
    count: how many answers are owed.
    """

    __slots__ = ("_closing", "_goes_on", "_owed", "_write", "count", "is_full")

    def __init__(self, write: Callable[[Buffers], None], goes_on: Callable[[], None]) -> None:
        """write: takes answers that are due; goes_on: called when it was full and is no longer."""
        self._write = write
        self._goes_on = goes_on
        self._closing: Callable[[], None] | None = None
        self._owed: deque[_Owed] = deque()
        self.count = 0
        self.is_full = False

    def add(self, answer: Buffers | Deferred[Buffers], due: Buffers) -> None:
        """Owe the answer, or put it behind those that are due if it is there and none is owed before it."""
        if not isinstance(answer, Deferred):
            self._append(_Owed(None, answer), is_last=True)
        elif (there := answer.response()) is None:
            owed = _Owed(answer, None)
            self._append(owed, is_last=not answer.is_applied)
            answer.deliver_to(lambda later: self._came(owed, later))
        elif self.count:
            self._append(_Owed(None, there), is_last=True)
        else:
            due += there

    def _append(self, owed: _Owed, *, is_last: bool) -> None:
        self._owed.append(owed)
        self.count += 1
        self.is_full = is_last or self.count >= OWED_MAX

    def when_none(self, close: Callable[[], None]) -> None:
        """Take no more, and call close once all that is owed was written."""
        if self.count:
            self.is_full = True
            self._closing = close
        else:
            close()

    def abandon(self) -> None:
        """Nobody waits for the answers any more."""
        abandoned, self._owed = self._owed, deque()
        self.count = 0
        for owed in abandoned:
            if owed.pending is not None:
                owed.pending.abandon()

    def _came(self, owed: _Owed, answer: Buffers) -> None:
        """Write what is due now that this answer is there."""
        owed.pending = None
        owed.answer = answer
        due: Buffers = []
        while self._owed and (first := self._owed[0].answer) is not None:
            due += first
            self._owed.popleft()
            self.count -= 1
        self._write(due)
        if self._closing is not None:
            self.when_none(self._closing)
        elif self.is_full and not self.count:
            self.is_full = False
            self._goes_on()
