"""Shares the event loop among connections that have more to do than one slice.

Rules:
- A connection handles requests for one slice: until SLICE_NS are over or SLICE_FRAMES_MAX frames are handled, and one
  frame at least. If more frames are complete, it waits for its turn.
- A read that fills the receive buffer is the last one of the connection until its next turn. Otherwise uvloop reads
  from one socket up to 32 times before it looks at the others.
- A large response is written in pieces, one piece a turn (transport_writer).
- In one turn of the event loop, the responses of the turn are written first (turn_writes). Then the waiting connections
  go on in the order in which they began to wait, until TURN_NS are over or TURN_CONNECTIONS_MAX have gone on. The
  sockets of the others are served before the next turn.

Without these rules, one client with many small requests in flight would hold the event loop for seconds.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic_ns

from .turn_writes import TurnWrites

# How long a connection handles requests before the others. A small request takes a hundredth of it.
SLICE_NS = 1_000_000
# Frames of a slice, however short they take; about as many as fit into a slice.
SLICE_FRAMES_MAX = 64
# How long the waiting connections go on before the sockets are served again.
TURN_NS = 5_000_000
# Connections that go on in one turn. TURN_NS does not include the time of their writes, which follow at its end.
TURN_CONNECTIONS_MAX = 32


def call_soon(callback: Callable[[], None]) -> None:
    """Call callback in the next turn of the running event loop."""
    asyncio.get_running_loop().call_soon(callback)


class ConnectionTurns:
    """The connections of a node that wait for their turn. slice_ns: how long one handles requests.

    writes: the responses that wait for the end of a turn.
    """

    __slots__ = ("_call_soon", "_is_scheduled", "_turn_ns", "_waiting", "slice_ns", "writes")

    def __init__(
        self,
        call_soon: Callable[[Callable[[], None]], None] = call_soon,
        *,
        slice_ns: int = SLICE_NS,
        turn_ns: int = TURN_NS,
    ) -> None:
        """call_soon: calls a function in the next turn of the event loop. slice_ns, turn_ns: see SLICE_NS, TURN_NS."""
        self._call_soon = call_soon
        self.slice_ns = slice_ns
        self._turn_ns = turn_ns
        self._is_scheduled = False
        self._waiting: deque[Callable[[], None]] = deque()
        self.writes = TurnWrites()

    def wait(self, go_on: Callable[[], None]) -> None:
        """Call go_on when it is the turn of its connection."""
        self._waiting.append(go_on)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._call_soon(self._run_turn)

    def _run_turn(self) -> None:
        """Have waiting connections go on. One that waits again while this turn runs has its turn after the others."""
        self._is_scheduled = False
        self.writes.write()
        waiting = self._waiting
        until = monotonic_ns() + self._turn_ns
        for _ in range(min(len(waiting), TURN_CONNECTIONS_MAX)):
            waiting.popleft()()
            if monotonic_ns() > until:
                break
        if waiting:
            self._schedule()
