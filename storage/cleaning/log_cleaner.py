"""Compaction of the logs whose topics ask for it: which log is cleaned next, and up to where each is clean.

Whoever drives it calls begin and advance on the thread that owns the logs, and LogCleaning.run in any thread:

    cleaning = cleaner.begin(now_ms)
    while cleaning is not None:
        cleaning.run()                      (in another thread)
        if not cleaner.advance(cleaning):
            cleaning = cleaner.begin(now_ms)

and begins again log.cleaner.backoff.ms after there was none.
Source: LogCleaner and LogCleanerManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging

from ..checkpoints.checkpoint_files import CLEANER_OFFSET_CHECKPOINT, encode_offsets
from ..checkpoints.offset_checkpoint import read_offsets
from ..file_systems.file_system import FileSystem
from ..log_files import partition_of
from ..log_manager import LogManager
from ..partition_log import PartitionLog
from .cleanable_range import CleanableRange, cleanable_range
from .key_offset_map import LOAD_FACTOR_DEFAULT, KeyOffsetMap
from .log_cleaning import LogCleaning

logger = logging.getLogger(__name__)

# What Kafka's cleaner takes for the keys of one cleaning (log.cleaner.dedupe.buffer.size): some five million keys.
# Where a log has more, it takes several cleanings.
DEDUPE_BUFFER_BYTES_DEFAULT = 128 * 1024 * 1024

# A log one of whose files refused is left alone for so long, as a full disk is not emptied by trying.
_RETRY_MS = 15_000


class LogCleaner:
    """Cleans one log at a time, the dirtiest first.

    dedupe_buffer_bytes, load_factor: see KeyOffsetMap; may be set anew at any time.
    """

    def __init__(
        self,
        file_system: FileSystem,
        logs: LogManager,
        *,
        dedupe_buffer_bytes: int = DEDUPE_BUFFER_BYTES_DEFAULT,
        load_factor: float = LOAD_FACTOR_DEFAULT,
    ) -> None:
        """Read the checkpoint of the logs, which have been loaded from file_system. Raises OSError."""
        self.dedupe_buffer_bytes = dedupe_buffer_bytes
        self.load_factor = load_factor
        self._file_system = file_system
        self._logs = logs
        # Up to where each log is clean. The logs themselves are the keys: another one of the same name is dirty.
        self._cleaned_offsets: dict[PartitionLog, int] = self._read_checkpoint()
        self._uncleanable: set[PartitionLog] = set()
        self._refused_until_ms: dict[PartitionLog, int] = {}
        self._current: LogCleaning | None = None

    def _read_checkpoint(self) -> dict[PartitionLog, int]:
        offsets = read_offsets(self._file_system, CLEANER_OFFSET_CHECKPOINT)
        logs = {name: self._logs.find(*name) for name in offsets}
        return {log: offsets[name] for name, log in logs.items() if log is not None}

    def begin(self, now_ms: int) -> LogCleaning | None:
        """Return the cleaning of the log that needs it most, or None if no log is due or one is being cleaned."""
        if self._current is not None and not self._has_ended(self._current):
            return None
        dirtiest = self._find_dirtiest(now_ms)
        if dirtiest is None:
            return None
        log, cleanable = dirtiest
        offsets_max = cleanable.first_uncleanable_offset - cleanable.first_dirty_offset
        offsets = KeyOffsetMap(self.dedupe_buffer_bytes, offsets_max, self.load_factor)
        self._current = LogCleaning(self._file_system, log, cleanable, offsets, now_ms)
        return self._current

    def _find_dirtiest(self, now_ms: int) -> tuple[PartitionLog, CleanableRange] | None:
        """Return the log that is due and has the greatest share of dirty bytes.

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
        is_refused = now_ms < self._refused_until_ms.get(log, now_ms)
        return not log.flushes.has_failed and not is_refused and log not in self._uncleanable

    def _has_ended(self, cleaning: LogCleaning) -> bool:
        """Whether a cleaning that was left is over; one whose files could not be renamed is tried again."""
        if cleaning.is_swapping:
            self.advance(cleaning)
            if not cleaning.is_done and not cleaning.is_swapping:
                # Nobody runs it any more.
                self._abandon(cleaning)
        return cleaning.is_done

    def advance(self, cleaning: LogCleaning) -> bool:
        """Take over what a run has made, and return whether there is another one; raises nothing a file can cause."""
        log = cleaning.log
        if not self._is_there(log):
            self._abandon(cleaning)
        elif cleaning.error is not None:
            self._note_error(cleaning, cleaning.error)
        else:
            try:
                cleaning.commit()
            except OSError as error:
                self._note_error(cleaning, error)
        if cleaning.is_done and not cleaning.is_cancelled:
            self._cleaned_offsets[log] = cleaning.cleaned_offset
            self._refused_until_ms.pop(log, None)
            self._write_checkpoint()
            logger.info(
                "%s is clean up to offset %d: %d bytes of %d were kept",
                log.topic_partition,
                cleaning.cleaned_offset,
                cleaning.bytes_after,
                cleaning.bytes_before,
            )
        return not cleaning.is_done and not cleaning.is_swapping

    def _note_error(self, cleaning: LogCleaning, error: Exception) -> None:
        """Leave the log as it is. What a file refuses may pass; what is wrong in the log does not."""
        log = cleaning.log
        if isinstance(error, OSError):
            logger.warning("%s could not be cleaned: %s", log.topic_partition, error)
            self._refused_until_ms[log] = cleaning.now_ms + _RETRY_MS
        else:
            logger.error("%s is not cleaned any more", log.topic_partition, exc_info=error)
            self._uncleanable.add(log)
        if not cleaning.is_swapping:
            self._abandon(cleaning)

    def _abandon(self, cleaning: LogCleaning) -> None:
        try:
            cleaning.abandon()
        except OSError as error:
            # Loading the log, and the next cleaning that begins there, delete what is left.
            logger.warning("%s: %s", cleaning.log.topic_partition, error)

    def _is_there(self, log: PartitionLog) -> bool:
        """Whether the log was not deleted meanwhile."""
        name = partition_of(log.topic_partition)
        return name is not None and self._logs.find(*name) is log

    def _write_checkpoint(self) -> None:
        logs = set(self._logs)
        self._cleaned_offsets = {log: offset for log, offset in self._cleaned_offsets.items() if log in logs}
        self._uncleanable &= logs
        self._refused_until_ms = {log: until for log, until in self._refused_until_ms.items() if log in logs}
        names = {partition_of(log.topic_partition): offset for log, offset in self._cleaned_offsets.items()}
        offsets = {name: offset for name, offset in names.items() if name is not None}
        try:
            self._file_system.replace(CLEANER_OFFSET_CHECKPOINT, encode_offsets(offsets))
        except OSError as error:
            # More is cleaned again after a restart.
            logger.warning("%s: %s", CLEANER_OFFSET_CHECKPOINT, error)
