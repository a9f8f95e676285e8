"""Test helper: logs with a cleaner, and transactions written to them."""

from __future__ import annotations

from collections.abc import Sequence

from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from fauxka.protocol.batches.record_batch import stamped_prefix
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.append_result import AppendResult
from fauxka.storage.cleaning.log_cleaner import LogCleaner
from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import CleanupPolicy, LogConfig
from fauxka.storage.log_files import LOG_SUFFIX, segment_path
from fauxka.storage.log_manager import LogManager
from fauxka.storage.partition_log import PartitionLog

from ..protocol.batch_bytes import NOW_MS
from .logs import append, read_all, records_in

TOPIC = "topic"
FOLDER = "topic-0"
DELETE_RETENTION_MS = 10_000
# More than any test needs; a log that stays due is an error.
CLEANINGS_MAX = 100

# A batch without a producer.
PLAIN = BatchOptions()

Pair = tuple[str, str | None]


# A log that is due as soon as it has anything to clean.
COMPACTING = LogConfig(
    cleanup_policies=frozenset({CleanupPolicy.COMPACT}),
    index_interval_bytes=1,
    min_cleanable_dirty_ratio=0.0,
    delete_retention_ms=DELETE_RETENTION_MS,
)


class CleanedLog:
    """A log and its cleaner."""

    def __init__(self, config: LogConfig | None = None, file_system: FileSystem | None = None) -> None:
        """Load the log from the file system."""
        self.file_system = file_system or MemoryFileSystem()
        self.logs = LogManager(self.file_system)
        self.logs.prepare_loading()
        self.log = self.logs.load(TOPIC, 0, config or COMPACTING, now_ms=NOW_MS)
        self.cleaner = LogCleaner(self.file_system, self.logs)

    def put(self, *pairs: Pair, options: BatchOptions = PLAIN) -> AppendResult:
        return append(self.log, batch_of(*pairs, options=options))

    def roll(self) -> None:
        """Start a new segment, so that all earlier batches can be cleaned."""
        roll(self.log)

    def clean(self, now_ms: int = NOW_MS) -> int:
        """Clean until no log is due, and return the number of cleanings."""
        count = 0
        while (cleaning := self.cleaner.begin(now_ms)) is not None:
            count += 1
            assert count < CLEANINGS_MAX, "the log is due again and again"
            cleaning.run()
            while self.cleaner.advance(cleaning):
                cleaning.run()
            assert cleaning.is_done and cleaning.error is None, cleaning.error
        return count

    def values(self) -> dict[int, Pair]:
        return values_in(self.log)


def roll(log: PartitionLog) -> None:
    log.segments.roll(log.log_end_offset, log.config, NOW_MS)


def batch_of(*pairs: Pair, options: BatchOptions = PLAIN) -> bytes:
    """Return a batch of keys with their values; None for a tombstone."""
    return build_batch(
        [Record(None if value is None else value.encode(), key.encode(), NOW_MS) for key, value in pairs], options
    )


def transactional(producer_id: int, base_sequence: int, *pairs: Pair) -> bytes:
    options = BatchOptions(
        producer_id=producer_id, producer_epoch=0, base_sequence=base_sequence, is_transactional=True
    )
    return batch_of(*pairs, options=options)


def marker(producer_id: int, *, is_commit: bool) -> bytes:
    return build_marker_batch(
        EndTransactionMarker(is_commit, 0), producer_id=producer_id, producer_epoch=0, timestamp=NOW_MS
    )


def stored_log(*segments: Sequence[bytes], config: LogConfig | None = None) -> CleanedLog:
    """Return a log with these batches in these segments, and an empty active segment."""
    file_system = MemoryFileSystem()
    offset = 0
    for segment in segments:
        file = file_system.open(segment_path(FOLDER, offset, LOG_SUFFIX))
        for batch in segment:
            file.append(stamped_prefix(offset, len(batch) - 12, 0), batch[16:])
            offset += int.from_bytes(batch[23:27], "big") + 1
    log = CleanedLog(config, file_system)
    log.roll()
    return log


def values_in(log: PartitionLog) -> dict[int, Pair]:
    """Return the records of the log by their offsets."""
    return {
        record.offset: ((record.key or b"").decode(), None if record.value is None else record.value.decode())
        for record in records_in(read_all(log))
    }
