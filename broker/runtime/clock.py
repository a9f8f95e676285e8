"""The clock of a cluster. All timeouts and expiries use it, so that a test can stop and advance it.

Rules:
- Callbacks run in the order of their due times; those with the same due time in the order of the calls.
- One clock belongs to one event loop. Callbacks of a real clock run on that loop.
- A real clock returns the machine's date, but counts delays with the monotonic clock: a change of the machine's date
  changes `now_ms` and no timeout.
- A callback that raises is logged and stops no other: an advance may run those of many clients.
- A manual clock moves only by `advance`. In a callback that `advance` runs, `now_ms` is the callback's due time.
- Clients have the machine's clock. `ahead_ms` is how far this clock is ahead of it: 0 in a real clock that was never
  moved, negative while a manual clock stands. The clients of a clock that was created standing stand with it.
- An advance leaves no time for anything outside. A timer with `is_spared` waits for something there: an advance with
  `spares` does not end it, and it begins anew when the advance is over.
- `skew_ms` is an error of the date: `now_ms` has it, `steady_ms`, `ahead_ms` and all delays do not. Durations are
  differences of `steady_ms`; what stamps a record or is compared with a timestamp of a client or a token uses `now_ms`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
from collections.abc import Callable
from enum import Enum
from time import monotonic_ns, time_ns
from typing import Final, Protocol

from .expirations import Expirations, Kind

logger = logging.getLogger(__name__)

_NS_PER_MS: Final = 1_000_000
_time_ns: Final = time_ns

# Far beyond the needs of tests, and far from the greatest timestamp on the wire.
ADVANCE_MS_MAX = 1000 * 366 * 24 * 3600 * 1000
# The same, in both directions.
SKEW_MS_MAX = ADVANCE_MS_MAX
# The maximum number of runs of recurring work within one advance. Recurring work finds everything that is due whenever
# it runs, so an advance by eight days need not run it 700,000 times.
RUNS_PER_ADVANCE_MAX = 64
# Cancelled timers stay in the heap until they are more than this and more than half of it. Each heartbeat cancels one.
_CANCELLED_KEPT_MAX = 100


class Timer(Protocol):
    """A scheduled callback."""

    def cancel(self) -> None:
        """Cancel the callback. No effect after it has run."""
        ...


class Clock(Protocol):
    """Returns the time and schedules callbacks."""

    def now_ms(self) -> int:
        """Return the time in ms since 1970-01-01T00:00:00Z."""
        ...

    def steady_ms(self) -> int:
        """Return the time without the skew. Durations are differences of it."""
        ...

    def note_expired(self, kind: Kind, name: str, count: int = 1) -> None:
        """Report that a timer ended something. See Expirations.note; no effect outside an advance."""
        ...

    def call_later(
        self, delay_ms: int, callback: Callable[[], None], is_spared: Callable[[], bool] | None = None
    ) -> Timer:
        """Run callback once, delay_ms milliseconds from now, on the event loop's thread.

        is_spared: whether an advance with `spares` spares it; None for never.
        """
        ...

    def call_every(self, interval_ms: int, work: Callable[[], None]) -> Timer:
        """Run work every interval_ms, until it is cancelled."""
        ...

    def cancel_all(self) -> None:
        """Cancel all callbacks, because the node has crashed."""
        ...


class ClockMode(Enum):
    """REAL: the clock follows the machine's. MANUAL: it moves only by `advance`."""

    REAL = "real"
    MANUAL = "manual"


class _Timer:
    """A callback and its due time, on the scale of the clock's elapsed time."""

    __slots__ = ("_clock", "callback", "delay_ns", "due_ns", "interval_ms", "is_spared")

    def __init__(
        self,
        clock: AdjustableClock,
        delay_ns: int,
        callback: Callable[[], None],
        *,
        interval_ms: int = 0,
        is_spared: Callable[[], bool] | None = None,
    ) -> None:
        self._clock = clock
        self.delay_ns = delay_ns
        self.due_ns = clock.elapsed_ns() + delay_ns
        self.is_spared = is_spared
        # None after it was cancelled or has run.
        self.callback: Callable[[], None] | None = callback
        # 0 for a callback that runs once.
        self.interval_ms = interval_ms

    def cancel(self) -> None:
        """Cancel the callback. No effect after it has run."""
        if self.callback is not None:
            self.callback = None
            self._clock.timer_cancelled()


