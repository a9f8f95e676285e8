"""The clock of a broker: read it, stop it, advance it, and set it apart from those of the clients."""

from __future__ import annotations

from ...faults.strict_json import convert
from ..operations import clock_operations
from ..operations.clock_operations import ClockChange, Members, Mode, MovedClock
from .base import Methods


class Clock(Methods):
    """The clock of all timeouts and expiries of the broker."""

    @property
    def now_ms(self) -> int:
        """The current time in ms since 1970-01-01T00:00:00Z."""
        clock = self._perform(clock_operations.get_clock)
        return clock.now_ms

    @property
    def mode(self) -> Mode:
        """Whether the clock runs, or moves only when it is advanced."""
        clock = self._perform(clock_operations.get_clock)
        return clock.mode

    @property
    def skew_ms(self) -> int:
        """How far the clock is ahead of the clients' clocks beside all advances; negative for behind."""
        clock = self._perform(clock_operations.get_clock)
        return clock.skew_ms

    def set_mode(self, mode: Mode) -> None:
        """Stop the clock ("manual"), or let it run from its current time ("real")."""
        self._perform(clock_operations.move_clock, body=convert({"mode": mode}, ClockChange))

    def advance(self, by_ms: int, *, members: Members = "keep") -> MovedClock:
        """Advance the clock, in either mode; run the expired timers in order, then return the time and what ended.

        members: "keep" keeps the members of groups whose client is connected: their sessions begin anew when the
        advance is over. "expire" ends them, as if their clients had sent no heartbeat meanwhile.
        A node whose restart was due is up.
        """
        change = convert({"advance_ms": by_ms, "members": members}, ClockChange)
        return self._perform(clock_operations.move_clock, body=change)

    def skew(self, ms: int) -> None:
        """Set the clock ms ahead of the clients' clocks, or behind with a negative number; 0 ends that.

        It changes the date, and no timeout: the timestamps of LogAppendTime, what message.timestamp.before.max.ms and
        message.timestamp.after.max.ms accept, the age of records, and the life time of tokens.
        """
        self._perform(clock_operations.move_clock, body=convert({"skew_ms": ms}, ClockChange))
