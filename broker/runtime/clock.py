"""The one clock: every timeout and expiry of the broker reads it, so that a test can stop it and move it by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from enum import Enum
from time import monotonic_ns, time_ns
from typing import Protocol

_NS_PER_MS = 1_000_000

# Far beyond what any test waits for; times in ms stay far from the end of what a timestamp on the wire holds.
ADVANCE_MS_MAX = 1000 * 366 * 24 * 3600 * 1000
# How often work that recurs runs within one advance, at most. What it looks for is there whenever it comes, so that
# eight days need not cost the 700,000 runs of what is due every second.
RUNS_PER_ADVANCE_MAX = 64
# Timers that were taken back stay where they are until there are so many, and they are the most: heartbeats take back
# one each.
_CANCELLED_KEPT_MAX = 100


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

    def call_every(self, interval_ms: int, work: Callable[[], None]) -> Timer:
        """Run work each interval_ms; see AdjustableClock.call_every."""
        ...

    def cancel_all(self) -> None:
        """Take all callbacks back: who asked for them is dead."""
        ...


class ClockMode(Enum):
    """How a clock goes: as the machine's does, or only when it is advanced."""

    REAL = "real"
    MANUAL = "manual"


class _Timer:
    """A callback with the time it falls due, on the scale of the clock's elapsed time."""

    __slots__ = ("_clock", "callback", "due_ns", "interval_ms")

    def __init__(self, clock: AdjustableClock, due_ns: int, callback: Callable[[], None], interval_ms: int) -> None:
        self._clock = clock
        self.due_ns = due_ns
        # None once it was taken back or has run.
        self.callback: Callable[[], None] | None = callback
        # 0 for what runs once.
        self.interval_ms = interval_ms

    def cancel(self) -> None:
        """See Timer."""
        if self.callback is not None:
            self.callback = None
            self._clock.timer_cancelled()


