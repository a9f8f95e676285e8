"""Fetch requests that wait for data (Kafka: DelayedFetch and its purgatory)."""

from __future__ import annotations

import asyncio

from ..runtime.deferred import Deferred
from .fetch_reader import FetchReader, FetchResult


class DelayedFetch:
    """A Fetch that waits until min_bytes can be read, a partition has an error, or max_wait_ms have passed.

    The wait is the client's long poll, so it runs on real time and not on the cluster's clock.
    """

    __slots__ = ("_min_bytes", "_partitions", "_reader", "_timer", "result")

    def __init__(self, reader: FetchReader, *, min_bytes: int, max_wait_ms: int) -> None:
        """Begin to wait. `result` is completed with what can be read at the end of the wait."""
        self.result: Deferred[FetchResult] = Deferred(self._leave)
        self._reader = reader
        self._min_bytes = min_bytes
        self._partitions = reader.partitions()
        for partition in self._partitions:
            partition.wait(self, self._try_complete)
        self._timer = asyncio.get_running_loop().call_later(max_wait_ms / 1000, self._expire)

    def _try_complete(self) -> None:
        result = self._reader.read()
        # A new topic of the same name would not wake this fetch.
        if is_enough(result, self._min_bytes) or any(partition.is_deleted for partition in self._partitions):
            self._complete(result)

    def _expire(self) -> None:
        self._complete(self._reader.read())

    def _complete(self, result: FetchResult) -> None:
        self._leave()
        self.result.complete(result)

    def _leave(self) -> None:
        self._timer.cancel()
        for partition in self._partitions:
            partition.leave(self)


def is_enough(result: FetchResult, min_bytes: int) -> bool:
    """Whether a Fetch is completed with result without a wait."""
    return result.has_error or result.records_bytes >= min_bytes
