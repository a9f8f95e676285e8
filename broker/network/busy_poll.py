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
from time import monotonic_ns
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .turn_writes import TurnWrites

# With one processor, a polling loop would keep the client from running.
PROCESSORS_MIN = 2

_now_ns: Final = monotonic_ns


class BusyPoll:
    """Polls the sockets for a short time after a request instead of sleeping, on the running event loop.

    Polling begins only when a request arrives within the window after the previous one.
    """

    __slots__ = ("_awake_until_ns", "_is_polling", "_window_ns", "_writes")

    def __init__(self, window_us: int, processors: int, writes: TurnWrites) -> None:
        """window_us: how long the loop stays awake after a request, in microseconds; 0 turns polling off.

        processors: that this process may use. writes: their turn ends with each poll.
        """
        self._window_ns = window_us * 1000 if processors >= PROCESSORS_MIN else 0
        self._awake_until_ns = 0
        self._is_polling = False
        self._writes = writes

    def request_arrived(self) -> None:
        """Extend the window, and begin to poll if the previous request was within it."""
        if not self._window_ns:
            return
        now_ns = _now_ns()
        if now_ns < self._awake_until_ns and not self._is_polling:
            self._is_polling = True
            self._writes.begin_polling()
            asyncio.get_running_loop().call_soon(self._poll)
        self._awake_until_ns = now_ns + self._window_ns
        self._writes.request_arrived(now_ns)

    def _poll(self) -> None:
        self._is_polling = _now_ns() < self._awake_until_ns
        if self._is_polling:
            # A loop that has a callback to run checks its sockets without waiting.
            asyncio.get_running_loop().call_soon(self._poll)
        self._writes.end_turn(is_polling=self._is_polling)


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
