"""Busy polling: keeps the event loop awake between requests that follow each other closely.

- Gain: a loop that sleeps must be woken for the next request, which on a virtual machine takes longer than a small
  Produce. Busy polling halves the median latency of a client that sends one request at a time, side by side with
  `fauxka.busy.poll.us=0` (docs/performance.md).
- Cost: up to one window of a processor's time after the last request of a burst. An idle broker sleeps.
- Off: with `fauxka.busy.poll.us=0`, and on a machine with one processor, where the client could not run meanwhile.

The name and the idea are those of net.core.busy_poll in Linux.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time

# With one processor, a polling loop would keep the client from running.
PROCESSORS_MIN = 2


class BusyPoll:
    """Polls the sockets for a short time after a request instead of sleeping, on the running event loop.

    Polling begins only when a request arrives within the window after the previous one.
    """

    __slots__ = ("_awake_until_ns", "_is_polling", "_window_ns")

    def __init__(self, window_us: int) -> None:
        """window_us: how long the loop stays awake after a request, in microseconds; 0 turns polling off."""
        self._window_ns = window_us * 1000 if processor_count() >= PROCESSORS_MIN else 0
        self._awake_until_ns = 0
        self._is_polling = False

    def request_arrived(self) -> None:
        """Extend the window, and begin to poll if the previous request was within it."""
        now_ns = time.monotonic_ns()
        if now_ns < self._awake_until_ns and not self._is_polling:
            self._is_polling = True
            asyncio.get_running_loop().call_soon(self._poll)
        self._awake_until_ns = now_ns + self._window_ns

    def _poll(self) -> None:
        # A loop that has a callback to run checks its sockets without waiting.
        if time.monotonic_ns() < self._awake_until_ns:
            asyncio.get_running_loop().call_soon(self._poll)
        else:
            self._is_polling = False


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
