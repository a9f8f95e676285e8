"""Runs what may block, such as a flush to the disk, in a few threads, so that the event loop never waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

logger = logging.getLogger(__name__)

# Steps that run at the same time. A thread that waits for a disk costs no processor, and file systems commit together
# what is flushed together, so that more threads than processors pay.
STEP_THREADS_MAX = 8

Step = Callable[[], object]
StepDone = Callable[[OSError | None], None]


class Steps(Protocol):
    """What runs steps; all of its methods are called on the event loop's thread, and so are the callbacks."""

    def run(self, step: Step, done: StepDone) -> None:
        """Run step in some thread, then done with what it failed by."""
        ...

    def soon(self, callback: Callable[[], None]) -> None:
        """Run callback when the requests that have come are worked on."""
        ...


class DiskExecutor:
    """A pool of threads that is made with the first step."""

    __slots__ = ("_idle", "_in_flight", "_is_abandoned", "_is_stopping", "_name", "_pool", "_threads_max")

    def __init__(self, name: str, *, threads_max: int = STEP_THREADS_MAX) -> None:
        """name: what its threads are called, followed by a number."""
        self._name = name
        self._threads_max = threads_max
        self._pool: ThreadPoolExecutor | None = None
        self._in_flight = 0
        self._is_stopping = False
        self._is_abandoned = False
        self._idle: asyncio.Future[None] | None = None

    def run(self, step: Step, done: StepDone) -> None:
        """See Steps. A fault of ours in the step is logged whole, and passed on as an OSError that says so."""
        if self._is_abandoned:
            return
        loop = asyncio.get_running_loop()
        self._in_flight += 1

        def work() -> None:
            loop.call_soon_threadsafe(self._end, done, _failure_of(step))

        self._threads().submit(work)

    def soon(self, callback: Callable[[], None]) -> None:
        """See Steps; without effect once the steps in flight were waited for."""
        if self._is_stopping or self._is_abandoned:
            return
        self._in_flight += 1
        asyncio.get_running_loop().call_soon(self._end, callback)

    async def finish(self, step: Step) -> None:
        """Run step and return when it is done; raises what it failed by."""
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
        """Return when no step is in flight, and none that another one has led to; from then on nothing runs `soon`."""
        if self._in_flight:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle
        self._is_stopping = True

    async def stop(self) -> None:
        """Wait for what is in flight, and let the threads go."""
        await self.wait_idle()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def abandon(self) -> None:
        """Begin no step any more, and tell nobody how those ended that have begun: who asked for them is dead."""
        self._is_abandoned = True
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def wait_abandoned(self) -> None:
        """Return when the threads are done with the steps that had begun when they were abandoned."""
        assert self._is_abandoned, "steps that somebody still asks for"
        if self._pool is not None:
            await asyncio.to_thread(self._pool.shutdown)
            self._pool = None

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            # Loaded with the first step: a broker in memory never has one.
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._threads_max, self._name)
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
        return OSError(f"a fault of ours: {error!r}")
    return None
