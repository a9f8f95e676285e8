"""Codec of bootstrap.checkpoint: the metadata records that Kafka reads at its first start-up on a data folder.

Three batches: a control batch that opens the snapshot, the records, a control batch that closes it. Kafka copies the
records to its metadata log if that is empty. A folder with topics needs no other metadata file for Kafka to serve it.
Source: BootstrapDirectory and RecordsSnapshotWriter, Kafka 4.3.0; the file in tests/golden/kafka-4.3.0-data-dir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct

from ...protocol.batches.compression import BrokenPayload
from ...protocol.batches.record_batch import BatchHeader
from ...protocol.batches.record_validation import InvalidRecords
from ...protocol.batches.records import BatchOptions, Record, build_batch, decode_batch
from ...protocol.batches.whole_batches import WholeBatch, whole_batches
from ...protocol.frames import FrameError
from ...protocol.messages.snapshot_footer_record import SnapshotFooterRecord
from ...protocol.messages.snapshot_header_record import SnapshotHeaderRecord
from ...protocol.primitives import Reader, Writer
from ...protocol.stored_records.metadata_records import (
    FeatureLevelRecord,
    MetadataRecord,
    decode_metadata_record,
    encode_metadata_record,
)
from ..corrupt_file import CorruptFileError

BOOTSTRAP_CHECKPOINT = "bootstrap.checkpoint"

# The features that a new Kafka 4.3.0 cluster finalizes, in the order in which it writes them.
FEATURES_OF_4_3 = (
    FeatureLevelRecord(name="metadata.version", feature_level=30),
    FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1),
    FeatureLevelRecord(name="group.version", feature_level=1),
    FeatureLevelRecord(name="share.version", feature_level=1),
    FeatureLevelRecord(name="streams.version", feature_level=1),
    FeatureLevelRecord(name="transaction.version", feature_level=2),
)

# The key of a control record: version 0 and its type.
_CONTROL_KEY = Struct(">hh")
_SNAPSHOT_HEADER = _CONTROL_KEY.pack(0, 3)
_SNAPSHOT_FOOTER = _CONTROL_KEY.pack(0, 4)
_SNAPSHOT_RECORD_VERSION = 0
_LEADER_EPOCH = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapCheckpoint:
    """The records of the file and the timestamps of its three batches (milliseconds)."""

    records: Sequence[MetadataRecord]
    header_timestamp: int
    records_timestamp: int
    footer_timestamp: int


def encode_bootstrap_checkpoint(checkpoint: BootstrapCheckpoint) -> bytes:
    """Return the content of the file."""
    header, footer = Writer(), Writer()
    SnapshotHeaderRecord().write(header, _SNAPSHOT_RECORD_VERSION)
    SnapshotFooterRecord().write(footer, _SNAPSHOT_RECORD_VERSION)
    records = [
        Record(encode_metadata_record(record), timestamp=checkpoint.records_timestamp) for record in checkpoint.records
    ]
    return (
        _control_batch(0, Record(header.getvalue(), _SNAPSHOT_HEADER, checkpoint.header_timestamp))
        + build_batch(records, BatchOptions(base_offset=1, partition_leader_epoch=_LEADER_EPOCH))
        + _control_batch(1 + len(records), Record(footer.getvalue(), _SNAPSHOT_FOOTER, checkpoint.footer_timestamp))
    )


def _control_batch(base_offset: int, record: Record) -> bytes:
    options = BatchOptions(base_offset=base_offset, is_control=True, partition_leader_epoch=_LEADER_EPOCH)
    return build_batch([record], options)


def decode_bootstrap_checkpoint(data: bytes) -> BootstrapCheckpoint:
    """Decode the file; raises CorruptFileError."""
    batches = _batches_of(data)
    try:
        header, *middle, footer = [(batch.header, decode_batch(batch.data)) for batch in batches]
        if not middle:
            raise CorruptFileError("no batch of metadata records")
        _check_control(header, _SNAPSHOT_HEADER)
        _check_control(footer, _SNAPSHOT_FOOTER)
        SnapshotHeaderRecord.read(Reader(header[1][0].value or b""), _SNAPSHOT_RECORD_VERSION)
        SnapshotFooterRecord.read(Reader(footer[1][0].value or b""), _SNAPSHOT_RECORD_VERSION)
        records = [decode_metadata_record(record.value or b"") for _, batch in middle for record in batch]
    except (FrameError, InvalidRecords, BrokenPayload, IndexError, ValueError) as error:
        raise CorruptFileError(f"{BOOTSTRAP_CHECKPOINT}: {error}") from error
    return BootstrapCheckpoint(
        records=records,
        header_timestamp=header[0].base_timestamp,
        records_timestamp=middle[0][0].base_timestamp,
        footer_timestamp=footer[0].base_timestamp,
    )


def _batches_of(data: bytes) -> list[WholeBatch]:
    """Return the batches of the file; raises CorruptFileError if anything else is in it."""
    batches = list(whole_batches(data))
    size = sum(batch.header.size for batch in batches)
    if size != len(data):
        raise CorruptFileError(f"{BOOTSTRAP_CHECKPOINT}: no whole batch with a correct CRC at position {size}")
    return batches


def _check_control(batch: tuple[BatchHeader, list[Record]], key: bytes) -> None:
    header, records = batch
    if not header.is_control or len(records) != 1 or records[0].key != key:
        raise CorruptFileError(f"{BOOTSTRAP_CHECKPOINT}: expected one control record of key {key.hex()}")
