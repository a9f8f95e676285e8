"""The responses that a connection has pending, written in the order of their requests.

Rules:
- A response is written when it and all responses before it have arrived. Until then it waits in the queue.
- While a request is still being handled, no later request of the connection is read. Only a request that is applied
  (`Deferred.is_applied`) lets later ones go on; it waits for its flush or is held by a fault.
- A response of a hold with `release_order` (`Deferred.is_in_order` is False) has no place in the order: it is written
  when it arrives, and later responses do not wait for it.
- The queue is bounded by PENDING_MAX responses and by PENDING_BYTES_MAX bytes; a full queue stops the connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..requests.fault_ports import Ending, Outcome, ResponsePlan
from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred

# Requests that are applied while an earlier response is pending. A producer has five in flight, and one flush serves
# all of them, so more would gain nothing.
PENDING_MAX = 64
# Bytes of responses that wait for an earlier one before the connection stops reading requests.
PENDING_BYTES_MAX = 1024 * 1024


class ResponseSink(Protocol):
    """The connection, as its response queue uses it."""

    def write(self, responses: Buffers) -> None:
        """Write responses."""
        ...

    def write_slowly(self, plan: ResponsePlan, written: Callable[[], None]) -> None:
        """Write the plan's bytes in its pieces, and call written after the last one."""
        ...

    def end(self, ending: Ending) -> None:
        """Close or reset the connection after the bytes so far."""
        ...

    def go_on(self) -> None:
        """Handle the next requests: the queue has room again."""
        ...

    def answered(self, request_id: int) -> None:
        """Report that the whole response to a request was written."""
        ...

    def unanswered(self, request_id: int) -> None:
        """Report that the response to a request is never written, or not as a whole."""
        ...


class _ClosedSink:
    """Stands for a closed connection, so that the queue and the connection do not keep each other in memory."""

    def write(self, responses: Buffers) -> None: ...

    def write_slowly(self, plan: ResponsePlan, written: Callable[[], None]) -> None: ...

    def end(self, ending: Ending) -> None: ...

    def go_on(self) -> None: ...

    def answered(self, request_id: int) -> None: ...

    def unanswered(self, request_id: int) -> None: ...


_CLOSED_SINK = _ClosedSink()


class _PendingResponse:
    """The response to one request, or the wait for it."""

    __slots__ = ("deferred", "request_id", "response", "size")

    def __init__(self, request_id: int) -> None:
        self.request_id = request_id
        self.deferred: Deferred[Buffers] | Deferred[ResponsePlan] | None = None
        self.response: Buffers | ResponsePlan | None = None
        # Bytes of the response, while it waits for an earlier one.
        self.size = 0

    def take_id(self) -> None:
        """Take the id that the request has got while it was pending."""
        if self.deferred is not None:
            self.request_id = self.deferred.find_request_id() or self.request_id
            self.deferred = None


