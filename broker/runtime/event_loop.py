"""The event loop of the broker: uvloop's if it is installed, and one with signal handlers on Windows.

On Windows a signal does not interrupt select, and asyncio has no signal handlers. Python writes to a socket at each
signal. The loop reads the socket, so that select returns and Python runs the handler of the signal.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, TypeVarTuple

_Args = TypeVarTuple("_Args")
# One byte a signal.
_READ_BYTES_MAX = 4096


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new event loop of uvloop, or of asyncio without uvloop."""
    if sys.platform == "win32":
        # The default one there cannot watch a listening socket.
        return SelectLoop()
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class SelectLoop(asyncio.SelectorEventLoop):
    """The loop for Windows. When it closes, signals have the handlers again that they had before."""

    def __init__(self) -> None:
        """Handle no signal yet."""
        super().__init__()
        self._handlers_before: dict[int, Any] = {}
        self._woken, self._waking = socket.socketpair()
        for end in (self._woken, self._waking):
            end.setblocking(False)

    def add_signal_handler(self, sig: int, callback: Callable[[*_Args], object], *args: *_Args) -> None:
        """Call callback on the loop at each signal. Call this in the main thread."""
        if not self._handlers_before:
            self.add_reader(self._woken, self._woken.recv, _READ_BYTES_MAX)
            signal.set_wakeup_fd(self._waking.fileno())
        before = signal.signal(sig, lambda number, frame: self.call_soon_threadsafe(callback, *args))
        self._handlers_before.setdefault(sig, before)

    def close(self) -> None:
        """Close the loop."""
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)
        if self._handlers_before:
            self._handlers_before.clear()
            self.remove_reader(self._woken)
            signal.set_wakeup_fd(-1)
        super().close()
        self._woken.close()
        self._waking.close()
