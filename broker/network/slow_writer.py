"""Bytes that leave in small pieces, one after a time: a slow network, made by the broker's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..runtime.clock import Clock, Timer


class SlowWriter:
    """Writes what it is given in pieces of piece_bytes, the first at once and the next ones each every_ms."""

    def __init__(self, clock: Clock, write: Callable[[bytes], None], *, piece_bytes: int, every_ms: int) -> None:
        """write: takes a piece."""
        self._clock = clock
        self._write = write
        self._piece_bytes = piece_bytes
        self._every_ms = every_ms
        self._waiting = bytearray()
        self._emptied: list[Callable[[], None]] = []
        self._timer: Timer | None = None

    def write(self, data: bytes, written: Callable[[], None]) -> None:
        """Write data behind what is waiting; call written behind the last piece of all."""
        self._waiting += data
        self._emptied.append(written)
        if self._timer is None:
            self._write_piece()

    def stop(self) -> None:
        """Write no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _write_piece(self) -> None:
        self._timer = None
        piece = bytes(self._waiting[: self._piece_bytes])
        del self._waiting[: self._piece_bytes]
        self._write(piece)
        if self._waiting:
            self._timer = self._clock.call_later(self._every_ms, self._write_piece)
        else:
            emptied, self._emptied = self._emptied, []
            for written in emptied:
                written()