class ResponseQueue:
    """Collects the responses of one connection and writes them in order.

    is_full: no response may be added, and no request read.
    count: the number of pending responses.
    """

    __slots__ = (
        "_bytes",
        "_handled_now",
        "_is_muted",
        "_is_writing_slowly",
        "_on_empty",
        "_queue",
        "_sink",
        "_unordered",
        "count",
        "is_full",
    )

    def __init__(self, sink: ResponseSink) -> None:
        """Create an empty queue that writes to sink."""
        self._sink: ResponseSink = sink
        self._on_empty: Callable[[], None] | None = None
        self._queue: deque[_PendingResponse] = deque()
        # The newest request, while it is being handled and later ones must wait for it.
        self._handled_now: _PendingResponse | None = None
        self._unordered: set[_PendingResponse] = set()
        self._is_writing_slowly = False
        self._is_muted = False
        self._bytes = 0
        self.count = 0
        self.is_full = False

    def add(self, response: Outcome, request_id: int) -> None:
        """Add a response. It is written at once if it has arrived and none is pending before it."""
        if response is None:
            return
        pending = _PendingResponse(request_id)
        if isinstance(response, ResponsePlan) and response.is_at_once:
            self._sink.unanswered(request_id)
            self._sink.end(response.ending)
            return
        if not isinstance(response, Deferred):
            self._set_response(pending, response)
        elif not response.is_in_order:
            self._unordered.add(pending)
            pending.deferred = response
            response.deliver_to(lambda arrived: self._unordered_arrived(pending, arrived), self._failed)
            return
        elif (completed := response.response()) is not None:
            self.add(completed, request_id)
            return
        else:
            pending.deferred = response
            if not response.is_applied:
                self._handled_now = pending
                response.on_applied = lambda: self._applied(pending, response)
            response.deliver_to(lambda arrived: self._arrived(pending, arrived), self._failed)
        self._queue.append(pending)
        self._write_arrived()

    def when_empty(self, callback: Callable[[], None]) -> None:
        """Accept no further response, and call callback when all pending ones are written."""
        if self.count:
            self._on_empty = callback
            self._update()
        else:
            callback()

    def mute(self) -> None:
        """Be full until unmute. Pending responses are written meanwhile."""
        self._is_muted = True
        self._update()

    def unmute(self) -> None:
        """Have the next requests handled, unless the queue is full without being muted."""
        self._is_muted = False
        self._update()
        if not self.is_full:
            self._sink.go_on()

    def abandon(self) -> None:
        """Drop all pending responses and the sink, because the connection is closed."""
        abandoned = [*self._queue, *self._unordered]
        self._queue.clear()
        self._unordered.clear()
        self._on_empty = self._handled_now = None
        self.count = self._bytes = 0
        for pending in abandoned:
            deferred = pending.deferred
            pending.take_id()
            self._sink.unanswered(pending.request_id)
            if deferred is not None:
                deferred.abandon()
        self._sink = _CLOSED_SINK

    def _applied(self, pending: _PendingResponse, response: Deferred[Buffers] | Deferred[ResponsePlan]) -> None:
        """Have later requests handled, because the newest one is applied and waits for nothing else."""
        if self._handled_now is not pending:
            return
        was_full = self.is_full
        self._handled_now = None
        if not response.is_in_order:
            self._queue.remove(pending)
            self._unordered.add(pending)
        self._write_and_go_on(was_full=was_full)

    def _arrived(self, pending: _PendingResponse, response: Buffers | ResponsePlan) -> None:
        if pending in self._unordered:
            self._unordered_arrived(pending, response)
            return
        pending.take_id()
        was_full = self.is_full
        if self._handled_now is pending:
            self._handled_now = None
        self._set_response(pending, response)
        self._write_and_go_on(was_full=was_full)

    def _failed(self) -> None:
        """Close the connection, as for a request whose handling raises."""
        self._sink.end(Ending.RESET)

    def _set_response(self, pending: _PendingResponse, response: Buffers | ResponsePlan) -> None:
        pending.response = response
        pending.size = sum(map(len, response.buffers if isinstance(response, ResponsePlan) else response))
        self._bytes += pending.size

    def _unordered_arrived(self, pending: _PendingResponse, response: Buffers | ResponsePlan) -> None:
        pending.take_id()
        self._unordered.discard(pending)
        pending.response = response
        if self._is_writing_slowly:
            # Its bytes may not come between those of the response that is being written.
            self._queue.insert(1, pending)
            self._update()
        else:
            self._write_one(pending, [])

    def _write_and_go_on(self, *, was_full: bool) -> None:
        self._write_arrived()
        if self._on_empty is not None:
            if not self.count:
                self._on_empty()
        elif was_full and not self.is_full:
            self._sink.go_on()

    def _write_arrived(self) -> None:
        """Write the responses at the front of the queue that have arrived."""
        buffers: Buffers = []
        while self._queue and self._queue[0].response is not None and not self._is_writing_slowly:
            first = self._queue.popleft()
            self._bytes -= first.size
            first.size = 0
            self._write_one(first, buffers)
        self._sink.write(buffers)
        self._update()

    def _write_one(self, pending: _PendingResponse, buffers: Buffers) -> None:
        """Add a plain response to buffers. Before a ResponsePlan, buffers are written; then the plan is carried out."""
        response = pending.response
        if not isinstance(response, ResponsePlan):
            assert response is not None, "the response has arrived"
            buffers += response
            self._sink.answered(pending.request_id)
            return
        self._sink.write(buffers)
        buffers.clear()
        if response.piece_bytes:
            self._is_writing_slowly = True
            self._queue.appendleft(pending)
            self._sink.write_slowly(response, lambda: self._written_slowly(pending))
            return
        self._sink.write(response.buffers)
        self._end_plan(pending, response)

    def _written_slowly(self, pending: _PendingResponse) -> None:
        if self._queue and self._queue[0] is pending:
            self._is_writing_slowly = False
            self._queue.popleft()
            assert isinstance(pending.response, ResponsePlan), "only a plan is written slowly"
            self._end_plan(pending, pending.response)
            self._write_and_go_on(was_full=self.is_full)

    def _end_plan(self, pending: _PendingResponse, plan: ResponsePlan) -> None:
        if plan.is_whole:
            self._sink.answered(pending.request_id)
        else:
            self._sink.unanswered(pending.request_id)
        if plan.ending is not Ending.NOTHING:
            self._sink.end(plan.ending)

    def _update(self) -> None:
        self.count = len(self._queue)
        self.is_full = (
            self._handled_now is not None
            or self._is_muted
            or self._on_empty is not None
            or self.count >= PENDING_MAX
            or self._bytes >= PENDING_BYTES_MAX
        )
