"""The log cleaner: selects the next log to compact and stores how far each log is clean.

The caller calls begin and advance on the thread that owns the logs, and LogCleaning.run on any thread:

    cleaning = cleaner.begin(now_ms)
    while cleaning is not None:
        cleaning.run()                      (on another thread)
        if not cleaner.advance(cleaning):
            cleaning = cleaner.begin(now_ms)

If begin returns None, the caller repeats it after log.cleaner.backoff.ms.
Source: LogCleaner and LogCleanerManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging

from ..checkpoints.checkpoint_files import CLEANER_OFFSET_CHECKPOINT, encode_offsets, read_offsets
from ..file_systems.file_system import FileSystem
from ..log_files import partition_of
from ..log_manager import LogManager
from ..partition_log import PartitionLog
from .cleanable_range import CleanableRange, cleanable_range
from .key_offset_map import LOAD_FACTOR_DEFAULT, KeyOffsetMap
from .log_cleaning import LogCleaning

logger = logging.getLogger(__name__)

# Kafka's default of log.cleaner.dedupe.buffer.size: some five million keys. A log with more needs several cleanings.
DEDUPE_BUFFER_BYTES_DEFAULT = 128 * 1024 * 1024

# The wait before a log is cleaned again after OSError, for example on a full disk.
_RETRY_MS = 15_000


class LogCleaner:
    """Cleans one log at a time, the dirtiest first.

    dedupe_buffer_bytes, load_factor: the limits of KeyOffsetMap; may be changed at any time.
    """

    def __init__(
        self,
        file_system: FileSystem,
        logs: LogManager,
        *,
        dedupe_buffer_bytes: int = DEDUPE_BUFFER_BYTES_DEFAULT,
        load_factor: float = LOAD_FACTOR_DEFAULT,
    ) -> None:
        """Read the cleaner checkpoint; logs: already loaded from file_system. Raises OSError."""
        self.dedupe_buffer_bytes = dedupe_buffer_bytes
        self.load_factor = load_factor
        self._file_system = file_system
        self._logs = logs
        # The end of the clean part, by log object: a new log of the same name is dirty.
        self._cleaned_offsets: dict[PartitionLog, int] = self._read_checkpoint()
        self._uncleanable: set[PartitionLog] = set()
        self._retry_at_ms: dict[PartitionLog, int] = {}
        self._current: LogCleaning | None = None

    def _read_checkpoint(self) -> dict[PartitionLog, int]:
        offsets = read_offsets(self._file_system, CLEANER_OFFSET_CHECKPOINT)
        logs = {name: self._logs.find(*name) for name in offsets}
        return {log: offsets[name] for name, log in logs.items() if log is not None}

    def begin(self, now_ms: int) -> LogCleaning | None:
        """Return a cleaning of the dirtiest log; None if no log is due or another is being cleaned."""
        dirtiest = None if self._is_cleaning() else self._find_dirtiest(now_ms)
        return None if dirtiest is None else self._begin(*dirtiest, now_ms)

    def begin_log(self, log: PartitionLog, now_ms: int) -> LogCleaning | None:
        """Return a cleaning of a compacted log, due or not; None if it has nothing to clean, and as begin."""
        if self._is_cleaning() or not self._is_cleanable(log, now_ms):
            return None
        cleanable = cleanable_range(log, self._cleaned_offsets.get(log), now_ms)
        return self._begin(log, cleanable, now_ms) if cleanable.cleanable_bytes else None

    def _is_cleaning(self) -> bool:
        return self._current is not None and not self._has_ended(self._current)

    def _begin(self, log: PartitionLog, cleanable: CleanableRange, now_ms: int) -> LogCleaning:
        offsets_max = cleanable.first_uncleanable_offset - cleanable.first_dirty_offset
        offsets = KeyOffsetMap(self.dedupe_buffer_bytes, offsets_max, self.load_factor)
        self._current = LogCleaning(self._file_system, log, cleanable, offsets, now_ms)
        return self._current

    def _find_dirtiest(self, now_ms: int) -> tuple[PartitionLog, CleanableRange] | None:
        """Return the due log with the greatest dirty ratio.

        Source: LogCleanerManager.grabFilthiestCompactedLog, Kafka 4.3.0.
        """
        due: list[tuple[PartitionLog, CleanableRange]] = []
        for log in self._logs:
            if log.config.is_compacted and self._is_cleanable(log, now_ms):
                cleanable = cleanable_range(log, self._cleaned_offsets.get(log), now_ms)
                if cleanable.is_due(log.config.min_cleanable_dirty_ratio):
                    due.append((log, cleanable))
        return max(due, key=lambda candidate: candidate[1].dirty_ratio, default=None)

    def _is_cleanable(self, log: PartitionLog, now_ms: int) -> bool:
        is_waiting = now_ms < self._retry_at_ms.get(log, now_ms)
        return not log.flushes.has_failed and not is_waiting and log not in self._uncleanable

    def _has_ended(self, cleaning: LogCleaning) -> bool:
        """Whether the last cleaning has ended; repeats an interrupted swap first."""
        if cleaning.is_swapping:
            self.advance(cleaning)
            if not cleaning.is_done and not cleaning.is_swapping:
                # No caller runs it again.
                self._abandon(cleaning)
        return cleaning.is_done

    def advance(self, cleaning: LogCleaning) -> bool:
        """Commit the result of a run, and return whether the cleaning must run again; OSError is logged."""
        log = cleaning.log
        name = partition_of(log.topic_partition)
        if name is None or self._logs.find(*name) is not log:
            # The log was deleted during the run.
            self._abandon(cleaning)
        elif cleaning.error is not None:
            self._handle_error(cleaning, cleaning.error)
        else:
            try:
                cleaning.commit()
            except OSError as error:
                self._handle_error(cleaning, error)
        if cleaning.is_done and not cleaning.is_cancelled:
            self._cleaned_offsets[log] = cleaning.cleaned_offset
            self._retry_at_ms.pop(log, None)
            self._write_checkpoint()
            logger.info(
                "%s is clean up to offset %d: kept %d of %d bytes",
                log.topic_partition,
                cleaning.cleaned_offset,
                cleaning.bytes_after,
                cleaning.bytes_before,
            )
        return not cleaning.is_done and not cleaning.is_swapping

    def _handle_error(self, cleaning: LogCleaning, error: Exception) -> None:
        """Schedule a retry after OSError; exclude the log after any other error, which a retry would repeat."""
        log = cleaning.log
        if isinstance(error, OSError):
            logger.warning("cleaning %s failed, it is tried again: %s", log.topic_partition, error)
            self._retry_at_ms[log] = cleaning.now_ms + _RETRY_MS
        else:
            logger.error("cleaning %s failed, it is not tried again", log.topic_partition, exc_info=error)
            self._uncleanable.add(log)
        if not cleaning.is_swapping:
            self._abandon(cleaning)

    def _abandon(self, cleaning: LogCleaning) -> None:
        try:
            cleaning.abandon()
        except OSError as error:
            # The next loading or the next cleaning at this offset deletes the files.
            logger.warning("%s: %s", cleaning.log.topic_partition, error)

    def _write_checkpoint(self) -> None:
        logs = set(self._logs)
        self._cleaned_offsets = {log: offset for log, offset in self._cleaned_offsets.items() if log in logs}
        self._uncleanable &= logs
        self._retry_at_ms = {log: retry_at_ms for log, retry_at_ms in self._retry_at_ms.items() if log in logs}
        names = {partition_of(log.topic_partition): offset for log, offset in self._cleaned_offsets.items()}
        offsets = {name: offset for name, offset in names.items() if name is not None}
        try:
            self._file_system.replace(CLEANER_OFFSET_CHECKPOINT, encode_offsets(offsets))
        except OSError as error:
            # After a restart, the part since the old checkpoint is cleaned again.
            logger.warning("%s: %s", CLEANER_OFFSET_CHECKPOINT, error)
