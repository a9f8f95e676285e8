"""What runs of a program have started, so that all of it can be ended at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Generic, TypeVar

Started = TypeVar("Started")


class Stopped(Exception):
    """The program is not run any more, see Running.stop."""


class Running(Generic[Started]):
    """What was started and has not ended. end: called with each of it to end it."""

    def __init__(self, end: Callable[[Started], None]) -> None:
        """Start with nothing."""
        self._end = end
        self._lock = threading.Lock()
        self._started: set[Started] = set()
        self._is_stopped = False

    @contextmanager
    def running(self, start: Callable[[], Started]) -> Generator[Started]:
        """Start something that runs during the block. Raises Stopped before it and after it, and as `start` does."""
        with self._lock:
            self._check()
            started = start()
            self._started.add(started)
        try:
            yield started
        finally:
            with self._lock:
                self._started.discard(started)
        with self._lock:
            self._check()

    def stop(self) -> None:
        """End all that runs, and start nothing more."""
        with self._lock:
            self._is_stopped = True
            for started in self._started:
                self._end(started)

    def _check(self) -> None:
        if self._is_stopped:
            raise Stopped
