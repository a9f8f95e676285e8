"""The named timers of one group, and what is put off until a step is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....protocol.error_codes import ErrorCode
from ...runtime.clock import Clock, Timer

# Ends the join phase: the rebalance timeout, or the delay of a group's first rebalance.
JOIN = "join"
# Ends the wait for the members' SyncGroup requests.
SYNC = "sync"


def heartbeat_of(member_id: str) -> str:
    """Return the name of the timer that ends a member's session."""
    return f"heartbeat {member_id}"


class PutOff(NamedTuple):
    """An answer that waits for the end of a step; refuse is called in its place where the step could not be kept."""

    send: Callable[[], None]
    refuse: Callable[[ErrorCode], None]


# Calls the first when what was written since it was last asked is as safe as asked for, at once where it is; or the
# second with what the client is told where it cannot be made so.
Settle = Callable[[Callable[[], None], Callable[[ErrorCode], None]], None]


def settle_at_once(done: Callable[[], None], refused: Callable[[ErrorCode], None]) -> None:
    """Settle what is not written anywhere."""
    done()


class GroupTimers:
    """Timers by name: to schedule a name again takes its earlier timer back.

    A step is a request or a timer. Answers to other clients are put off until it is done: a connection that is answered
    goes on with its next request at once, and that must not find the group half changed. They also wait for what the
    step has written.
    """

    __slots__ = ("_clock", "_put_off", "_settle", "_timers")

    def __init__(self, clock: Clock, settle: Settle = settle_at_once) -> None:
        """Start without timers."""
        self._clock = clock
        self._settle = settle
        self._timers: dict[str, Timer] = {}
        self._put_off: list[PutOff] = []

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

    def put_off(self, send: Callable[[], None], refuse: Callable[[ErrorCode], None]) -> None:
        """Send an answer when the step is done; or refuse where what it has written could not be made safe."""
        self._put_off.append(PutOff(send, refuse))

    def finish_step(self) -> None:
        """Send what was put off; a timer does so by itself, a request is to call this."""
        if not self._put_off:
            return
        put_off, self._put_off = self._put_off, []

        def send() -> None:
            for answer in put_off:
                answer.send()

        def refuse(error_code: ErrorCode) -> None:
            for answer in put_off:
                answer.refuse(error_code)

        self._settle(send, refuse)

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
