"""The timers of one group, and the responses that are delayed until a step is done.

A step is a request or the callback of a timer. Responses to other clients are sent after the step, for two reasons. A
connection handles its next request as soon as it has a response, and must not find the group half changed. And no
response may be sent before the records of the step are as durable as configured (flush.messages).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ....protocol.error_codes import ErrorCode
from ...runtime.clock import Clock, Timer
from ...runtime.deferred import Deferred
from ..coordinator_log import FLUSHED

# Ends the first join phase of a group, for whose members nothing waits.
FIRST_DELAY = "first delay"
# Ends the join phase after the rebalance timeout.
JOIN = "join"
# Ends the wait for the members' SyncGroup requests.
SYNC = "sync"


def heartbeat_of(member_id: str) -> str:
    """Return the name of the timer that ends a member's session."""
    return f"heartbeat {member_id}"


class GroupTimers:
    """Timers by name, and delayed responses. Scheduling a name again cancels its earlier timer."""

    __slots__ = ("_clock", "_delayed", "_flushed", "_is_connected", "_timers")

    def __init__(
        self,
        clock: Clock,
        flushed: Callable[[], Deferred[ErrorCode]] = lambda: FLUSHED,
        is_connected: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Create no timer yet.

        flushed: see CoordinatorLog.flushed; the default is for groups that write no records.
        is_connected: whether the client of a member is connected, by member id or ANY_MEMBER (member_clients).
        """
        self._clock = clock
        self._flushed = flushed
        self._is_connected = is_connected
        self._timers: dict[str, Timer] = {}
        # For each response: the function that sends it, and the one that sends an error in its place.
        self._delayed: list[tuple[Callable[[], None], Callable[[ErrorCode], None]]] = []

    def now_ms(self) -> int:
        """Return the clock's time in ms, without its skew."""
        return self._clock.steady_ms()

    def note_removed(self, group_id: str, member_id: str) -> None:
        """Report to an advance of the clock that it has removed a member."""
        self._clock.note_expired("members", f"{member_id} of {group_id}")

    def schedule(self, name: str, delay_ms: int, callback: Callable[[], None], awaited: str | None = None) -> None:
        """Run callback in delay_ms, unless the name is scheduled again or cancelled before.

        awaited: the member for whose request the timer waits, or ANY_MEMBER; None if it waits for none. An advance of
        the clock that keeps members spares it while the member's client is connected.
        """
        self.cancel(name)

        def run() -> None:
            del self._timers[name]
            callback()
            self.finish_step()

        is_spared = None if awaited is None else partial(self._is_connected, awaited)
        self._timers[name] = self._clock.call_later(delay_ms, run, is_spared)

    def is_scheduled(self, name: str) -> bool:
        """Whether there is a timer of that name."""
        return name in self._timers

    def delay_response(self, send: Callable[[], None], fail: Callable[[ErrorCode], None]) -> None:
        """Call send when the step is done, or fail if its records cannot be flushed."""
        self._delayed.append((send, fail))

    def finish_step(self) -> None:
        """Send the delayed responses. Timers do so themselves; the handling of a request must call this."""
        if not self._delayed:
            return
        delayed, self._delayed = self._delayed, []

        def respond(error_code: ErrorCode) -> None:
            for send, fail in delayed:
                if error_code:
                    fail(error_code)
                else:
                    send()

        self._flushed().deliver_to(respond)

    def cancel(self, name: str) -> None:
        """Cancel the timer of that name, if there is one."""
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def cancel_all(self) -> None:
        """Cancel all timers."""
        for name in list(self._timers):
            self.cancel(name)

    def names(self) -> list[str]:
        """Return the names of the scheduled timers, sorted."""
        return sorted(self._timers)
