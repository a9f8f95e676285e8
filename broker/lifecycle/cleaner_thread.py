"""The thread of the log cleaner: cleans one log at a time (Kafka: CleanerThread).

Cleaning a log may take minutes. Its thread is separate from the disk threads, so that no flush waits for it.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING

from ...storage import cleaning
from ..runtime.deferred import Deferred
from ..runtime.disk_executor import DiskExecutor

if TYPE_CHECKING:
    from ...storage.cleaning.log_cleaner import LogCleaner
    from ...storage.cleaning.log_cleaning import LogCleaning
    from ...storage.partition_log import PartitionLog
    from ..replica.replica_manager import ReplicaManager

    Cleaned = Deferred[LogCleaning | None]


class CleanerThread:
    """Cleans the compacted logs of a node."""

    def __init__(self, replicas: ReplicaManager) -> None:
        """Clean nothing yet. The thread starts with the first cleaning."""
        self._replicas = replicas
        self._executor = DiskExecutor("fauxka-cleaner", threads_max=1)
        self._cleaning: LogCleaning | None = None
        self._is_stopping = False
        # The logs of clean_log, and who waits for the cleaning that runs.
        self._requested: deque[tuple[PartitionLog, Cleaned]] = deque()
        self._awaited: Cleaned | None = None

    @cached_property
    def _cleaner(self) -> LogCleaner:
        return cleaning.log_cleaner.LogCleaner(self._replicas.file_system, self._replicas.logs)

    def clean(self) -> None:
        """Begin to clean all logs that are due, one after the other; no effect while a cleaning runs."""
        if self._cleaning is None and not self._is_stopping and self._has_compacted_topic():
            self._run_if_any(self._configured_cleaner().begin(self._replicas.clock.now_ms()))

    def clean_log(self, log: PartitionLog) -> Cleaned:
        """Clean a log, whatever its dirty ratio, when no other is being cleaned. Return what completes when it is done.

        The result is the cleaning, or None if the log has nothing to clean. It fails if the cleaning does, and if the
        node stops.
        """
        cleaned: Cleaned = Deferred()
        self._requested.append((log, cleaned))
        self._begin_requested()
        return cleaned

    def _begin_requested(self) -> None:
        while self._requested and self._cleaning is None:
            log, cleaned = self._requested.popleft()
            cleaning = self._configured_cleaner().begin_log(log, self._replicas.clock.now_ms())
            if cleaning is None:
                cleaned.complete(None)
            else:
                self._awaited = cleaned
                self._run_if_any(cleaning)

    def _has_compacted_topic(self) -> bool:
        logs = (partition.find_log() for partition in self._replicas.partitions())
        return any(log is not None and log.config.is_compacted for log in logs)

    def _configured_cleaner(self) -> LogCleaner:
        config = self._replicas.config
        self._cleaner.dedupe_buffer_bytes = config.log_cleaner_dedupe_buffer_size
        self._cleaner.load_factor = config.log_cleaner_io_buffer_load_factor
        return self._cleaner

    def _run_if_any(self, cleaning: LogCleaning | None) -> None:
        self._cleaning = cleaning
        if cleaning is not None:
            self._run(cleaning)

    def _run(self, cleaning: LogCleaning) -> None:
        # The cleaning stores its error for LogCleaner.advance.
        self._executor.run(cleaning.run, lambda _: self._advance(cleaning))

    def _advance(self, cleaning: LogCleaning) -> None:
        if self._cleaner.advance(cleaning) and not self._is_stopping:
            self._run(cleaning)
            return
        self._cleaning = None
        awaited, self._awaited = self._awaited, None
        if awaited is not None and cleaning.is_done and not cleaning.is_cancelled:
            awaited.complete(cleaning)
        elif awaited is not None:
            awaited.fail()
        self._begin_requested()
        self.clean()

    def _cancel(self) -> None:
        self._is_stopping = True
        if self._cleaning is not None:
            self._cleaning.cancel()
        while self._requested:
            self._requested.popleft()[1].fail()
        if self._awaited is not None:
            self._awaited.fail()

    def abandon(self) -> DiskExecutor:
        """Cancel the cleaning, because the node crashed. Return the executor, which may still run a step."""
        self._cancel()
        self._executor.abandon()
        return self._executor

    async def stop(self) -> None:
        """Cancel the cleaning and wait for the end of its thread."""
        self._cancel()
        await self._executor.stop()
