"""A response that is not complete yet, and the buffers of a response on the wire.

Rules:
- Whoever completes a response may be in the middle of another client's request: an append wakes the fetches that wait
  for it. So an exception while a waiting response is made is logged here, fails that response, and is not raised.
- A failed response raises WaitFailed in the coroutine that awaits it. Where none does, the connection is closed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from enum import Enum
from typing import Generic, Literal, Self, TypeVar, cast

logger = logging.getLogger(__name__)

Response = TypeVar("Response")


class _State(Enum):
    PENDING = "pending"


_PENDING: Literal[_State.PENDING] = _State.PENDING


class WaitFailed(Exception):
    """The pending result that a coroutine waits for has failed. The reason is logged."""


class Deferred(Generic[Response]):
    """A response that is completed later: a fetch that waits for data, a member that waits for its group.

    on_abandoned: called when the connection closes before the response is complete.
    is_applied: the request has taken effect, and only the flush of its records is pending. Later requests of the
    connection are handled meanwhile.
    is_in_order: later responses wait for this one, as in Kafka.
    on_applied: called when is_applied becomes true later.
    request_id: the id of the request in the journal; 0 without a journal. inner: the response that this one waits for.
    """

    __slots__ = (
        "_deliver",
        "_fail",
        "_has_failed",
        "_response",
        "inner",
        "is_applied",
        "is_done",
        "is_in_order",
        "on_abandoned",
        "on_applied",
        "request_id",
    )

    def __init__(
        self,
        on_abandoned: Callable[[], None] | None = None,
        *,
        is_applied: bool = False,
        is_in_order: bool = True,
    ) -> None:
        """Create a pending response."""
        self.on_abandoned = on_abandoned
        self.is_applied = is_applied
        self.is_in_order = is_in_order
        self.on_applied: Callable[[], None] | None = None
        self.request_id = 0
        self.inner: Deferred[object] | None = None
        self.is_done = False
        self._response: Response | Literal[_State.PENDING] = _PENDING
        self._deliver: Callable[[Response], None] | None = None
        self._fail: Callable[[], None] | None = None
        self._has_failed = False

    @classmethod
    def completed(cls, response: Response) -> Self:
        """Return a response that is complete."""
        deferred = cls(is_applied=True)
        deferred.complete(response)
        return deferred

    @classmethod
    def following(cls, other: Deferred[object]) -> Self:
        """Return a pending response that its maker completes after the other one.

        It is abandoned with the other one, and lets later requests of the connection pass as soon as that does.
        """
        follower = cls(other.abandon, is_applied=other.is_applied, is_in_order=other.is_in_order)
        follower.inner = other
        other.on_applied = lambda: follower.passes(other)
        return follower

    def complete(self, response: Response) -> None:
        """Complete the response. Later calls have no effect."""
        if self.is_done:
            return
        self.is_done = True
        if self._deliver is not None:
            self._deliver(response)
        else:
            self._response = response
        self._forget()

    def fail(self) -> None:
        """End the wait without a response, because of an exception that was logged. Later calls have no effect."""
        if self.is_done:
            return
        self.is_done = self._has_failed = True
        if self._fail is not None:
            self._fail()
        self._forget()

    def __await__(self) -> Generator[Deferred[object], object, Response]:
        """Wait for the response in a coroutine that long_work runs. Raises WaitFailed if it has failed."""
        if self._response is not _PENDING:
            return self._response
        return cast(Response, (yield cast("Deferred[object]", self)))

    def response(self) -> Response | None:
        """Return the response if it is complete, else None."""
        return None if self._response is _PENDING else self._response

    def deliver_to(self, deliver: Callable[[Response], None], fail: Callable[[], None] | None = None) -> None:
        """Call deliver with the response when it is complete, or fail when it has failed; at once if it already has."""
        if self._response is not _PENDING:
            deliver(self._response)
        elif self._has_failed and fail is not None:
            fail()
        else:
            self._deliver = deliver
            self._fail = fail

    def take_request_id(self, request_id: int) -> None:
        """Set the id of the request, here and in the response that this one waits for."""
        self.request_id = request_id
        if self.inner is not None:
            self.inner.take_request_id(request_id)

    def find_request_id(self) -> int:
        """Return the id of the request, which the response that this one waits for may have."""
        return self.request_id or (0 if self.inner is None else self.inner.find_request_id())

    def passes(self, inner: Deferred[object]) -> None:
        """Let later requests of the connection be handled, because the request now waits for inner only."""
        self.is_applied = True
        self.is_in_order = inner.is_in_order
        if self.on_applied is not None:
            self.on_applied()

    def abandon(self) -> None:
        """Give the response up, because its connection has closed."""
        if self.is_done:
            return
        self.is_done = True
        if self.on_abandoned is not None:
            self.on_abandoned()
        self._forget()

    def _forget(self) -> None:
        """Drop what refers back to this response: the two would keep each other in memory."""
        self._deliver = self._fail = self.on_abandoned = self.on_applied = self.inner = None
