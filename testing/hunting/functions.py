"""A program that is a function of this process: it gets the broker of its run.

A thread cannot be killed. A function that does not end in time goes on in its thread, without a broker, and the hunt
goes on without it; a coroutine is cancelled.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..tracebacks import without_internal_frames
from .errors import CannotHunt
from .program import CHECK_HUNG, CHECK_SECONDS_MAX, OUTPUT_BYTES_MAX, Ending, Place
from .running import Running

if TYPE_CHECKING:
    from ..broker import Broker

FAILED = 1
# A cancelled coroutine may close its clients.
CANCEL_SECONDS_MAX = 5.0


@dataclass(frozen=True, slots=True)
class Function:
    """A function, or a coroutine function. checks: exceptions that say that the result is wrong."""

    function: Callable[[Broker], object]
    checks: tuple[type[BaseException], ...] = (AssertionError,)
    _running: Running[_Outcome] = field(
        default_factory=lambda: Running(lambda outcome: outcome.ended.set()), init=False, repr=False, compare=False
    )

    def __str__(self) -> str:
        """Return the name of the function."""
        return getattr(self.function, "__qualname__", repr(self.function))

    def run(self, place: Place, timeout_seconds: float) -> Ending:
        """Call the function in a thread of its own. An exception of checks is a failed check, another one an error.

        Raises Stopped.
        """

        def start() -> _Outcome:
            outcome = _Outcome()
            call = (self.function, place.broker, timeout_seconds)
            threading.Thread(target=outcome.fill, args=call, name="hunted", daemon=True).start()
            return outcome

        begin = time.monotonic()
        is_async = inspect.iscoroutinefunction(self.function)
        with self._running.running(start) as outcome:
            has_ended = outcome.ended.wait(timeout_seconds + CANCEL_SECONDS_MAX if is_async else timeout_seconds)
        seconds = time.monotonic() - begin
        error = outcome.error
        if not has_ended or outcome.is_cancelled:
            return Ending(None, timeout_seconds)
        if error is None:
            return Ending(0, seconds)
        raised = text_of(error)
        failed_check = raised if isinstance(error, self.checks) else None
        return Ending(FAILED, seconds, _traceback_of(error), failed_check, raised)

    def stop(self) -> None:
        """Wait for no call, and make no other: those that have begun end by themselves."""
        self._running.stop()


class _Outcome:
    """How a call ended, written by its thread."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.error: BaseException | None = None
        self.is_cancelled = False

    def fill(self, function: Callable[[Broker], object], broker: Broker, timeout_seconds: float) -> None:
        try:
            if inspect.iscoroutinefunction(function):
                asyncio.run(self._awaited(function, broker, timeout_seconds))
            else:
                function(broker)
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()

    async def _awaited(self, function: Callable[[Broker], object], broker: Broker, timeout_seconds: float) -> None:
        limit = asyncio.timeout(timeout_seconds)
        try:
            async with limit:
                await function(broker)  # type: ignore[misc]
        finally:
            self.is_cancelled = limit.expired()


@dataclass(frozen=True, slots=True)
class CheckFunction(Function):
    """A function that looks at what the program left, and raises an exception if that is wrong."""

    def __call__(self, place: Place) -> str | None:
        """Return the exception in words if the function raised one, or that it did not end."""
        ending = self.run(place, CHECK_SECONDS_MAX)
        if ending.is_hung:
            return CHECK_HUNG
        return ending.raised or None


@dataclass(frozen=True, slots=True)
class PrepareFunction(Function):
    """A function that fills a broker before the program starts."""

    def __call__(self, place: Place) -> None:
        """Call it. Raises CannotHunt if it raises an exception, or does not end."""
        ending = self.run(place, CHECK_SECONDS_MAX)
        if ending.exit_code != 0:
            raise CannotHunt(f"prepare: {'did not end' if ending.is_hung else ending.raised}")


def text_of(error: BaseException) -> str:
    """Return the exception as one line: its type, and the first line of its message."""
    message = str(error).strip().splitlines()
    return f"{type(error).__name__}: {message[0]}" if message else type(error).__name__


def _traceback_of(error: BaseException) -> str:
    """Return the end of the traceback, without the frames of this package."""
    visible = without_internal_frames(error.__traceback__)
    lines = traceback.format_exception(type(error), error, visible)
    return "".join(lines)[-OUTPUT_BYTES_MAX:]
