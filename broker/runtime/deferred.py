"""A response that is not complete yet, and the buffers of a response on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

# One response on the wire, size prefix included, in pieces: they are written as they are and never joined.
Buffers = list[bytes | bytearray | memoryview]

Response = TypeVar("Response")
Encoded = TypeVar("Encoded")


class Deferred(Generic[Response]):
    """A response that is completed later: a fetch that waits for data, a member that waits for its group.

    on_abandoned: called when the connection closes before the response is complete.
    is_applied: the request has taken effect, and only the flush of its records is pending. Later requests of the
    connection are handled meanwhile.
    is_in_order: later responses wait for this one, as in Kafka.
    request_id: the id of the request in the journal; 0 without a journal.
    """

    __slots__ = ("_deliver", "_response", "is_applied", "is_done", "is_in_order", "on_abandoned", "request_id")

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

    def complete(self, response: Response) -> None:
        """Complete the response. Later calls have no effect."""
        if self.is_done:
            return
        self.is_done = True
        if self._deliver is not None:
            self._deliver(response)
        else:
            self._response = response

    def response(self) -> Response | None:
        """Return the response if it is complete, else None."""
        return self._response

    def deliver_to(self, deliver: Callable[[Response], None]) -> None:
        """Call deliver with the response when it is complete, at once if it already is."""
        if self._response is not None:
            deliver(self._response)
        else:
            self._deliver = deliver

    def abandon(self) -> None:
        """Give the response up, because its connection has closed."""
        if self.is_done:
            return
        self.is_done = True
        if self.on_abandoned is not None:
            self.on_abandoned()

    def encoded_by(self, encode: Callable[[Response], Encoded]) -> Deferred[Encoded]:
        """Return a pending response that completes with encode(response)."""
        encoded: Deferred[Encoded] = Deferred(self.abandon)
        self.deliver_to(lambda response: encoded.complete(encode(response)))
        return encoded