class AdjustableClock:
    """The machine's time, or one that stands still; either can be moved on, and never goes back by itself.

    Callbacks run in the order in which they fall due, and of those that fall due together in the order of the calls.
    One clock is for one node, on one event loop: what is due on a real clock is run by the loop that asked for it.
    A real clock shows the machine's date, and counts by what never goes back: who sets the machine's date sets this
    one's, and no timeout notices.
    """

    __slots__ = (
        "_ahead_ms",
        "_cancelled_count",
        "_elapsed_ahead_ns",
        "_is_advancing",
        "_order",
        "_stands_at_elapsed_ns",
        "_stands_at_ms",
        "_started_standing_at_ms",
        "_timers",
        "_wake",
        "_wake_due_ns",
    )

    def __init__(self, standing_at_ms: int | None = None) -> None:
        """Go as the machine's clock does, or stand still at standing_at_ms."""
        self._order = itertools.count()
        self._timers: list[tuple[int, int, _Timer]] = []
        self._cancelled_count = 0
        self._is_advancing = False
        self._started_standing_at_ms = standing_at_ms
        # What was advanced, as the date and as elapsed time: this clock's own less the machine's.
        self._ahead_ms = 0
        self._elapsed_ahead_ns = 0
        # Both None while it goes by itself.
        self._stands_at_ms = standing_at_ms
        self._stands_at_elapsed_ns = None if standing_at_ms is None else 0
        # What wakes the event loop for the first timer of a clock that goes by itself.
        self._wake: asyncio.TimerHandle | None = None
        self._wake_due_ns = 0

    def now_ms(self) -> int:
        """Return the time in ms since 1970-01-01T00:00:00Z; in a callback that an advance runs, when it fell due."""
        stands_at_ms = self._stands_at_ms
        return time_ns() // _NS_PER_MS + self._ahead_ms if stands_at_ms is None else stands_at_ms

    @property
    def mode(self) -> ClockMode:
        """How the clock goes; in a callback that an advance runs, it stands."""
        return ClockMode.REAL if self._stands_at_ms is None else ClockMode.MANUAL

    @property
    def pending_count(self) -> int:
        """How many callbacks are kept, those included that were taken back and are not yet cleared away."""
        return len(self._timers)

    def _elapsed_ns(self) -> int:
        stands_at_ns = self._stands_at_elapsed_ns
        return monotonic_ns() + self._elapsed_ahead_ns if stands_at_ns is None else stands_at_ns

    # -- timers

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        """Run callback once, when the clock has gone on by delay_ms.

        Raises RuntimeError on a clock that goes by itself where no event loop runs.
        """
        return self._schedule(_Timer(self, self._elapsed_ns() + max(0, delay_ms) * _NS_PER_MS, callback, 0))

    def call_every(self, interval_ms: int, work: Callable[[], None]) -> Timer:
        """Run work each interval_ms from now on, until it is cancelled; also where it has raised something.

        work: looks for what has become due, and would find it later as well. Within one long advance it runs
        RUNS_PER_ADVANCE_MAX times, evenly spread, and the last time that it is due.
        """
        assert interval_ms > 0, f"work each {interval_ms} ms"
        return self._schedule(_Timer(self, self._elapsed_ns() + interval_ms * _NS_PER_MS, work, interval_ms))

    def cancel_all(self) -> None:
        """Take all callbacks back."""
        self._sleep()
        for _, _, timer in self._timers:
            timer.callback = None
        self._timers = []
        self._cancelled_count = 0

    def timer_cancelled(self) -> None:
        """Count a timer that was taken back; from time to time they are cleared away."""
        self._cancelled_count += 1
        if self._cancelled_count > _CANCELLED_KEPT_MAX and 2 * self._cancelled_count > len(self._timers):
            self._timers = [entry for entry in self._timers if entry[2].callback is not None]
            heapq.heapify(self._timers)
            self._cancelled_count = 0

    def _schedule(self, timer: _Timer) -> _Timer:
        heapq.heappush(self._timers, (timer.due_ns, next(self._order), timer))
        if self._stands_at_ms is None and (self._wake is None or timer.due_ns < self._wake_due_ns):
            self._wake_at(timer.due_ns)
        return timer

    # -- a clock that goes by itself

    def _wake_at(self, due_ns: int) -> None:
        self._sleep()
        self._wake_due_ns = due_ns
        delay_seconds = (due_ns - self._elapsed_ns()) / 1e9
        self._wake = asyncio.get_running_loop().call_later(max(0.0, delay_seconds), self._woken)

    def _sleep(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None

    def _woken(self) -> None:
        """Run what is due; what a callback raises is the event loop's to tell, and the others run all the same."""
        self._wake = None
        try:
            # An event loop may wake a little early: what is not yet due is waited for again.
            self._run_due(self._elapsed_ns())
        finally:
            self._wake_for_first()

    def _wake_for_first(self) -> None:
        if self._stands_at_ms is None and self._timers:
            self._wake_at(self._timers[0][0])

    def _run_due(self, until_ns: int) -> None:
        while self._timers and self._timers[0][0] <= until_ns:
            timer = heapq.heappop(self._timers)[2]
            callback = timer.callback
            if callback is None:
                self._cancelled_count = max(0, self._cancelled_count - 1)
                continue
            if timer.interval_ms:
                # First, so that work that fails is done again next time.
                self._again(timer, self._elapsed_ns() + timer.interval_ms * _NS_PER_MS)
            else:
                timer.callback = None
            callback()

    def _again(self, timer: _Timer, due_ns: int) -> None:
        timer.due_ns = due_ns
        heapq.heappush(self._timers, (due_ns, next(self._order), timer))

    # -- moved by hand

    def set_mode(self, mode: ClockMode) -> None:
        """Stand still from now on, or go on from where it stands; neither moves the clock, nor what is yet to wait."""
        assert not self._is_advancing, "the mode of a clock that is being advanced"
        if mode is self.mode:
            return
        now_ms, elapsed_ns = self.now_ms(), self._elapsed_ns()
        if mode is ClockMode.MANUAL:
            self._sleep()
            self._stands_at_ms, self._stands_at_elapsed_ns = now_ms, elapsed_ns
            return
        self._stands_at_ms = self._stands_at_elapsed_ns = None
        self._ahead_ms = now_ms - time_ns() // _NS_PER_MS
        self._elapsed_ahead_ns = elapsed_ns - monotonic_ns()
        self._wake_for_first()

    def advance(self, by_ms: int) -> None:
        """Move the clock on by by_ms, and run all that falls due on the way; see call_every for what recurs.

        Each callback sees the time at which it fell due, and may ask for more. What one raises is raised, and the clock
        is then where that one fell due. Raises ValueError for what is not in 0..ADVANCE_MS_MAX.
        """
        if not 0 <= by_ms <= ADVANCE_MS_MAX:
            raise ValueError(f"a clock is advanced by 0 to {ADVANCE_MS_MAX} ms, not by {by_ms}")
        assert not self._is_advancing, "a clock is advanced by one at a time"
        mode = self.mode
        self.set_mode(ClockMode.MANUAL)
        self._is_advancing = True
        try:
            self._advance_standing(by_ms)
        finally:
            self._is_advancing = False
            self.set_mode(mode)

    def _advance_standing(self, by_ms: int) -> None:
        assert self._stands_at_ms is not None and self._stands_at_elapsed_ns is not None, "a clock that goes by itself"
        start_ms, start_ns = self._stands_at_ms, self._stands_at_elapsed_ns
        until_ns = start_ns + by_ms * _NS_PER_MS
        stride_ms = by_ms // RUNS_PER_ADVANCE_MAX
        while self._timers and self._timers[0][0] <= until_ns:
            due_ns, _, timer = heapq.heappop(self._timers)
            callback = timer.callback
            if callback is None:
                self._cancelled_count = max(0, self._cancelled_count - 1)
                continue
            # What a real clock left overdue is run at once.
            self._stands_at_elapsed_ns = max(due_ns, self._stands_at_elapsed_ns)
            self._stands_at_ms = start_ms + (self._stands_at_elapsed_ns - start_ns) // _NS_PER_MS
            if timer.interval_ms:
                self._again(timer, _next_due_ns(due_ns, timer.interval_ms, stride_ms, until_ns))
            else:
                timer.callback = None
            callback()
        self._stands_at_ms, self._stands_at_elapsed_ns = start_ms + by_ms, until_ns

    def reset(self) -> None:
        """Go or stand as in the beginning, at the machine's time or at the one it began with.

        What is yet to wait waits as long as before. It is for a cluster without any state: its time may go back.
        """
        self.set_mode(ClockMode.MANUAL)
        self._stands_at_ms = self._started_standing_at_ms
        if self._started_standing_at_ms is None:
            self._stands_at_ms = time_ns() // _NS_PER_MS
            self.set_mode(ClockMode.REAL)


def _next_due_ns(due_ns: int, interval_ms: int, stride_ms: int, until_ns: int) -> int:
    """Return when recurring work that ran at due_ns runs next in an advance until until_ns.

    It is due every interval_ms, and not run more often than every stride_ms, but for the last time.
    """
    interval_ns = interval_ms * _NS_PER_MS
    following_ns = due_ns + max(1, stride_ms // interval_ms) * interval_ns
    if following_ns <= until_ns:
        return following_ns
    return due_ns + max(1, (until_ns - due_ns) // interval_ns) * interval_ns
