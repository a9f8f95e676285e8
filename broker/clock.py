"""The one clock: every timeout and expiry of the broker reads it, so that a test can move it by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """What call_later gives back: a callback that can still be taken back."""

    def cancel(self) -> None:
        """Take the callback back; without effect once it has run."""
        ...


class Clock(Protocol):
    """Milliseconds since the epoch, and callbacks that fall due."""

    def now_ms(self) -> int:
        """Return the time in ms since 1970-01-01T00:00:00Z."""
        ...

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        """Run callback once, delay_ms milliseconds from now, on the event loop's thread."""
        ...


class RealClock:
    """The machine's own time; callbacks run on the running event loop."""

    def now_ms(self) -> int:
        """Return the machine's time in ms."""
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        """Schedule on the running event loop; raises RuntimeError outside of one."""
        return asyncio.get_running_loop().call_later(delay_ms / 1000, callback)


class _ManualTimer:
    """A callback of a ManualClock, with the time it falls due."""

    __slots__ = ("callback", "due_ms", "is_cancelled")

    def __init__(self, due_ms: int, callback: Callable[[], None]) -> None:
        """Fall due at due_ms."""
        self.due_ms = due_ms
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualClock:
    """A clock that stands still until it is moved; callbacks run while it moves, in the order they fall due."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        """Stand at now_ms."""
        self._now_ms = now_ms
        self._order = itertools.count()
        self._timers: list[tuple[int, int, _ManualTimer]] = []

    def now_ms(self) -> int:
        """Return the time it was last moved to, in ms."""
        return self._now_ms

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        """Run callback when the clock has been advanced by delay_ms; equal times run in the order of the calls."""
        timer = _ManualTimer(self._now_ms + max(0, delay_ms), callback)
        heapq.heappush(self._timers, (timer.due_ms, next(self._order), timer))
        return timer

    def advance(self, by_ms: int) -> None:
        """Move the clock on by by_ms; each callback sees the time at which it fell due, and may schedule more."""
        until_ms = self._now_ms + by_ms
        while self._timers and self._timers[0][0] <= until_ms:
            due_ms, _, timer = heapq.heappop(self._timers)
            self._now_ms = due_ms
            if not timer.is_cancelled:
                timer.callback()
        self._now_ms = until_ms
