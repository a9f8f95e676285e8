"""Compaction of logs: what stays, what goes when, what a crash leaves, and which log is next."""

from __future__ import annotations

from fauxka.protocol.record_batch import Compression
from fauxka.protocol.records import BatchOptions, Record, build_batch
from fauxka.storage.log_cleaner import LogCleaner
from fauxka.storage.log_config import CleanupPolicy, LogConfig
from fauxka.storage.log_manager import LogManager
from fauxka.storage.memory_file_system import MemoryFileSystem
from fauxka.storage.partition_log import PartitionLog

from ..protocol.batch_bytes import NOW_MS
from .logs import append, read_all, records_in

COMPACT = frozenset({CleanupPolicy.COMPACT})
DELETE_RETENTION_MS = 10_000
# Two or three of the small batches of these tests fit into a segment.
CONFIG = LogConfig(
    cleanup_policies=COMPACT,
    segment_bytes=240,
    index_interval_bytes=1,
    min_cleanable_dirty_ratio=0.0,
    delete_retention_ms=DELETE_RETENTION_MS,
)


class Cluster:
    """One log in memory, and a cleaner of it."""

    def __init__(self, config: LogConfig = CONFIG) -> None:
        self.file_system = MemoryFileSystem()
        self.logs = LogManager(self.file_system)
        self.log = self.logs.create("topic", 0, config, now_ms=NOW_MS)
        self.cleaner = LogCleaner(self.file_system, self.logs)

    def put(self, key: str, value: str | None, **options: int) -> None:
        put(self.log, (key, value), **options)

    def clean(self, now_ms: int = NOW_MS) -> int:
        """Clean until nothing is due, and return how many cleanings that were."""
        return clean(self.cleaner, now_ms)

    def values(self) -> dict[int, tuple[str, str | None]]:
        """Return the records by offset."""
        return {record.offset: pair_of(record) for record in records_in(read_all(self.log))}


def clean(cleaner: LogCleaner, now_ms: int = NOW_MS) -> int:
    count = 0
    while (cleaning := cleaner.begin(now_ms)) is not None:
        count += 1
        assert count < 100, "the same log is due again and again"
        cleaning.run()
        while cleaner.advance(cleaning):
            cleaning.run()
    return count


def put(log: PartitionLog, *pairs: tuple[str, str | None], **options: int) -> None:
    """Append a batch; options are those of the batch's header."""
    batch_records = [Record(None if value is None else value.encode(), key.encode(), NOW_MS) for key, value in pairs]
    codec = Compression(options.pop("codec", 0))
    append(log, build_batch(batch_records, BatchOptions(**options, compression=codec)))


def pair_of(record: Record) -> tuple[str, str | None]:
    assert record.key is not None
    return record.key.decode(), None if record.value is None else record.value.decode()


def roll(log: PartitionLog) -> None:
    """Begin a new segment, so that all batches before it can be cleaned."""
    log.segments.roll(log.log_end_offset, log.config, NOW_MS)


def test_of_each_key_the_last_record_is_kept_with_its_offset() -> None:
    cluster = Cluster()
    for number in range(10):
        cluster.put("ab"[number % 2], str(number))
    roll(cluster.log)

    assert cluster.clean() == 1

    assert cluster.values() == {8: ("a", "8"), 9: ("b", "9")}
    assert cluster.log.log_end_offset == 10


def test_active_segment_is_left_alone() -> None:
    cluster = Cluster(LogConfig(cleanup_policies=COMPACT, min_cleanable_dirty_ratio=0.0))
    for number in range(10):
        cluster.put("a", str(number))

    assert cluster.clean() == 0

    assert len(cluster.values()) == 10
