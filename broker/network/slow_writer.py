"""Writes bytes in small pieces at intervals of the broker's clock, like a slow network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..runtime.clock import Clock, Timer


class SlowWriter:
    """Writes pieces of piece_bytes: the first at once, each further one every_ms later."""

    def __init__(self, clock: Clock, write: Callable[[bytes], None], *, piece_bytes: int, every_ms: int) -> None:
        """write: called with each piece."""
        self._clock = clock
        self._write = write
        self._piece_bytes = piece_bytes
        self._every_ms = every_ms
        self._unwritten = bytearray()
        self._callbacks: list[Callable[[], None]] = []
        self._timer: Timer | None = None

    def write(self, data: bytes, written: Callable[[], None]) -> None:
        """Write data after the unwritten bytes. written is called after the last piece of everything."""
        self._unwritten += data
        self._callbacks.append(written)
        if self._timer is None:
            self._write_piece()

    def stop(self) -> None:
        """Write no further piece."""
        if self._timer is not None:
            self._timer.cancel()

    def _write_piece(self) -> None:
        self._timer = None
        piece = bytes(self._unwritten[: self._piece_bytes])
        del self._unwritten[: self._piece_bytes]
        self._write(piece)
        if self._unwritten:
            self._timer = self._clock.call_later(self._every_ms, self._write_piece)
        else:
            callbacks, self._callbacks = self._callbacks, []
            for written in callbacks:
                written()
