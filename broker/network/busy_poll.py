"""Keeps the event loop awake while requests come close together (as net.core.busy_poll does for sockets).

A loop that sleeps between two requests pays for being woken: on a virtual machine, whose idle processor goes back to
the host, that is more than a small Produce itself.
"""

from __future__ import annotations

import asyncio
import os
import time

# Two processors are the least with which a client can run while the loop does not sleep.
PROCESSORS_MIN = 2


class BusyPoll:
    """Looks for the next request without sleeping, for a short time after each, on the running event loop.

    Only where that pays: it begins when a request comes within the window after the one before, so that a broker that
    is idle, or is asked now and then, sleeps.
    """

    __slots__ = ("_awake_until_ns", "_is_polling", "_window_ns")

    def __init__(self, window_us: int) -> None:
        """window_us: how long after a request the loop stays awake, in us; 0 lets it sleep at once."""
        self._window_ns = window_us * 1000 if processor_count() >= PROCESSORS_MIN else 0
        self._awake_until_ns = 0
        self._is_polling = False

    def request_came(self) -> None:
        """Stay awake for a window if the last request was not longer ago than that."""
        now_ns = time.monotonic_ns()
        if now_ns < self._awake_until_ns and not self._is_polling:
            self._is_polling = True
            asyncio.get_running_loop().call_soon(self._poll)
        self._awake_until_ns = now_ns + self._window_ns

    def _poll(self) -> None:
        # A loop that has something to call looks at its sockets without waiting.
        if time.monotonic_ns() < self._awake_until_ns:
            asyncio.get_running_loop().call_soon(self._poll)
        else:
            self._is_polling = False


def processor_count() -> int:
    """Return how many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
