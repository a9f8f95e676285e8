"""Test helper: logs in memory and batches appended to them."""

from __future__ import annotations

from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.batches.records import Record, decode_batch
from fauxka.storage.append_result import AppendResult
from fauxka.storage.file_systems.file_system import FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_config import LogConfig
from fauxka.storage.log_loader import LogLocation
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ..protocol.batch_bytes import NOW_MS, batch, record, records


def new_log(
    config: LogConfig | None = None, *, version: str = "4.3", file_system: FileSystem | None = None
) -> PartitionLog:
    place = LogLocation(file_system or MemoryFileSystem(), "topic", 0, EmulatedVersion.parse(version))
    return PartitionLog(place, config or LogConfig(), now_ms=NOW_MS)


def append(log: PartitionLog, data: bytes, *, now_ms: int = NOW_MS, leader_epoch: int = 0) -> AppendResult:
    return log.append(memoryview(data), now_ms=now_ms, leader_epoch=leader_epoch)


def produce(
    log: PartitionLog,
    base_sequence: int,
    count: int = 1,
    *,
    producer_id: int = 7,
    producer_epoch: int = 0,
    timestamp: int = NOW_MS,
    value: bytes = b"v",
) -> AppendResult:
    """Append a batch of an idempotent producer."""
    data = batch(
        records(count, value),
        count=count,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        base_timestamp=timestamp,
    )
    return append(log, data)


def sized_batch(size: int, *, timestamp: int = NOW_MS) -> bytes:
    """Return a batch of one record that has exactly size bytes."""
    for room in range(size - 61, 0, -1):
        data = batch(record(bytes(room)), base_timestamp=timestamp)
        if len(data) == size:
            return data
    raise AssertionError(f"no batch has {size} bytes")


def read_bytes(log: PartitionLog, offset: int = 0, max_bytes: int = 10**9) -> bytes:
    """Return the bytes of a fetch from offset on."""
    fetched = log.read(offset, max_bytes, upper_offset=log.high_watermark, min_one_batch=True)
    data = b"".join(fetched.views)
    assert len(data) == fetched.size
    return data


def read_all(log: PartitionLog) -> bytes:
    """Return every batch from the log start to the log end, fetched segment by segment."""
    data, offset = b"", log.log_start_offset
    while offset < log.log_end_offset:
        more = read_bytes(log, offset)
        data += more
        offset = parse_header(batches_in(more)[-1]).last_offset + 1
    return data


def batches_in(data: bytes) -> list[bytes]:
    """Split data into batches."""
    found: list[bytes] = []
    while data:
        size = 12 + int.from_bytes(data[8:12], "big")
        found.append(data[:size])
        data = data[size:]
    return found


def records_in(data: bytes) -> list[Record]:
    """Return the records of all batches in data."""
    return [each for one in batches_in(data) for each in decode_batch(one)]