class AdjustableClock:
    """A real or manual clock. Both can be advanced; neither goes back by itself."""

    __slots__ = (
        "_ahead_ms",
        "_cancelled_count",
        "_elapsed_ahead_ns",
        "_expirations",
        "_order",
        "_stands_at_elapsed_ns",
        "_stands_at_ms",
        "_started_standing_at_ms",
        "_timers",
        "_wake",
        "_wake_due_ns",
        "most_ahead_ms",
        "skew_ms",
    )

    def __init__(self, standing_at_ms: int | None = None) -> None:
        """standing_at_ms: the time of a manual clock; None creates a real clock."""
        self._order = itertools.count()
        self._timers: list[tuple[int, int, _Timer]] = []
        self._cancelled_count = 0
        # Of the advance that is under way; None at all other times.
        self._expirations: Expirations | None = None
        self._started_standing_at_ms = standing_at_ms
        # The sum of all advances, as date and as elapsed time: this clock's time minus the machine's.
        self._ahead_ms = 0
        self._elapsed_ahead_ns = 0
        # Both are None in a real clock.
        self._stands_at_ms = standing_at_ms
        self._stands_at_elapsed_ns = None if standing_at_ms is None else 0
        # Wakes the event loop for the first timer of a real clock.
        self._wake: asyncio.TimerHandle | None = None
        self._wake_due_ns = 0
        # The greatest ahead_ms since the start or the last reset.
        self.most_ahead_ms = 0
        # How far the date is ahead of the clients' beside ahead_ms; negative behind it.
        self.skew_ms = 0

    def now_ms(self) -> int:
        """Return the time in ms since 1970-01-01T00:00:00Z, with the skew."""
        return self.steady_ms() + self.skew_ms

    def steady_ms(self) -> int:
        """Return the time without the skew. Durations are differences of it."""
        stands_at_ms = self._stands_at_ms
        return _time_ns() // _NS_PER_MS + self._ahead_ms if stands_at_ms is None else stands_at_ms

    @property
    def ahead_ms(self) -> int:
        """This clock's time minus that of the clients' clocks, in ms, without the skew."""
        stands_at_ms = self._stands_at_ms
        if stands_at_ms is None:
            return self._ahead_ms
        started_ms = self._started_standing_at_ms
        return stands_at_ms - (time_ns() // _NS_PER_MS if started_ms is None else started_ms)

    @property
    def mode(self) -> ClockMode:
        """The mode of the clock. It is MANUAL in callbacks that `advance` runs."""
        return ClockMode.REAL if self._stands_at_ms is None else ClockMode.MANUAL

    @property
    def pending_count(self) -> int:
        """The number of scheduled callbacks, including cancelled ones that are still in the heap."""
        return len(self._timers)

    def elapsed_ns(self) -> int:
        """Return the elapsed time in ns since an arbitrary start: the scale of delays, which never goes back."""
        stands_at_ns = self._stands_at_elapsed_ns
        return monotonic_ns() + self._elapsed_ahead_ns if stands_at_ns is None else stands_at_ns

    # -- timers

    def call_later(
        self, delay_ms: int, callback: Callable[[], None], is_spared: Callable[[], bool] | None = None
    ) -> Timer:
        """Run callback once, when the clock has advanced by delay_ms.

        is_spared: see Clock. Raises RuntimeError on a real clock without a running event loop.
        """
        return self._schedule(_Timer(self, max(0, delay_ms) * _NS_PER_MS, callback, is_spared=is_spared))

    def call_every(self, interval_ms: int, work: Callable[[], None]) -> Timer:
        """Run work every interval_ms, until it is cancelled, even if it raises.

        work: must find everything that is due whenever it runs. Within one long advance it runs RUNS_PER_ADVANCE_MAX
        times at even intervals, and at its last due time.
        """
        assert interval_ms > 0, f"work every {interval_ms} ms"
        return self._schedule(_Timer(self, interval_ms * _NS_PER_MS, work, interval_ms=interval_ms))

    def cancel_all(self) -> None:
        """Cancel all callbacks."""
        self._sleep()
        for _, _, timer in self._timers:
            timer.callback = None
        self._timers = []
        self._cancelled_count = 0

    def timer_cancelled(self) -> None:
        """Count a cancelled timer, and remove the cancelled timers from the heap if they are many."""
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

    # -- real clock

    def _wake_at(self, due_ns: int) -> None:
        self._sleep()
        self._wake_due_ns = due_ns
        delay_seconds = (due_ns - self.elapsed_ns()) / 1e9
        self._wake = asyncio.get_running_loop().call_later(max(0.0, delay_seconds), self._woken)

    def _sleep(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None

    def _woken(self) -> None:
        """Run the callbacks that are due."""
        self._wake = None
        # An event loop may wake a little early. Callbacks that are not due yet wait again.
        self._run_due(self.elapsed_ns())
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
                # Before the call, so that work that raises runs again.
                self._again(timer, self.elapsed_ns() + timer.interval_ms * _NS_PER_MS)
            else:
                timer.callback = None
            _call(callback)

    def _again(self, timer: _Timer, due_ns: int) -> None:
        timer.due_ns = due_ns
        heapq.heappush(self._timers, (due_ns, next(self._order), timer))

    # -- manual clock

    def set_mode(self, mode: ClockMode) -> None:
        """Stop the clock, or let it run on from its current time. Due times of callbacks do not change."""
        assert self._expirations is None, "the clock is being advanced"
        if mode is self.mode:
            return
        steady_ms, elapsed_ns = self.steady_ms(), self.elapsed_ns()
        if mode is ClockMode.MANUAL:
            self._sleep()
            self._stands_at_ms, self._stands_at_elapsed_ns = steady_ms, elapsed_ns
            return
        self._stands_at_ms = self._stands_at_elapsed_ns = None
        self._ahead_ms = steady_ms - time_ns() // _NS_PER_MS
        self._elapsed_ahead_ns = elapsed_ns - monotonic_ns()
        self._wake_for_first()

    def advance(self, by_ms: int, *, spares: bool = False) -> Expirations:
        """Advance the clock by by_ms and run the callbacks that become due; see call_every for recurring work.

        spares: not those that say they are spared; their whole delay begins anew at the end.
        A callback may schedule further ones. Returns what the callbacks ended.
        Raises ValueError if by_ms is not in 0..ADVANCE_MS_MAX.
        """
        if not 0 <= by_ms <= ADVANCE_MS_MAX:
            raise ValueError(f"a clock is advanced by 0 to {ADVANCE_MS_MAX} ms, not by {by_ms}")
        assert self._expirations is None, "the clock is being advanced"
        mode = self.mode
        self.set_mode(ClockMode.MANUAL)
        ended = self._expirations = Expirations()
        try:
            self._advance_standing(by_ms, spares=spares)
        finally:
            self._expirations = None
            self.most_ahead_ms = max(self.most_ahead_ms, self.ahead_ms)
            self.set_mode(mode)
        return ended

    def note_expired(self, kind: Kind, name: str, count: int = 1) -> None:
        """Add to the result of the advance that is under way. See Expirations.note; no effect outside an advance."""
        if self._expirations is not None:
            self._expirations.note(kind, name, count)

    def _advance_standing(self, by_ms: int, *, spares: bool) -> None:
        assert self._stands_at_ms is not None and self._stands_at_elapsed_ns is not None, "the clock is manual"
        start_ms, start_ns = self._stands_at_ms, self._stands_at_elapsed_ns
        until_ns = start_ns + by_ms * _NS_PER_MS
        stride_ms = by_ms // RUNS_PER_ADVANCE_MAX
        spared: list[_Timer] = []
        while self._timers and self._timers[0][0] <= until_ns:
            due_ns, _, timer = heapq.heappop(self._timers)
            callback = timer.callback
            if callback is None:
                self._cancelled_count = max(0, self._cancelled_count - 1)
                continue
            if spares and timer.is_spared is not None and timer.is_spared():
                spared.append(timer)
                continue
            # Callbacks that are overdue on a real clock run first, without a step back.
            self._stands_at_elapsed_ns = max(due_ns, self._stands_at_elapsed_ns)
            self._stands_at_ms = start_ms + (self._stands_at_elapsed_ns - start_ns) // _NS_PER_MS
            if timer.interval_ms:
                self._again(timer, _next_due_ns(due_ns, timer.interval_ms, stride_ms, until_ns))
            else:
                timer.callback = None
            _call(callback)
        self._stands_at_ms, self._stands_at_elapsed_ns = start_ms + by_ms, until_ns
        if spares:
            waiting = (timer for _, _, timer in self._timers if timer.callback is not None)
            spared += (timer for timer in waiting if timer.is_spared is not None and timer.is_spared())
            self._begin_anew(spared, until_ns)

    def _begin_anew(self, spared: list[_Timer], now_ns: int) -> None:
        """Schedule timers again, with their whole delay from now_ns. Some may have been cancelled since."""
        known = set(spared)
        kept = [entry for entry in self._timers if entry[2] not in known]
        for timer in spared:
            timer.due_ns = now_ns + timer.delay_ns
            kept.append((timer.due_ns, next(self._order), timer))
        self._timers = kept
        heapq.heapify(kept)

    def reset(self) -> None:
        """Return to the initial mode and time. Callbacks keep their remaining delays.

        The time may go back, so the cluster must have no state.
        """
        self.set_mode(ClockMode.MANUAL)
        self._stands_at_ms = self._started_standing_at_ms
        if self._started_standing_at_ms is None:
            self._stands_at_ms = time_ns() // _NS_PER_MS
            self.set_mode(ClockMode.REAL)
            # Not the fraction of a millisecond that has passed since.
            self._ahead_ms = 0
        self.most_ahead_ms = self.skew_ms = 0


def _call(callback: Callable[[], None]) -> None:
    try:
        callback()
    except Exception:
        logger.exception("timed work failed")


def _next_due_ns(due_ns: int, interval_ms: int, stride_ms: int, until_ns: int) -> int:
    """Return the next run of recurring work that ran at due_ns, in an advance until until_ns.

    Runs are interval_ms or, if that is more, about stride_ms apart. The last due time before until_ns is always run.
    """
    interval_ns = interval_ms * _NS_PER_MS
    following_ns = due_ns + max(1, stride_ms // interval_ms) * interval_ns
    if following_ns <= until_ns:
        return following_ns
    return due_ns + max(1, (until_ns - due_ns) // interval_ns) * interval_ns
