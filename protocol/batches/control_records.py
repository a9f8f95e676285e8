"""Transaction markers: the control batches that end a transaction in a partition.

A marker is a control batch of one record. Key: version int16 (0), type int16. Value: version int16 (0), coordinator
epoch int32. The batch has the producer's id, the marker's epoch and no sequence.
Source: ControlRecordType, EndTransactionMarker and MemoryRecords.withEndTransactionMarker, Kafka 4.3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, error

from .record_batch import COMPRESSION_MASK, BatchHeader
from .record_validation import InvalidRecords
from .records import BatchOptions, Record, build_batch, iterate_fields, records_data

_VERSION = 0
_KEY = Struct(">hh")
_VALUE = Struct(">hi")

# Control types. The others are only in the log of KRaft.
_ABORT = 0
_COMMIT = 1


@dataclass(frozen=True, slots=True)
class EndTransactionMarker:
    """The result of a transaction, and the epoch of the coordinator that wrote the marker."""

    is_commit: bool
    coordinator_epoch: int


def decode_marker(header: BatchHeader, batch: memoryview | bytes) -> EndTransactionMarker | None:
    """Return the marker in a stored control batch; None if the batch has none.

    Log cleaning empties the batch after it has removed the transaction. A record of another type, or one that does not
    decode, is no marker either. As in Kafka, versions above 0 are read as 0.
    """
    # Kafka never compresses a control batch.
    if header.records_count < 1 or header.attributes & COMPRESSION_MASK or not header.is_control:
        return None
    try:
        data, position = records_data(header, batch)
        fields = next(iterate_fields(header, data, position))
        key_version, control_type = _KEY.unpack_from(data, fields.key_position)
        value_version, coordinator_epoch = _VALUE.unpack_from(data, fields.value_position)
    except (InvalidRecords, IndexError, error):
        return None
    is_whole = fields.key_size >= _KEY.size and fields.value_size >= _VALUE.size
    if not is_whole or key_version < 0 or value_version < 0 or control_type not in (_ABORT, _COMMIT):
        return None
    return EndTransactionMarker(control_type == _COMMIT, coordinator_epoch)


def build_marker_batch(marker: EndTransactionMarker, *, producer_id: int, producer_epoch: int, timestamp: int) -> bytes:
    """Return the batch that ends the producer's transaction. The log sets base offset and leader epoch.

    timestamp: of the coordinator's decision in ms, for any timestamp type of the topic.
    """
    record = Record(
        key=_KEY.pack(_VERSION, _COMMIT if marker.is_commit else _ABORT),
        value=_VALUE.pack(_VERSION, marker.coordinator_epoch),
        timestamp=timestamp,
    )
    options = BatchOptions(
        producer_id=producer_id, producer_epoch=producer_epoch, is_transactional=True, is_control=True
    )
    return build_batch([record], options)
