"""A response that is not complete yet, and the buffers of a response on the wire.

Rules:
- Whoever completes a response may be in the middle of another client's request: an append wakes the fetches that wait
  for it. So an exception while a waiting response is made is logged here, fails that response, and is not raised.
- A failed response is answered with the error of `encoded_by`; without one, its connection is closed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import Generic, TypeVar, cast

logger = logging.getLogger(__name__)

# One response on the wire, size prefix included, in pieces: they are written as they are and never joined.
Buffers = list[bytes | bytearray | memoryview]

Response = TypeVar("Response")
Encoded = TypeVar("Encoded")


class WaitFailed(Exception):
    """The pending result that a coroutine waits for has failed. The reason is logged."""


class Deferred(Generic[Response]):
    """A response that is completed later: a fetch that waits for data, a member that waits for its group.

    on_abandoned: called when the connection closes before the response is complete.
    is_applied: the request has taken effect, and only the flush of its records is pending. Later requests of the
    connection are handled meanwhile.
    is_in_order: later responses wait for this one, as in Kafka.
    request_id: the id of the request in the journal; 0 without a journal.
    """

    __slots__ = (
        "_change",
        "_deliver",
        "_fail",
        "_has_failed",
        "_response",
        "is_applied",
        "is_done",
        "is_in_order",
        "on_abandoned",
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
        self.request_id = 0
        self.is_done = False
        self._response: Response | None = None
        self._deliver: Callable[[Response], None] | None = None
        self._fail: Callable[[], None] | None = None
        self._has_failed = False
        self._change: Callable[[Response], Response] | None = None

    def complete(self, response: Response) -> None:
        """Complete the response. Later calls have no effect."""
        if self.is_done:
            return
        if self._change is not None:
            try:
                response = self._change(response)
            except Exception:
                logger.exception("the response to a waiting request cannot be changed")
                self.fail()
                return
        self.is_done = True
        if self._deliver is not None:
            self._deliver(response)
        else:
            self._response = response

    def complete_with(self, make_response: Callable[[], Response]) -> None:
        """Complete the response with the result of make_response, or fail it if that raises."""
        if self.is_done:
            return
        try:
            response = make_response()
        except Exception:
            logger.exception("a waiting request failed")
            self.fail()
        else:
            self.complete(response)

    def fail(self) -> None:
        """End the wait without a response, because of an exception that was logged. Later calls have no effect."""
        if self.is_done:
            return
        self.is_done = self._has_failed = True
        if self._fail is not None:
            self._fail()

    def __await__(self) -> Generator[Deferred[object], object, Response]:
        """Wait for the response in a coroutine that long_work runs. Raises WaitFailed if it has failed."""
        if self._response is not None:
            return self._response
        return cast(Response, (yield cast("Deferred[object]", self)))

    def response(self) -> Response | None:
        """Return the response if it is complete, else None."""
        return self._response

    def deliver_to(self, deliver: Callable[[Response], None], fail: Callable[[], None] | None = None) -> None:
        """Call deliver with the response when it is complete, or fail when it has failed; at once if it already has."""
        if self._response is not None:
            deliver(self._response)
        elif self._has_failed and fail is not None:
            fail()
        else:
            self._deliver = deliver
            self._fail = fail

    def abandon(self) -> None:
        """Give the response up, because its connection has closed."""
        if self.is_done:
            return
        self.is_done = True
        if self.on_abandoned is not None:
            self.on_abandoned()

    def changed_by(self, change: Callable[[Response], Response]) -> None:
        """Have the response changed when it is complete. It must not have been delivered yet."""
        if self._response is not None:
            self._response = change(self._response)
        else:
            self._change = change

    def encoded_by(
        self, encode: Callable[[Response], Encoded], make_error: Callable[[], Encoded] | None = None
    ) -> Deferred[Encoded]:
        """Return a pending response that completes with encode(response).

        make_error: creates the response if this one fails, or if encode raises. Without it, or if it raises too, the
        result fails.
        """
        encoded: Deferred[Encoded] = Deferred(self.abandon)

        def fail() -> None:
            if make_error is None:
                encoded.fail()
            else:
                encoded.complete_with(make_error)

        def deliver(response: Response) -> None:
            try:
                result = encode(response)
            except Exception:
                logger.exception("the response to a waiting request cannot be encoded")
                fail()
            else:
                encoded.complete(result)

        self.deliver_to(deliver, fail)
        return encoded


def changed(
    response: Response | Deferred[Response], change: Callable[[Response], Response]
) -> Response | Deferred[Response]:
    """Return the response after the change, which is made when it is complete. It must not have been delivered yet."""
    if isinstance(response, Deferred):
        pending = cast("Deferred[Response]", response)
        pending.changed_by(change)
        return pending
    return change(response)
