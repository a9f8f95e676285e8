"""Threads for blocking steps such as a flush to the disk, so that the event loop never waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent import futures
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

logger = logging.getLogger(__name__)

# Steps that run at the same time. More threads than processors pay: a thread that waits for the disk uses no processor,
# and file systems commit concurrent flushes together.
STEP_THREADS_MAX = 8

Step = Callable[[], object]
StepDone = Callable[[OSError | None], None]


class Steps(Protocol):
    """Runs steps. All methods and callbacks run on the event loop's thread."""

    def run(self, step: Step, done: StepDone) -> None:
        """Run step in a thread, then call done with its OSError, or with None."""
        ...

    def soon(self, callback: Callable[[], None]) -> None:
        """Run callback after the requests of this turn of the event loop."""
        ...


class DiskExecutor:
    """A pool of threads, created with the first step."""

    __slots__ = ("_idle", "_in_flight", "_is_abandoned", "_is_stopping", "_name", "_pool", "_threads_max")

    def __init__(self, name: str, *, threads_max: int = STEP_THREADS_MAX) -> None:
        """name: the prefix of the threads' names."""
        self._name = name
        self._threads_max = threads_max
        self._pool: ThreadPoolExecutor | None = None
        self._in_flight = 0
        self._is_stopping = False
        self._is_abandoned = False
        self._idle: asyncio.Future[None] | None = None

    def run(self, step: Step, done: StepDone) -> None:
        """Run step in a thread, then call done with its OSError, or with None.

        Any other exception is logged with its traceback and passed to done as an OSError.
        """
        if self._is_abandoned:
            return
        loop = asyncio.get_running_loop()
        self._in_flight += 1

        def work() -> None:
            loop.call_soon_threadsafe(self._end, done, _failure_of(step))

        self._threads().submit(work)

    def soon(self, callback: Callable[[], None]) -> None:
        """Run callback after the requests of this turn of the event loop. Ignored after `wait_idle`."""
        if self._is_stopping or self._is_abandoned:
            return
        self._in_flight += 1
        asyncio.get_running_loop().call_soon(self._end, callback)

    async def finish(self, step: Step) -> None:
        """Run step and return when it is done. Raises its OSError."""
        finished: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
        self.run(step, finished.set_result)
        error = await finished
        if error is not None:
            raise error

    @property
    def is_idle(self) -> bool:
        """Whether no step is in flight."""
        return not self._in_flight

    async def wait_idle(self) -> None:
        """Return when no step is in flight, including steps begun by others. From then on `soon` is ignored."""
        if self._in_flight:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle
        self._is_stopping = True

    async def stop(self) -> None:
        """Wait for the steps in flight, and end the threads."""
        await self.wait_idle()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def abandon(self) -> None:
        """Begin no further step and call no further callback, because the node has crashed."""
        self._is_abandoned = True
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def wait_abandoned(self) -> None:
        """Return when the steps that had begun before `abandon` have ended."""
        assert self._is_abandoned, "abandon was called first"
        if self._pool is not None:
            await asyncio.to_thread(self._pool.shutdown)
            self._pool = None

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = futures.ThreadPoolExecutor(self._threads_max, self._name)
        return self._pool

    def _end(self, callback: Callable[..., None], *result: OSError | None) -> None:
        try:
            if not self._is_abandoned:
                callback(*result)
        finally:
            self._in_flight -= 1
            if not self._in_flight and self._idle is not None and not self._idle.done():
                self._idle.set_result(None)


def _failure_of(step: Step) -> OSError | None:
    try:
        step()
    except OSError as error:
        return error
    except Exception as error:
        logger.exception("a step in the background failed")
        return OSError(f"internal error: {error!r}")
    return None
