"""Codec of bootstrap.checkpoint: the metadata records that Kafka reads at its first start-up on a data folder.

Three batches: a control batch that opens the snapshot, the records, a control batch that closes it. Kafka copies the
records to its metadata log if that is empty. A folder with topics needs no other metadata file for Kafka to serve it.
Source: BootstrapDirectory and RecordsSnapshotWriter, Kafka 4.3.0; the file in tests/golden/kafka-4.3.0-data-dir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct

from ...protocol.batches.records import BatchOptions, Record, build_batch
from ...protocol.messages.snapshot_footer_record import SnapshotFooterRecord
from ...protocol.messages.snapshot_header_record import SnapshotHeaderRecord
from ...protocol.primitives import Writer
from ...protocol.stored_records.metadata_records import (
    FeatureLevelRecord,
    MetadataRecord,
    encode_metadata_record,
)

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
