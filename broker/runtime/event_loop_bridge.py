"""The event loop's thread, as those in other threads see it: what they may ask of it, and how they wait by its clock.

A disk that is slow on purpose must not stop the event loop, and what is slow has to be so by the cluster's clock, which
a test may move by hand. So a step in another thread waits here until the clock says so; the event loop never waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from .clock import Clock, Timer


class EventLoopBridge:
    """The thread of the event loop; `begin` on it, and `release` before it stops.

    lock: for what several threads count together; nobody holds it while waiting.
    """

    def __init__(self, clock: Clock) -> None:
        """Know no thread yet: nobody waits for anything before begin."""
        self.lock = threading.Lock()
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._is_released = True
        # Who waits; the timer is there once the event loop has seen them.
        self._waiting: dict[threading.Event, Timer | None] = {}

    def begin(self) -> None:
        """Take the running event loop and this thread."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._is_released = False

    @property
    def waiting_count(self) -> int:
        """How many threads wait."""
        return len(self._waiting)

    def release(self) -> None:
        """Let go all who wait, and have nobody wait before begin; on the event loop's thread, or after its end."""
        self._is_released = True
        self.wake()

    def wake(self) -> None:
        """Let go all who wait now; on the event loop's thread, or after its end."""
        with self.lock:
            waiting, self._waiting = self._waiting, {}
        for event, timer in waiting.items():
            if timer is not None:
                timer.cancel()
            event.set()

    def run(self, callback: Callable[[], None]) -> None:
        """Run callback on the event loop's thread: at once there, and without an event loop; else soon."""
        loop = self._loop
        if loop is None or threading.get_ident() == self._thread:
            callback()
        else:
            # One that was closed meanwhile has no use for it.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(callback)

    def pause(self, ms: int) -> bool:
        """Wait until the clock has gone on by ms, if this is another thread than the event loop's.

        Return whether this was one; on the event loop's thread nothing was waited for. Nobody waits once released.
        """
        event = threading.Event()
        with self.lock:
            loop = self._loop
            if loop is None or self._is_released:
                return True
            if threading.get_ident() == self._thread:
                return False
            self._waiting[event] = None
        try:
            loop.call_soon_threadsafe(self._begin_to_wait, event, ms)
        except RuntimeError:
            return True
        event.wait()
        return True

    def _begin_to_wait(self, event: threading.Event, ms: int) -> None:
        if event.is_set():
            return

        def wake() -> None:
            self._waiting.pop(event, None)
            event.set()

        self._waiting[event] = self._clock.call_later(ms, wake)
