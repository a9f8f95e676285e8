"""A floor for the time of each response (fauxka.response.delay.ms), for clients that need the latency of a network.

Rules:
- A response is sent no earlier than delay_ms after its request. One that took longer is sent at once.
- The request takes effect at once, and so do those that the client has pipelined behind it. Each response has its own
  floor, and the order of the responses stays.
- The time is real, not that of the cluster's clock: moving the clock does not move the network.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred

if TYPE_CHECKING:
    from ..requests.fault_ports import Outcome, ResponsePlan


class ResponseDelay:
    """Delays responses."""

    __slots__ = ("_seconds",)

    def __init__(self, delay_ms: int) -> None:
        """delay_ms: the least time between a request and its response."""
        self._seconds = delay_ms / 1000

    def delay(self, outcome: Outcome) -> Outcome:
        """Return the result of a request that has just been handled, pending until its time."""
        if outcome is None:
            return None
        send_at = asyncio.get_running_loop().time() + self._seconds
        delayed = _DelayedResponse(send_at, outcome if isinstance(outcome, Deferred) else None)
        if not isinstance(outcome, Deferred):
            delayed.send_later(outcome)
        return cast("Outcome", delayed.result)


class _DelayedResponse:
    """A response that waits for its time, and before that for the end of its request."""

    __slots__ = ("_pending", "_send_at", "_timer", "result")

    def __init__(self, send_at: float, pending: Deferred[Buffers] | Deferred[ResponsePlan] | None) -> None:
        """send_at: of the event loop's time. pending: the response, if the request is not handled yet."""
        self._send_at = send_at
        self._pending = pending
        self._timer: asyncio.TimerHandle | None = None
        self.result: Deferred[Buffers | ResponsePlan]
        if pending is None:
            self.result = Deferred(is_applied=True)
        else:
            self.result = Deferred.following(cast("Deferred[object]", pending))
            pending.deliver_to(self.send_later, self.result.fail)
        self.result.on_abandoned = self._abandon

    def send_later(self, response: Buffers | ResponsePlan) -> None:
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
