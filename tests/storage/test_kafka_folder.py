"""The folder of a real broker: its names, logs and indexes are decoded and encoded byte for byte.

Its other files: test_checkpoint_files, test_producer_snapshot, test_bootstrap_checkpoint.
"""

from __future__ import annotations

import pytest

from fauxka.protocol.batches.control_records import build_marker_batch, decode_marker
from fauxka.protocol.batches.record_batch import (
    COMPRESSION_MASK,
    HEADER_SIZE,
    PREFIX_SIZE,
    TimestampType,
    sealed_header,
    stamped_prefix,
)
from fauxka.protocol.batches.records import decode_batch, encode_record, records_data
from fauxka.protocol.batches.whole_batches import WholeBatch, whole_batches
from fauxka.storage.checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
)
from fauxka.storage.file_systems.file_system import File
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_files import (
    INDEX_SUFFIX,
    LOG_SUFFIX,
    SNAPSHOT_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    base_offset_of,
    partition_of,
    segment_path,
)
from fauxka.storage.segments.offset_index import OffsetIndex
from fauxka.storage.segments.time_index import TimeIndex
from fauxka.storage.segments.transaction_index import TransactionIndex

from .kafka_folder import KAFKA_FOLDER, kafka_bytes, kafka_files

# The default of segment.index.bytes.
INDEX_BYTES = 10 * 1024 * 1024

SUFFIXES = (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX, SNAPSHOT_SUFFIX)
FILES_OF_LOGS = {
    "bootstrap.checkpoint",
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
}


def real_files(path: str) -> tuple[MemoryFileSystem, int]:
    """Return a file system with the real file at path, and the base offset in its name."""
    files = MemoryFileSystem()
    files.open(path).append(kafka_bytes(path), b"")
    name = path.rpartition("/")[2]
    base_offset = base_offset_of(name, name[20:])
    assert base_offset is not None
    return files, base_offset


def content_of(file: File) -> bytes:
    return bytes(file.read(0, file.size))


def test_every_file_name_in_the_folder_is_recognised() -> None:
    folders = {path.name: partition_of(path.name) for path in KAFKA_FOLDER.iterdir() if path.is_dir()}

    assert folders == {
        "__transaction_state-0": ("__transaction_state", 0),
        "__transaction_state-1": ("__transaction_state", 1),
        "compacted-0": ("compacted", 0),
        "demo-0": ("demo", 0),
    }
    assert {path.name for path in KAFKA_FOLDER.iterdir() if path.is_file()} == FILES_OF_LOGS


@pytest.mark.parametrize("path", kafka_files("*-*/*"))
def test_every_file_of_a_partition_has_the_same_name_as_in_fauxka(path: str) -> None:
    folder, _, name = path.partition("/")
    if name in (LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA):
        return

    bases = {suffix: base_offset_of(name, suffix) for suffix in SUFFIXES}

    named = [segment_path(folder, base, suffix) for suffix, base in bases.items() if base is not None]
    assert named == [path]


def written_again(batch: WholeBatch) -> bytes:
    header, data = batch
    assert header.timestamp_type is TimestampType.CREATE_TIME, "times that are not the log's are in the records"
    records = b"".join(
        encode_record(record, record.offset - header.base_offset, record.timestamp - header.base_timestamp)
        for record in decode_batch(data)
    )
    real_records, position = records_data(header, data)
    assert records == real_records[position:]
    # The output of a codec is not compared: one batch uses gzip.
    payload = data[HEADER_SIZE:] if header.attributes & COMPRESSION_MASK else records
    return sealed_header(header.replaced(length=0, crc=0), payload) + payload


@pytest.mark.parametrize("path", [*kafka_files("*.log"), "bootstrap.checkpoint"])
def test_every_batch_is_encoded_byte_for_byte(path: str) -> None:
    data = kafka_bytes(path)

    assert b"".join(map(written_again, whole_batches(data))) == data


def test_every_marker_is_encoded_byte_for_byte() -> None:
    control_batches = [
        batch for path in kafka_files("*.log") for batch in whole_batches(kafka_bytes(path)) if batch.header.is_control
    ]

    built: list[bytes] = []
    for header, data in control_batches:
        marker = decode_marker(header, data)
        assert marker is not None
        again = build_marker_batch(
            marker,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            timestamp=header.max_timestamp,
        )
        prefix = stamped_prefix(header.base_offset, header.length, header.partition_leader_epoch)
        built.append(prefix + again[PREFIX_SIZE:])

    assert len(built) == 2
    assert built == [bytes(batch.data) for batch in control_batches]


@pytest.mark.parametrize("path", kafka_files("*.index"))
def test_offset_index_is_encoded_byte_for_byte(path: str) -> None:
    files, base_offset = real_files(path)
    real = OffsetIndex(files, path, base_offset, INDEX_BYTES)
    index = OffsetIndex(files, "again-0/index", base_offset, INDEX_BYTES)

    for relative_offset, position in (real.file.entry(number) for number in range(real.file.count)):
        index.append(base_offset + relative_offset, position)
    index.file.seal()

    assert content_of(files.open("again-0/index")) == kafka_bytes(path)


@pytest.mark.parametrize("path", kafka_files("*.timeindex"))
def test_time_index_is_encoded_byte_for_byte(path: str) -> None:
    files, base_offset = real_files(path)
    real = TimeIndex(files, path, base_offset, INDEX_BYTES)
    index = TimeIndex(files, "again-0/index", base_offset, INDEX_BYTES)

    for timestamp, relative_offset in (real.file.entry(number) for number in range(real.file.count)):
        index.append(timestamp, base_offset + relative_offset)
    index.file.seal()

    assert content_of(files.open("again-0/index")) == kafka_bytes(path)


@pytest.mark.parametrize("path", kafka_files("*.txnindex"))
def test_transaction_index_is_encoded_byte_for_byte(path: str) -> None:
    files, base_offset = real_files(path)
    real = TransactionIndex(files, path)
    real.check(base_offset)
    index = TransactionIndex(files, "again-0/index")

    for transaction in real.entries():
        index.append(transaction)

    assert content_of(files.open("again-0/index")) == kafka_bytes(path)
