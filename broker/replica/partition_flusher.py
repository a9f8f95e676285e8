"""Makes what was appended to a log safe, many appends at a time (group commit).

One flush of a log is in flight at most. Who asks meanwhile waits for the next one, together with all others who do; so
the number of flushes follows the disk, and not the number of requests. The flush itself runs in another thread, and
everything else on the event loop's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...storage.partition_log import PartitionLog
    from ..runtime.clock import Clock
    from ..runtime.disk_executor import StepDone, Steps

# How long a log whose flush failed is left alone before the next attempt, if no request makes one sooner.
RETRY_MS = 500


class FlushObserver(Protocol):
    """Who is told what became of flushes; the partition."""

    is_deleted: bool

    def wake(self) -> None:
        """More of the log is safe, and perhaps to be seen."""
        ...

    def storage_failed(self, doing: str, error: Exception) -> None:
        """A flush has failed."""
        ...

    def storage_works(self, doing: str) -> None:
        """A flush has not failed."""
        ...


class PartitionFlusher:
    """The flushes of one log."""

    __slots__ = (
        "_clock",
        "_has_failed",
        "_is_busy",
        "_is_retry_set",
        "_is_wanted_again",
        "_log",
        "_observer",
        "_steps",
        "_waiting",
        "flushed_ms",
    )

    def __init__(self, log: PartitionLog, observer: FlushObserver, steps: Steps, clock: Clock) -> None:
        """Flush nothing yet."""
        self._log = log
        self._observer = observer
        self._steps = steps
        self._clock = clock
        self._is_busy = False
        self._is_wanted_again = False
        self._has_failed = False
        self._is_retry_set = False
        self._waiting: list[tuple[int, StepDone]] = []
        # When the log was last flushed as a whole, for flush.ms.
        self.flushed_ms = clock.now_ms()

    def must_wait(self) -> bool:
        """Whether an append is answered only when it is flushed (flush.messages).

        Asked after each append; a segment that it has sealed is flushed in the background.
        Source: UnifiedLog.append and UnifiedLog.roll, Kafka 4.3.0.
        """
        log = self._log
        if log.has_unflushed_segments and not self._is_busy:
            self.flush_soon()
        return log.is_flush_due

    def when_flushed(self, end_offset: int, done: StepDone) -> None:
        """Call done when all before end_offset is flushed, or with what the flush failed by; at once where it is."""
        if self._log.recovery_point >= end_offset:
            done(None)
            return
        self._waiting.append((end_offset, done))
        self.flush_soon()

    def flush_soon(self) -> None:
        """Flush all there is when the requests that have come are worked on, or after the flush in flight."""
        if self._is_busy:
            self._is_wanted_again = True
        else:
            self._is_busy = True
            self._steps.soon(self._begin)

    def flush_if_due(self, now_ms: int) -> None:
        """Flush what has waited for flush.ms. Source: LogManager.flushDirtyLogs, Kafka 4.3.0."""
        log = self._log
        if log.recovery_point < log.log_end_offset and now_ms - self.flushed_ms >= log.config.flush_ms:
            self.flush_soon()

    def _begin(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._is_wanted_again = False
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
        """Tell those who waited for this flush, and begin the next one for those who came since."""
        self._is_busy = False
        self._has_failed = error is not None
        if error is None:
            self.flushed_ms = self._clock.now_ms()
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
        """Try again by ourselves: the log takes no batch before a flush has succeeded."""
        if not self._is_retry_set:
            self._is_retry_set = True
            self._clock.call_later(RETRY_MS, self._retry)

    def _retry(self) -> None:
        self._is_retry_set = False
        if self._has_failed and not self._observer.is_deleted:
            self.flush_soon()
