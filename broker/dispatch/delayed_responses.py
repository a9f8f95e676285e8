"""A floor for the time of each response (fauxka.response.delay.ms), for clients that need the latency of a network.

Rules:
- A response is sent no earlier than delay_ms after its request. One that took longer is sent at once.
- The request takes effect at once, and so do those that the client has pipelined behind it. Each response has its own
  floor, and the order of the responses stays.
- The time is real, not that of the cluster's clock: moving the clock does not move the network.
A node without a delay has none of these handlers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..runtime.deferred import Buffers, Deferred

if TYPE_CHECKING:
    from ..requests.request_context import RequestContext, RequestHandler


class DelayingHandler:
    """A RequestHandler whose responses are sent no earlier than a time after their requests."""

    __slots__ = ("_delay_seconds", "_handler")

    def __init__(self, handler: RequestHandler, delay_ms: int) -> None:
        """handler: of the API."""
        self._handler = handler
        self._delay_seconds = delay_ms / 1000

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Handle the request now, and return its response, which is pending. Raises FrameError."""
        send_at = asyncio.get_running_loop().time() + self._delay_seconds
        response = self._handler.handle(context, frame, position, end)
        if response is None:
            return None
        delayed = _DelayedResponse(send_at, response if isinstance(response, Deferred) else None)
        if not isinstance(response, Deferred):
            delayed.send_later(response)
        return delayed.result


class _DelayedResponse:
    """A response that waits for its time, and before that for the end of its request."""

    __slots__ = ("_pending", "_send_at", "_timer", "result")

    def __init__(self, send_at: float, pending: Deferred[Buffers] | None) -> None:
        """send_at: of the event loop's time. pending: the response, if the request is not handled yet."""
        self._send_at = send_at
        self._pending = pending
        self._timer: asyncio.TimerHandle | None = None
        self.result: Deferred[Buffers] = Deferred(
            self._abandon,
            is_applied=pending is None or pending.is_applied,
            is_in_order=pending is None or pending.is_in_order,
        )
        if pending is not None:
            pending.deliver_to(self.send_later, self.result.fail)

    def send_later(self, response: Buffers) -> None:
        """Complete the result at its time, or now if that is over."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._send_at:
            self.result.complete(response)
        else:
            self._timer = loop.call_at(self._send_at, self.result.complete, response)

    def _abandon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        elif self._pending is not None:
            self._pending.abandon()
