"""Writes to the transport of one connection, a large response in pieces.

Rules:
- Up to BYTES_AT_ONCE_MAX bytes are given to the transport at once. More are kept here: a transport copies all that the
  socket takes before it serves another one.
- Of a large response the transport gets pieces of PIECE_BYTES_MAX, the next one when it has sent the one before. Pieces
  that the socket takes at once are up to BYTES_AT_ONCE_MAX in one turn of the connection (connection_turns).
- `is_paused`: unwritten bytes are kept here, or the transport is full, because the client does not read. The connection
  handles no request meanwhile.
- `close` takes effect after the last piece.
- Small responses to requests that were just read may wait for the end of the turn (turn_writes).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from ..runtime.buffers import Buffers
from .connection_turns import ConnectionTurns
from .turn_writes import RESPONSE_BYTES_MAX, TurnWrites

# Copied in less than a millisecond.
BYTES_AT_ONCE_MAX: Final = 2 * 1024 * 1024
# What the transport copies when the client reads again. A hundred slow clients together take a few milliseconds.
PIECE_BYTES_MAX: Final = 256 * 1024
# Bytes of responses that wait for a client that does not read, before its next request is handled.
# One response may be larger (fetch.max.bytes): its records are not copied, they are views into the log.
RESPONSE_BYTES_WAITING_MAX: Final = 1024 * 1024


class TransportWriter:
    """The write side of one connection. is_paused: no further request may be handled."""

    __slots__ = (
        "_is_close_requested",
        "_is_held",
        "_is_transport_full",
        "_is_waiting",
        "_response",
        "_resumed",
        "_transport",
        "_turns",
        "_unwritten",
        "_writes",
        "is_paused",
    )

    def __init__(self, transport: asyncio.Transport, turns: ConnectionTurns, resumed: Callable[[], None]) -> None:
        """resumed: called when requests may be handled again."""
        transport.set_write_buffer_limits(high=RESPONSE_BYTES_WAITING_MAX)
        self._transport = transport
        self._turns = turns
        self._writes: TurnWrites = turns.writes
        self._resumed = resumed
        self._unwritten: deque[bytes | bytearray | memoryview] = deque()
        # The one that waits for the end of the turn.
        self._response: bytes | bytearray | memoryview | None = None
        self._is_waiting = False
        self._is_transport_full = False
        self._is_held = False
        self._is_close_requested = False
        self.is_paused = False

    @property
    def is_closing(self) -> bool:
        """Whether the connection is closed, or will be after its last piece."""
        return self._is_close_requested or self._transport.is_closing()

    def write(self, responses: Buffers) -> None:
        """Write responses, unless the connection is closing."""
        if self._response is not None:
            self.end_turn()
        if not responses or self.is_closing:
            return
        if self._unwritten:
            self._unwritten.extend(responses)
        elif len(responses) == 1 and isinstance(responses[0], bytes):
            self._write_joined(responses[0])
        elif not _has_records(responses):
            # Without records all buffers are small, and one is cheaper to send than many.
            self._write_joined(b"".join(responses))
        elif sum(map(len, responses)) <= BYTES_AT_ONCE_MAX:
            self._transport.writelines(responses)
        else:
            self._write_in_pieces(responses)

    def write_in_turn(self, responses: Buffers) -> None:
        """Do as write, but a small response may wait for the end of the turn."""
        if not self._writes.may_wait or not responses or _has_records(responses):
            self.write(responses)
            return
        self.end_turn()
        if self._unwritten or self.is_closing:
            self.write(responses)
            return
        response = b"".join(responses) if len(responses) > 1 else responses[0]
        if len(response) <= RESPONSE_BYTES_MAX:
            self._response = response
            self._writes.add(self)
        else:
            self._write_joined(response)

    def end_turn(self) -> None:
        """Write the response that waits for the end of the turn, if there is one."""
        response = self._response
        self._response = None
        if response is not None and not self._transport.is_closing():
            self._transport.write(response)

    def _write_joined(self, response: bytes | bytearray | memoryview) -> None:
        if len(response) <= BYTES_AT_ONCE_MAX:
            self._transport.write(response)
        else:
            self._write_in_pieces([response])

    def _write_in_pieces(self, responses: Buffers) -> None:
        self._unwritten.extend(responses)
        self.is_paused = True
        # The transport is full as long as it has not sent a piece.
        self._transport.set_write_buffer_limits(high=0)
        self._write_pieces()

    def _write_pieces(self) -> None:
        """Write pieces until the turn of the connection is over, or the socket takes no more."""
        self._is_waiting = False
        if self._transport.is_closing():
            return
        for _ in range(BYTES_AT_ONCE_MAX // PIECE_BYTES_MAX):
            if self._is_transport_full or not self._unwritten:
                break
            self._transport.writelines(self._take_piece())
        self._go_on()

    def _take_piece(self) -> Buffers:
        piece: Buffers = []
        room = PIECE_BYTES_MAX
        while room and self._unwritten:
            buffer = self._unwritten.popleft()
            if len(buffer) > room:
                view = memoryview(buffer)
                self._unwritten.appendleft(view[room:])
                buffer = view[:room]
            piece.append(buffer)
            room -= len(buffer)
        return piece

    def transport_full(self) -> None:
        """Pause, because the client does not read."""
        self._is_transport_full = self.is_paused = True

    def transport_ready(self) -> None:
        """Go on, because the client has read."""
        self._is_transport_full = False
        self._writes.write()
        self._go_on()

    def _go_on(self) -> None:
        """Write the next piece when it is the connection's turn; without one, close or resume."""
        if self._is_transport_full:
            return
        if self._unwritten:
            if not self._is_waiting:
                self._is_waiting = True
                self._turns.wait(self._write_pieces)
        elif self._is_close_requested:
            self._transport.close()
        elif not self._is_held:
            self._transport.set_write_buffer_limits(high=RESPONSE_BYTES_WAITING_MAX)
            self.is_paused = False
            self._resumed()

    def hold(self) -> None:
        """Be paused until `release`, while the caller writes responses slowly."""
        self._is_held = self.is_paused = True

    def release(self) -> None:
        """Undo `hold`."""
        self._is_held = False
        self._go_on()

    def close(self) -> None:
        """Close the transport after the responses so far are written."""
        self.end_turn()
        self._is_close_requested = True
        if not self._unwritten:
            self._transport.close()

    def discard(self) -> None:
        """Discard the unwritten bytes, because the connection is closed. Nothing is written or resumed any more."""
        self._unwritten.clear()
        self._response = None
        self._is_transport_full = True


def _has_records(responses: Buffers) -> bool:
    """Whether a buffer is a view into a log."""
    return memoryview in map(type, responses)
