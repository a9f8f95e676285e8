"""The expected rows of both views, from the plain decoder of the protocol."""

from collections.abc import Iterator
from typing import Any

from fauxka.pipeline.decode.decoder import Decoder
from fauxka.pipeline.decode.id_hashes import HashedId, HashSet
from fauxka.pipeline.decode.row_source import OFFSET_MAX, RowSource
from fauxka.pipeline.decode.views import ViewName, columns_of
from fauxka.protocol.batches.record_batch import DELETE_HORIZON_BIT, BatchHeader, Compression, parse_header
from fauxka.protocol.batches.records import Record, decode_batch
from fauxka.protocol.sequences import increment_sequence

Row = dict[str, Any]

TOPIC = "a-topic"
PARTITION = 3


def batches_in(data: bytes) -> Iterator[tuple[int, BatchHeader, bytes]]:
    """Yield position, header and bytes of each batch of an undamaged file."""
    position = 0
    while position < len(data):
        header = parse_header(data, position)
        yield position, header, data[position : position + header.size]
        position += header.size


def plain_records(data: bytes) -> list[Row]:
    """Return the records view, timestamps in milliseconds."""
    return [
        _record_row(header, record)
        for _, header, batch in batches_in(data)
        # What cleaning has emptied has no records, and nothing that its codec could read either.
        if header.records_count
        for record in decode_batch(batch)
    ]


def _record_row(header: BatchHeader, record: Record) -> Row:
    delta = record.offset - header.base_offset
    return {
        "topic": TOPIC,
        "partition": PARTITION,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": int(header.timestamp_type),
        "key": record.key,
        "value": record.value,
        "headers": [{"key": key, "value": value} for key, value in record.headers] or None,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "sequence": increment_sequence(header.base_sequence, delta) if header.base_sequence >= 0 else -1,
        "base_sequence": header.base_sequence,
        "batch_base_offset": header.base_offset,
        "is_transactional": header.is_transactional,
        "is_control": header.is_control,
        "leader_epoch": header.partition_leader_epoch,
        "codec": Compression(header.attributes & 7).name.lower(),
        "valid_crc": True,
        "damage": None,
    }


def plain_batches(data: bytes) -> list[Row]:
    """Return the batches view without the columns about markers, timestamps in milliseconds."""
    return [_batch_row(position, header) for position, header, _ in batches_in(data)]


def _batch_row(position: int, header: BatchHeader) -> Row:
    return {
        "topic": TOPIC,
        "partition": PARTITION,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "leader_epoch": header.partition_leader_epoch,
        "magic": header.magic,
        "crc": header.crc,
        "attributes": header.attributes,
        "codec": Compression(header.attributes & 7).name.lower(),
        "timestamp_type": int(header.timestamp_type),
        "is_transactional": header.is_transactional,
        "is_control": header.is_control,
        "has_delete_horizon": header.attributes & DELETE_HORIZON_BIT != 0,
        "last_offset_delta": header.last_offset_delta,
        "base_timestamp": header.base_timestamp,
        "max_timestamp": header.max_timestamp,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "records_count": header.records_count,
        "batch_bytes": header.size,
        "valid_crc": True,
        "damage": None,
        "file": "a-file",
        "position": position,
    }


def decoded(
    data: bytes,
    view: ViewName,
    *,
    base_offset: int = 0,
    start_offset: int = 0,
    end_offset: int = OFFSET_MAX,
    is_first: bool = True,
    hashed: HashedId | None = None,
    wanted: HashSet | None = None,
) -> list[Row]:
    """Return the rows of the vectorised decoder for a file, timestamps in milliseconds."""
    source = RowSource(TOPIC, PARTITION, "a-file", 0, base_offset, start_offset, end_offset, is_first)
    columns = columns_of(view)
    milliseconds = [replace_kind(column.kind) for column in columns]
    decoder = Decoder(
        view,
        [type(column)(column.name, kind) for column, kind in zip(columns, milliseconds, strict=True)],
        hashed,
        wanted,
    )
    return [row for batch in decoder.decode(memoryview(data), source) for row in batch.to_pylist()]


def replace_kind(kind: str) -> str:
    """Return the type for comparison; Python's datetime cannot hold all timestamps that Hypothesis draws."""
    return "bigint" if kind == "timestamp" else kind
