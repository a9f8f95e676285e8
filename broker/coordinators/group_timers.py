"""The named timers of one group, and what is put off until a step is done."""

from __future__ import annotations

from collections.abc import Callable

from ..clock import Clock, Timer

# Ends the join phase: the rebalance timeout, or the delay of a group's first rebalance.
JOIN = "join"
# Ends the wait for the members' SyncGroup requests.
SYNC = "sync"


def heartbeat_of(member_id: str) -> str:
    """Return the name of the timer that ends a member's session."""
    return f"heartbeat {member_id}"


class GroupTimers:
    """Timers by name: to schedule a name again takes its earlier timer back.

    A step is a request or a timer. Answers to other clients are put off until it is done: a connection that is answered
    goes on with its next request at once, and that must not find the group half changed.
    """

    __slots__ = ("_clock", "_put_off", "_timers")

    def __init__(self, clock: Clock) -> None:
        """Start without timers."""
        self._clock = clock
        self._timers: dict[str, Timer] = {}
        self._put_off: list[Callable[[], None]] = []

    def now_ms(self) -> int:
        """Return the clock's time in ms."""
        return self._clock.now_ms()

    def schedule(self, name: str, delay_ms: int, callback: Callable[[], None]) -> None:
        """Run callback in delay_ms, unless the name is scheduled again or cancelled before."""
        self.cancel(name)

        def run() -> None:
            del self._timers[name]
            callback()
            self.finish_step()

        self._timers[name] = self._clock.call_later(delay_ms, run)

    def put_off(self, callback: Callable[[], None]) -> None:
        """Run callback when the step is done."""
        self._put_off.append(callback)

    def finish_step(self) -> None:
        """Do what was put off; a timer does so by itself, a request is to call this."""
        while self._put_off:
            self._put_off.pop(0)()

    def cancel(self, name: str) -> None:
        """Take the timer of that name back, if there is one."""
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def cancel_all(self) -> None:
        """Take all timers back."""
        for name in list(self._timers):
            self.cancel(name)

    def names(self) -> list[str]:
        """Return the names that are scheduled."""
        return sorted(self._timers)
