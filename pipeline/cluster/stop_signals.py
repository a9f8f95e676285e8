"""SIGINT and SIGTERM while a command runs Spark.

1. While Spark starts, the first one waits: a JVM whose start is cut off would never end. A second one acts at once.
2. Afterwards both have the handlers from before the start: Spark's own one calls the JVM, maybe within another call.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any

_STOPPING = (signal.SIGINT, signal.SIGTERM)


class StopSignals(AbstractContextManager["StopSignals"]):
    """Within its block the signals that ask to stop are noted, and then do what they did before.

    first: the number of the first signal, None before. Only the main thread gets signals; others have no effect here.
    """

    def __init__(self) -> None:
        """No signal has come."""
        self.first: int | None = None
        self._is_waiting = False
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> StopSignals:
        """Install the handlers."""
        if threading.current_thread() is threading.main_thread():
            found = {number: signal.getsignal(number) for number in _STOPPING}
            self._handlers = {number: handler for number, handler in found.items() if callable(handler)}
        self._install()
        return self

    def __exit__(self, *_: object) -> None:
        """Install the handlers from before the block."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """Let the first signal wait within the block; `act` does what it asks for."""
        self._is_waiting = True
        try:
            yield
        finally:
            self._is_waiting = False
            self._install()

    def act(self) -> None:
        """Do what a signal that had to wait asks for. Raises what its handler raises."""
        if self.first is not None:
            self._handlers[self.first](self.first, None)

    def _install(self) -> None:
        for number in self._handlers:
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        has_to_wait = self._is_waiting and self.first is None
        self.first = self.first or number
        if not has_to_wait:
            self._handlers[number](number, frame)
