"""The clock of a broker: read it, stop it, and advance it.

Made of admin/methods/clock.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from ...faults.strict_json import convert
from ..operations import clock_operations
from ..operations.clock_operations import ClockChange, Mode
from .base import AsyncMethods


class AsyncClock(AsyncMethods):
    """The clock of all timeouts and expiries of the broker."""

    @property
    async def now_ms(self) -> int:
        """The current time in ms since 1970-01-01T00:00:00Z."""
        clock = await self._perform(clock_operations.get_clock)
        return clock.now_ms

    @property
    async def mode(self) -> Mode:
        """Whether the clock runs, or moves only when it is advanced."""
        clock = await self._perform(clock_operations.get_clock)
        return clock.mode

    async def set_mode(self, mode: Mode) -> None:
        """Stop the clock ("manual"), or let it run from its current time ("real")."""
        await self._perform(clock_operations.move_clock, body=convert({"mode": mode}, ClockChange))

    async def advance(self, by_ms: int) -> int:
        """Advance the clock, in either mode; run the expired timers in order, then return the time.

        A node whose restart was due is up.
        """
        moved = await self._perform(clock_operations.move_clock, body=convert({"advance_ms": by_ms}, ClockChange))
        return moved.now_ms
