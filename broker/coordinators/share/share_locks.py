"""The timers that end the locks of acquired records of one share partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...runtime.clock import Clock, Timer


class ShareLocks:
    """Locks by number. A timer has no effect on records that no longer have its lock."""

    __slots__ = ("_clock", "_name", "_timers")

    def __init__(self, clock: Clock, name: str) -> None:
        """name: of the partition and the group, for the report of an advance of the clock."""
        self._clock = clock
        self._name = name
        self._timers: dict[int, Timer] = {}

    def schedule(self, lock: int, delay_ms: int, end: Callable[[], None]) -> None:
        """Call end in delay_ms, unless all timers are cancelled before."""

        def run() -> None:
            del self._timers[lock]
            end()

        self._timers[lock] = self._clock.call_later(delay_ms, run)

    def note_ended(self, record_count: int) -> None:
        """Report that a lock has ended by time, and how many records had it."""
        if record_count:
            self._clock.note_expired("share_locks", self._name, record_count)

    def cancel_all(self) -> None:
        """Cancel all timers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
