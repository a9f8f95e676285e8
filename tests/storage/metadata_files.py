"""Decoder of bootstrap.checkpoint and of the metadata records in it, which the product only writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fauxka.protocol.batches.record_batch import BatchHeader
from fauxka.protocol.batches.records import Record, decode_batch
from fauxka.protocol.batches.whole_batches import WholeBatch, whole_batches
from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.snapshot_footer_record import SnapshotFooterRecord
from fauxka.protocol.messages.snapshot_header_record import SnapshotHeaderRecord
from fauxka.protocol.primitives import INT32, Reader
from fauxka.protocol.stored_records.metadata_records import (
    FRAME_VERSION,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    TopicRecord,
)
from fauxka.storage.checkpoints.bootstrap_checkpoint import BootstrapCheckpoint

# Keys of control records: version 0, type 3 or 4.
SNAPSHOT_HEADER = bytes((0, 0, 0, 3))
SNAPSHOT_FOOTER = bytes((0, 0, 0, 4))
UUID_BYTES = 16


class InvalidFile(Exception):
    """The bytes are not a bootstrap.checkpoint."""


def decode_bootstrap_checkpoint(data: bytes) -> BootstrapCheckpoint:
    batches = batches_of(data)
    if len(batches) < 3:
        raise InvalidFile(f"{len(batches)} batches")
    header, *middle, footer = [(batch.header, decode_batch(batch.data)) for batch in batches]
    SnapshotHeaderRecord.read(Reader(control_value(header, SNAPSHOT_HEADER)), 0)
    SnapshotFooterRecord.read(Reader(control_value(footer, SNAPSHOT_FOOTER)), 0)
    return BootstrapCheckpoint(
        records=[decode_metadata_record(record.value or b"") for _, batch in middle for record in batch],
        header_timestamp=header[0].base_timestamp,
        records_timestamp=middle[0][0].base_timestamp,
        footer_timestamp=footer[0].base_timestamp,
    )


def batches_of(data: bytes) -> list[WholeBatch]:
    batches = list(whole_batches(data))
    size = sum(batch.header.size for batch in batches)
    if size != len(data):
        raise InvalidFile(f"no whole batch with a correct CRC at position {size}")
    return batches


def control_value(batch: tuple[BatchHeader, list[Record]], key: bytes) -> bytes:
    header, records = batch
    if not header.is_control or len(records) != 1 or records[0].key != key:
        raise InvalidFile(f"expected one control record of key {key.hex()}")
    return records[0].value or b""


def decode_metadata_record(value: bytes) -> MetadataRecord:
    reader = Reader(value)
    frame_version, record_type, version = (reader.unsigned_varint() for _ in range(3))
    read = READERS.get((record_type, version))
    if frame_version != FRAME_VERSION or read is None:
        raise FrameError(f"frame version {frame_version}, record type {record_type}, version {version} is unknown")
    record = read(reader)
    reader.skip_tagged_fields()
    assert not reader.remaining, f"{reader.remaining} bytes after the end of the record"
    return record


def read_feature_level(reader: Reader) -> FeatureLevelRecord:
    return FeatureLevelRecord(name=reader.compact_string(), feature_level=reader.int16())


def read_topic(reader: Reader) -> TopicRecord:
    return TopicRecord(name=reader.compact_string(), topic_id=reader.uuid())


def read_partition(reader: Reader) -> PartitionRecord:
    return PartitionRecord(
        partition_id=reader.int32(),
        topic_id=reader.uuid(),
        replicas=read_integers(reader),
        isr=read_integers(reader),
        removing_replicas=read_integers(reader),
        adding_replicas=read_integers(reader),
        leader=reader.int32(),
        leader_epoch=reader.int32(),
        partition_epoch=reader.int32(),
        directories=[reader.uuid() for _ in range(reader.array_length(UUID_BYTES, flexible=True))],
    )


def read_config(reader: Reader) -> ConfigRecord:
    return ConfigRecord(
        resource_type=reader.int8(),
        resource_name=reader.compact_string(),
        name=reader.compact_string(),
        value=reader.compact_nullable_string(),
    )


def read_producer_ids(reader: Reader) -> ProducerIdsRecord:
    return ProducerIdsRecord(broker_id=reader.int32(), broker_epoch=reader.int64(), next_producer_id=reader.int64())


def read_integers(reader: Reader) -> list[int]:
    return reader.integer_array(INT32, flexible=True)


READERS: Mapping[tuple[int, int], Callable[[Reader], MetadataRecord]] = {
    (12, 0): read_feature_level,
    (2, 0): read_topic,
    (3, 1): read_partition,
    (4, 0): read_config,
    (15, 0): read_producer_ids,
}
