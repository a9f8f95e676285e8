"""Reads that wait for data (Kafka: DelayedFetch and its purgatory)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from ..runtime.deferred import Deferred

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class Waitable(Protocol):
    """A partition, or another source of data, that calls the reads that wait for it."""

    def wait(self, waiter: object, grown: Callable[[], None], /) -> None:
        """Call grown after every change, until waiter leaves."""
        ...

    def leave(self, waiter: object, /) -> None:
        """Stop the calls for waiter."""
        ...


class DelayedRead(Generic[Result]):
    """A Fetch or ShareFetch that waits until its read is complete, or max_wait_ms have passed.

    The wait is the client's long poll, so it runs on real time and not on the cluster's clock.
    """

    __slots__ = ("_is_complete", "_read", "_timer", "_waited", "result")

    def __init__(
        self,
        read: Callable[[], Result],
        is_complete: Callable[[Result], bool],
        waited: Sequence[Waitable],
        max_wait_ms: int,
    ) -> None:
        """Begin to wait. `result` is completed with what can be read at the end of the wait.

        read: called after every change of waited, and at the end of the wait. is_complete: whether its result ends the
        wait.
        """
        self.result: Deferred[Result] = Deferred(self._leave)
        self._read = read
        self._is_complete = is_complete
        self._waited = waited
        for each in waited:
            each.wait(self, self._try_complete)
        self._timer = asyncio.get_running_loop().call_later(max_wait_ms / 1000, self._expire)

    def _try_complete(self) -> None:
        self._finish(self._is_complete)

    def _expire(self) -> None:
        self._finish(lambda _: True)

    def _finish(self, is_complete: Callable[[Result], bool]) -> None:
        """End the wait with a read that is complete, or that fails."""
        try:
            result = self._read()
            is_finished = is_complete(result)
        except Exception:
            logger.exception("a waiting fetch failed")
            self._leave()
            self.result.fail()
            return
        if is_finished:
            self._leave()
            self.result.complete(result)

    def _leave(self) -> None:
        self._timer.cancel()
        for each in self._waited:
            each.leave(self)
