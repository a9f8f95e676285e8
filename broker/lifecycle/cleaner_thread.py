"""The thread of the log cleaner: cleans one log at a time (Kafka: CleanerThread).

Cleaning a log may take minutes. Its thread is separate from the disk threads, so that no flush waits for it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ...storage import cleaning
from ..runtime.disk_executor import DiskExecutor

if TYPE_CHECKING:
    from ...storage.cleaning.log_cleaner import LogCleaner
    from ...storage.cleaning.log_cleaning import LogCleaning
    from ..replica.replica_manager import ReplicaManager


class CleanerThread:
    """Cleans the compacted logs of a node."""

    def __init__(self, replicas: ReplicaManager) -> None:
        """Clean nothing yet. The thread starts with the first cleaning."""
        self._replicas = replicas
        self._executor = DiskExecutor("fauxka-cleaner", threads_max=1)
        self._cleaning: LogCleaning | None = None
        self._is_stopping = False

    @cached_property
    def _cleaner(self) -> LogCleaner:
        return cleaning.log_cleaner.LogCleaner(self._replicas.file_system, self._replicas.logs)

    def clean(self) -> None:
        """Begin to clean all logs that are due, one after the other; no effect while a cleaning runs."""
        if self._cleaning is None and not self._is_stopping and self._has_compacted_topic():
            self._begin()

    def _has_compacted_topic(self) -> bool:
        logs = (partition.find_log() for partition in self._replicas.partitions())
        return any(log is not None and log.config.is_compacted for log in logs)

    def _begin(self) -> None:
        config = self._replicas.config
        self._cleaner.dedupe_buffer_bytes = config.log_cleaner_dedupe_buffer_size
        self._cleaner.load_factor = config.log_cleaner_io_buffer_load_factor
        self._cleaning = self._cleaner.begin(self._replicas.clock.now_ms())
        if self._cleaning is not None:
            self._run(self._cleaning)

    def _run(self, cleaning: LogCleaning) -> None:
        # The cleaning stores its error for LogCleaner.advance.
        self._executor.run(cleaning.run, lambda _: self._advance(cleaning))

    def _advance(self, cleaning: LogCleaning) -> None:
        if self._cleaner.advance(cleaning) and not self._is_stopping:
            self._run(cleaning)
        else:
            self._cleaning = None
            self.clean()

    def abandon(self) -> DiskExecutor:
        """Cancel the cleaning, because the node crashed. Return the executor, which may still run a step."""
        self._is_stopping = True
        if self._cleaning is not None:
            self._cleaning.cancel()
        self._executor.abandon()
        return self._executor

    async def stop(self) -> None:
        """Cancel the cleaning and wait for the end of its thread."""
        self._is_stopping = True
        if self._cleaning is not None:
            self._cleaning.cancel()
        await self._executor.stop()
