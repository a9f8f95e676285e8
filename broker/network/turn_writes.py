"""Writes the small responses of one turn of the event loop together, at the end of the turn.

A write can wake its client, whose next request then arrives alone. Clients whose responses are written together send
their next requests together, and the loop handles them in one turn. With 16 connections, a request costs a quarter less
processor time (docs/performance.md).

Rules:
- A response waits only while the loop polls (busy_poll), because the poll ends the turn, and only after a turn with
  several reads. The response to the only read of a turn is written at once.
- A connection has at most one response that waits. The connection writes it before any other bytes, and before it
  closes.
- Waiting responses are written after WAIT_NS_MAX, and before work that may take long: a large read, the frames of a
  read after the first FRAMES_MAX, the next piece of a large response, and the connections that wait for their turn
  (connection_turns).
"""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

# As long as a connection handles requests before the others: about as long as 64 small requests take.
WAIT_NS_MAX: Final = 1_000_000
# Larger responses take longer to copy than a client takes to wake.
RESPONSE_BYTES_MAX: Final = 4 * 1024
# Larger reads may have requests that take a tenth of WAIT_NS_MAX or longer.
READ_BYTES_MAX: Final = 64 * 1024
# Frames of one read that are handled while responses of other connections wait. A producer has five in flight.
FRAMES_MAX: Final = 8


class TurnWriter(Protocol):
    """The writer of a connection, as TurnWrites uses it."""

    def end_turn(self) -> None:
        """Write the response that waits, if there is one."""
        ...


class TurnWrites:
    """The writers with a response that waits for the end of the turn. may_wait: whether responses may wait now."""

    __slots__ = ("_had_several", "_reads", "_until_ns", "_waiting", "may_wait")

    def __init__(self) -> None:
        """Have each response written at once, until a turn with several reads has ended."""
        self._waiting: deque[TurnWriter] = deque()
        self._reads = 0
        # Whether the last turn with a read had several.
        self._had_several = False
        # When the waiting responses are written; 0 without any.
        self._until_ns = 0
        self.may_wait = False

    def add(self, writer: TurnWriter) -> None:
        """Call the writer's end_turn at the end of this turn. Only while may_wait is true."""
        self._waiting.append(writer)

    def request_arrived(self, now_ns: int) -> None:
        """Count a read that was handled, and write the responses that have waited for WAIT_NS_MAX."""
        self._reads += 1
        if self._waiting:
            if not self._until_ns:
                self._until_ns = now_ns + WAIT_NS_MAX
            elif now_ns > self._until_ns:
                self.write()

    def begin_polling(self) -> None:
        """Let responses wait, because end_turn is called after this turn."""
        self.may_wait = self._had_several

    def end_turn(self, *, is_polling: bool) -> None:
        """Write the waiting responses. is_polling: this method is called after the next turn too."""
        if self._reads:
            self._had_several = self._reads > 1
            self._reads = 0
        self.may_wait = is_polling and self._had_several
        self.write()

    def write(self) -> None:
        """Write the waiting responses."""
        self._until_ns = 0
        while self._waiting:
            self._waiting.popleft().end_turn()
