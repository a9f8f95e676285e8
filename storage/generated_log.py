"""A log that has a made record at each offset, for load tests of consumers (fauxka.records=generated).

- The number of a record is its offset modulo batch_records. Its value is the number in decimal, filled up with zeros
  on the left to value_bytes, of which the last ones count. Its key is the number modulo keys, in decimal.
- Its timestamp is FIRST_TIMESTAMP_MS plus its offset.
- All batches have the same records, which are made once. A read makes the header of each batch, with its offset, its
  timestamps and its CRC, and copies no record.
- Nothing can be appended or deleted, so every replica has the same log without a copy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Never

from ..protocol.batches.record_batch import HEADER_SIZE, parse_header, sealed_header
from ..protocol.batches.records import Record, build_batch
from ..protocol.error_codes import ErrorCode
from .append_refused import AppendRefused
from .file_systems.memory_file_system import MemoryFileSystem
from .leader_epoch_cache import EpochEndOffset
from .log_loader import LogLocation
from .partition_log import PartitionLog
from .producers.emulated_version import EmulatedVersion
from .segments.log_segments import FetchedRecords, TimestampOffset

if TYPE_CHECKING:
    from .append_result import AppendResult
    from .coordinator_batch import CoordinatorBatch
    from .log_config import GeneratedRecords, LogConfig
    from .log_validator import ValidatedBatch

# 2020-01-01. Records are a millisecond apart.
FIRST_TIMESTAMP_MS = 1_577_836_800_000
# Batches that partitions and topics of the same kind share.
BATCHES_MAX = 8


class GeneratedLog(PartitionLog):
    """The log of one partition. Its files, which are in memory, stay empty."""

    def __init__(self, topic_name: str, partition: int, config: LogConfig) -> None:
        """config: has the number and the size of the records."""
        location = LogLocation(MemoryFileSystem(), topic_name, partition, EmulatedVersion.latest())
        super().__init__(location, config, now_ms=FIRST_TIMESTAMP_MS)
        batch = _batch_of(config.generated)
        self._batch_records = config.generated.batch_records
        self._header, self._payload = parse_header(batch), memoryview(batch)[HEADER_SIZE:]
        self.log_end_offset = -(-config.generated.count // self._batch_records) * self._batch_records

    @property
    def high_watermark(self) -> int:
        """The log end: every replica has all records."""
        return self.log_end_offset

    def read(self, offset: int, max_bytes: int, *, upper_offset: int, min_one_batch: bool) -> FetchedRecords:
        """Return whole batches; arguments and exceptions are those of PartitionLog.read."""
        self.check_offset(offset)
        first = offset - offset % self._batch_records
        room = max(max_bytes, self._header.size) if min_one_batch else max_bytes
        count = min(room // self._header.size, (upper_offset - first) // self._batch_records)
        views: list[memoryview] = []
        for base_offset in range(first, first + count * self._batch_records, self._batch_records):
            views += (memoryview(self._header_at(base_offset)), self._payload)
        return FetchedRecords(views, max(count, 0) * self._header.size)

    def _header_at(self, base_offset: int) -> bytes:
        timestamp = FIRST_TIMESTAMP_MS + base_offset
        header = self._header.replaced(
            base_offset=base_offset,
            partition_leader_epoch=0,
            base_timestamp=timestamp,
            max_timestamp=timestamp + self._batch_records - 1,
        )
        return sealed_header(header, self._payload)

    def offset_for_timestamp(self, timestamp_ms: int, *, is_on_brokers_clock: bool = False) -> TimestampOffset | None:
        """Return the first record with a timestamp of at least timestamp_ms, or None."""
        offset = max(0, timestamp_ms - FIRST_TIMESTAMP_MS)
        return TimestampOffset(FIRST_TIMESTAMP_MS + offset, offset, 0) if offset < self.log_end_offset else None

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """Return the last record."""
        return self.offset_for_timestamp(FIRST_TIMESTAMP_MS + self.log_end_offset - 1)

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEndOffset:
        """Return the log end: no replica has left the log of another one."""
        return EpochEndOffset(leader_epoch, self.log_end_offset)

    def assign_leader_epoch(self, leader_epoch: int) -> None:
        """Leave the log as it is in every epoch."""

    def append(
        self,
        records: bytes | memoryview,
        *,
        now_ms: int,
        leader_epoch: int,
        ahead_ms: int = 0,
        validated: ValidatedBatch | None = None,
    ) -> AppendResult:
        """Raise AppendRefused POLICY_VIOLATION."""
        self._refuse(ErrorCode.POLICY_VIOLATION)

    def append_coordinated(self, coordinated: CoordinatorBatch, *, now_ms: int, leader_epoch: int) -> AppendResult:
        """Raise AppendRefused UNKNOWN_TOPIC_OR_PARTITION, after which a transaction ends without a marker here."""
        self._refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def delete_records_before(self, offset: int) -> int:
        """Raise AppendRefused POLICY_VIOLATION."""
        self._refuse(ErrorCode.POLICY_VIOLATION)

    def _refuse(self, code: ErrorCode) -> Never:
        raise AppendRefused(code, f"fauxka.records of {self.topic_partition} is generated: its records cannot change")


@lru_cache(maxsize=BATCHES_MAX)
def _batch_of(generated: GeneratedRecords) -> bytes:
    return build_batch([_record(number, generated) for number in range(generated.batch_records)])


def _record(number: int, generated: GeneratedRecords) -> Record:
    value = str(number).zfill(generated.value_bytes)[-generated.value_bytes :] if generated.value_bytes else ""
    key = str(number % generated.keys).encode() if generated.keys else None
    return Record(value.encode(), key, FIRST_TIMESTAMP_MS + number)
