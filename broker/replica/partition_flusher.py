"""Flushes one log, many appends at a time (group commit).

Rules:
- At most one flush of a log is in flight. Requests that arrive meanwhile wait together for the next flush, so that the
  number of flushes follows the disk and not the number of requests.
- The flush runs in a disk thread; everything else runs on the event loop.
- A flush covers the log up to its end at the time it begins. A waiting request is completed once the recovery point
  has reached its end offset, or with the error of the flush.
- After a failed flush the log refuses batches until a flush has succeeded, so the flusher retries by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...storage.partition_log import PartitionLog
    from ..runtime.clock import Clock
    from ..runtime.disk_executor import StepDone, Steps

# How long after a failed flush the next attempt begins, if no request begins one sooner.
RETRY_MS = 500


class FlushObserver(Protocol):
    """The partition, as its flusher uses it."""

    is_deleted: bool

    def wake(self) -> None:
        """More of the log is flushed; the high watermark may have advanced."""
        ...

    def storage_failed(self, doing: str, error: Exception) -> None:
        """A flush failed."""
        ...

    def storage_works(self, doing: str) -> None:
        """A flush succeeded."""
        ...


class PartitionFlusher:
    """The flushes of one log."""

    __slots__ = (
        "_clock",
        "_has_failed",
        "_is_busy",
        "_is_retired",
        "_is_retry_set",
        "_is_wanted_again",
        "_log",
        "_observer",
        "_steps",
        "_waiting",
        "flushed_ms",
    )

    def __init__(self, log: PartitionLog, observer: FlushObserver, steps: Steps, clock: Clock) -> None:
        """observer: the partition of log. steps: runs the flushes."""
        self._log = log
        self._observer = observer
        self._steps = steps
        self._clock = clock
        self._is_busy = False
        self._is_wanted_again = False
        self._has_failed = False
        self._is_retry_set = False
        # Whether the log was replaced.
        self._is_retired = False
        self._waiting: list[tuple[int, StepDone]] = []
        # When the log was last flushed as a whole, for flush.ms.
        self.flushed_ms = clock.steady_ms()

    def of_log(self, log: PartitionLog) -> PartitionFlusher:
        """Return the flusher of another log of the same partition, and fail what waits for this one."""
        self._is_retired = True
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done(OSError("the log was truncated"))
        return PartitionFlusher(log, self._observer, self._steps, self._clock)

    def must_wait(self) -> bool:
        """Whether the response to an append must wait for a flush (flush.messages).

        Called after each append. If the append rolled a segment, a flush of it begins in the background.
        Source: UnifiedLog.append and UnifiedLog.roll, Kafka 4.3.0.
        """
        log = self._log
        if log.has_unflushed_segments and not self._is_busy:
            self.flush_soon()
        return log.is_flush_due

    def when_flushed(self, end_offset: int, done: StepDone) -> None:
        """Call done with None when everything before end_offset is flushed, or with the error of the flush."""
        if self._log.recovery_point >= end_offset:
            done(None)
            return
        self._waiting.append((end_offset, done))
        self.flush_soon()

    def flush_soon(self) -> None:
        """Flush the log after the requests of this event loop turn, or after the flush in flight."""
        if self._is_busy:
            self._is_wanted_again = True
        else:
            self._is_busy = True
            self._steps.soon(self._begin)

    def flush_if_due(self, now_ms: int) -> None:
        """Flush a log that has been unflushed for flush.ms. Source: LogManager.flushDirtyLogs, Kafka 4.3.0."""
        log = self._log
        if log.recovery_point < log.log_end_offset and now_ms - self.flushed_ms >= log.config.flush_ms:
            self.flush_soon()

    def _begin(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._is_wanted_again = False
        if self._is_retired:
            return
        try:
            flush = self._log.begin_flush()
        except OSError as error:
            self._end(waiting, error)
            return

        def flushed(error: OSError | None) -> None:
            if error is None:
                self._log.finish_flush(flush)
            else:
                self._log.fail_flush()
            self._end(waiting, error)

        self._steps.run(flush.run, flushed)

    def _end(self, waiting: list[tuple[int, StepDone]], error: OSError | None) -> None:
        """Complete the requests that waited for this flush, and begin the next flush if one is wanted."""
        self._is_busy = False
        if self._is_retired:
            # Its files are those of another log now, which has a flusher of its own.
            for _, done in waiting:
                done(error)
            return
        self._has_failed = error is not None
        if error is None:
            self.flushed_ms = self._clock.steady_ms()
            self._observer.storage_works("flush")
        elif not self._observer.is_deleted:
            self._observer.storage_failed("flush", error)
            self._retry_later()
        for _, done in waiting:
            done(error)
        if error is None:
            self._observer.wake()
        if self._is_wanted_again or (error is None and self._log.has_unflushed_segments):
            self.flush_soon()

    def _retry_later(self) -> None:
        """Schedule another attempt."""
        if not self._is_retry_set:
            self._is_retry_set = True
            self._clock.call_later(RETRY_MS, self._retry)

    def _retry(self) -> None:
        self._is_retry_set = False
        if self._has_failed and not self._is_retired and not self._observer.is_deleted:
            self.flush_soon()
