"""The answers that a connection owes: from the first that is not there yet on, in the order of their requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..requests.fault_ports import Ending, ResponsePlan
from ..runtime.deferred import Buffers, Deferred

# Requests that are worked on behind one whose answer is waited for: for its flush, or because a fault keeps it. A
# producer has five in flight; more gain nothing, as all of them are flushed together anyway.
OWED_MAX = 64
# Bytes of answers that may stand behind one that is not there, before the next request is looked at.
OWED_BYTES_MAX = 1024 * 1024


class ResponseSink(Protocol):
    """The connection, as the answers that it owes see it."""

    def write(self, answers: Buffers) -> None:
        """Write answers that are due."""
        ...

    def write_slowly(self, plan: ResponsePlan, written: Callable[[], None]) -> None:
        """Write the plan's bytes in its pieces; call written behind the last."""
        ...

    def end(self, ending: Ending) -> None:
        """Close or reset, behind what was written."""
        ...

    def go_on(self) -> None:
        """Look at the next requests: no answer keeps them from it any longer."""
        ...

    def answered(self, request_id: int) -> None:
        """The answer to the request was written as a whole."""
        ...

    def unanswered(self, request_id: int) -> None:
        """The answer to the request will not be written, or not as a whole."""
        ...


class _PendingResponse:
    """One request's answer, or the wait for it."""

    __slots__ = ("answer", "pending", "request_id", "size")

    def __init__(self, request_id: int) -> None:
        self.request_id = request_id
        self.pending: Deferred[Buffers] | Deferred[ResponsePlan] | None = None
        self.answer: Buffers | ResponsePlan | None = None
        # The bytes of the answer, while it is counted among those that stand behind one that is not there.
        self.size = 0


class ResponseQueue:
    """Waits for answers and writes them in order.

    is_full: nothing may be added before some were written, or before one came whose request is still worked on.
    count: how many answers are owed.
    """

    __slots__ = (
        "_bytes",
        "_closing",
        "_is_writing_slowly",
        "_owed",
        "_unordered",
        "_worked_on",
        "_writer",
        "count",
        "is_full",
    )

    def __init__(self, writer: ResponseSink) -> None:
        """Owe nothing."""
        self._writer = writer
        self._closing: Callable[[], None] | None = None
        self._owed: deque[_PendingResponse] = deque()
        # The newest request, where those behind it have to wait until it has been worked on.
        self._worked_on: _PendingResponse | None = None
        # Answers that do not wait for their turn, and nobody for them.
        self._unordered: set[_PendingResponse] = set()
        self._is_writing_slowly = False
        self._bytes = 0
        self.count = 0
        self.is_full = False

    def add(self, answer: Buffers | Deferred[Buffers] | ResponsePlan | Deferred[ResponsePlan], request_id: int) -> None:
        """Owe the answer, or write it if it is there and none is owed before it."""
        owed = _PendingResponse(request_id)
        if isinstance(answer, ResponsePlan) and answer.is_at_once:
            self._writer.unanswered(request_id)
            self._writer.end(answer.ending)
            return
        if not isinstance(answer, Deferred):
            self._there(owed, answer)
        elif not answer.is_in_order:
            self._unordered.add(owed)
            owed.pending = answer
            answer.deliver_to(lambda later: self._came_unordered(owed, later))
            return
        elif (there := answer.response()) is not None:
            self._there(owed, there)
        else:
            owed.pending = answer
            if not answer.is_applied:
                self._worked_on = owed
            answer.deliver_to(lambda later: self._came(owed, later))
        self._owed.append(owed)
        self._write_due()

    def when_none(self, close: Callable[[], None]) -> None:
        """Take no more, and call close once all that is owed was written."""
        if self.count:
            self._closing = close
            self._update()
        else:
            close()

    def abandon(self) -> None:
        """Nobody waits for the answers any more."""
        abandoned = [*self._owed, *self._unordered]
        self._owed.clear()
        self._unordered.clear()
        self._closing = self._worked_on = None
        self.count = self._bytes = 0
        for owed in abandoned:
            self._writer.unanswered(owed.request_id)
            if owed.pending is not None:
                owed.pending.abandon()

    def _came(self, owed: _PendingResponse, answer: Buffers | ResponsePlan) -> None:
        """Write what is due now that this answer is there."""
        owed.pending = None
        self._there(owed, answer)
        if self._worked_on is owed:
            self._worked_on = None
        self._write_and_go_on()

    def _there(self, owed: _PendingResponse, answer: Buffers | ResponsePlan) -> None:
        owed.answer = answer
        owed.size = sum(map(len, answer.buffers if isinstance(answer, ResponsePlan) else answer))
        self._bytes += owed.size

    def _came_unordered(self, owed: _PendingResponse, answer: Buffers | ResponsePlan) -> None:
        self._unordered.discard(owed)
        owed.answer = answer
        # Behind an answer that goes out slowly it would come within its bytes.
        if self._is_writing_slowly:
            self._owed.insert(1, owed)
            self._update()
        else:
            self._write_one(owed, [])

    def _write_and_go_on(self) -> None:
        was_full = self.is_full
        self._write_due()
        if self._closing is not None:
            if not self.count:
                self._closing()
        elif was_full and not self.is_full:
            self._writer.go_on()

    def _write_due(self) -> None:
        """Write the answers that are there from the first on."""
        due: Buffers = []
        while self._owed and self._owed[0].answer is not None and not self._is_writing_slowly:
            first = self._owed.popleft()
            self._bytes -= first.size
            first.size = 0
            self._write_one(first, due)
        self._writer.write(due)
        self._update()

    def _write_one(self, owed: _PendingResponse, due: Buffers) -> None:
        """Put the answer behind those that are due, or write those and do what its plan says."""
        answer = owed.answer
        if not isinstance(answer, ResponsePlan):
            assert answer is not None, "an answer that is not there"
            due += answer
            self._writer.answered(owed.request_id)
            return
        self._writer.write(due)
        due.clear()
        if answer.piece_bytes:
            self._is_writing_slowly = True
            self._owed.appendleft(owed)
            self._writer.write_slowly(answer, lambda: self._was_written_slowly(owed))
            return
        self._writer.write(answer.buffers)
        self._ended(owed, answer)

    def _was_written_slowly(self, owed: _PendingResponse) -> None:
        if self._owed and self._owed[0] is owed:
            self._is_writing_slowly = False
            self._owed.popleft()
            assert isinstance(owed.answer, ResponsePlan), "only a plan is written slowly"
            self._ended(owed, owed.answer)
            self._write_and_go_on()

    def _ended(self, owed: _PendingResponse, plan: ResponsePlan) -> None:
        if plan.is_whole:
            self._writer.answered(owed.request_id)
        else:
            self._writer.unanswered(owed.request_id)
        if plan.ending is not Ending.NOTHING:
            self._writer.end(plan.ending)

    def _update(self) -> None:
        self.count = len(self._owed)
        self.is_full = (
            self._worked_on is not None
            or self._closing is not None
            or self.count >= OWED_MAX
            or self._bytes >= OWED_BYTES_MAX
        )
