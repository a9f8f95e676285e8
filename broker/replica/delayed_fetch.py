"""Fetches that wait for data (Kafka: DelayedFetch in its purgatory)."""

from __future__ import annotations

import asyncio

from ..runtime.deferred import Deferred
from .fetch_reader import FetchReader, FetchResult


class DelayedFetch:
    """A Fetch that waits until min_bytes can be read, a partition answers an error, or its time is up.

    The wait is a client's long poll and runs on real time, whatever the cluster's clock says.
    """

    __slots__ = ("_min_bytes", "_partitions", "_reader", "_timer", "answer")

    def __init__(self, reader: FetchReader, *, min_bytes: int, max_wait_ms: int) -> None:
        """Begin to wait; `answer` is completed with what can be read then."""
        self.answer: Deferred[FetchResult] = Deferred(self._leave)
        self._reader = reader
        self._min_bytes = min_bytes
        self._partitions = reader.partitions()
        for partition in self._partitions:
            partition.wait(self, self._try_complete)
        self._timer = asyncio.get_running_loop().call_later(max_wait_ms / 1000, self._expire)

    def _try_complete(self) -> None:
        result = self._reader.read()
        # There may be another topic of that name by now, for which nobody would wake this one.
        if is_enough(result, self._min_bytes) or any(partition.is_deleted for partition in self._partitions):
            self._complete(result)

    def _expire(self) -> None:
        self._complete(self._reader.read())

    def _complete(self, result: FetchResult) -> None:
        self._leave()
        self.answer.complete(result)

    def _leave(self) -> None:
        self._timer.cancel()
        for partition in self._partitions:
            partition.leave(self)


def is_enough(result: FetchResult, min_bytes: int) -> bool:
    """Return whether a Fetch is answered with result at once."""
    return result.has_error or result.records_bytes >= min_bytes
