"""Calls from other threads to the event loop, and waits of other threads on the cluster's clock.

A disk thread that an injected fault slows down waits here on the cluster's clock, which a test may advance. The event
loop itself never waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from .clock import Clock, Timer


class EventLoopBridge:
    """A bridge to the event loop. Call `begin` on the loop's thread, and `release` before the loop stops.

    lock: protects counters that several threads share. No thread waits while it holds the lock.
    """

    def __init__(self, clock: Clock) -> None:
        """clock: the clock of the waits. Before `begin`, no thread waits."""
        self.lock = threading.Lock()
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._is_released = True
        # The waits; each gets its timer from the event loop.
        self._waiting: dict[threading.Event, Timer | None] = {}

    def begin(self) -> None:
        """Store the running event loop and its thread, the current one."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._is_released = False

    @property
    def waiting_count(self) -> int:
        """The number of waiting threads."""
        return len(self._waiting)

    def release(self) -> None:
        """End all waits, and refuse new ones until `begin`. Call it on the loop's thread or after the loop's end."""
        self._is_released = True
        self.wake()

    def wake(self) -> None:
        """End all current waits. Call it on the loop's thread or after the loop's end."""
        with self.lock:
            waiting, self._waiting = self._waiting, {}
        for event, timer in waiting.items():
            if timer is not None:
                timer.cancel()
            event.set()

    def run(self, callback: Callable[[], None]) -> None:
        """Run callback on the loop's thread: now if that is the current thread or there is no loop, otherwise soon."""
        loop = self._loop
        if loop is None or threading.get_ident() == self._thread:
            callback()
        else:
            # A loop that was closed meanwhile needs no callback.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(callback)

    def pause(self, ms: int) -> bool:
        """Wait until the clock has advanced by ms. Does not wait on the loop's thread, or after `release`.

        Returns False on the loop's thread, else True.
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
