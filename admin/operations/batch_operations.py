"""Operation that lists the headers of the batches in the log of a topic, without decoding records."""

from __future__ import annotations

from functools import partial

from msgspec import Struct

from ...broker.replica.batch_reader import read_headers
from ...broker.replica.partition import Partition
from ...broker.replica.record_reader import LogPage, OffsetRange, TimestampTypeName
from ...protocol.batches.record_batch import (
    COMPRESSION_MASK,
    DELETE_HORIZON_BIT,
    BatchHeader,
    Compression,
    TimestampType,
)
from ..control import Control
from ..long_calls import run_long_call
from ..operation import Operation
from .offset_pages import Reading, RecordQuery, place_of_token, read_from, token_of
from .topic_operations import TAG, TopicPath

# The bytes of the batches whose headers a page has, because the log is read batch by batch.
PAGE_BYTES_MAX = 64 * 1024 * 1024
COMPRESSION_NAMES = {codec.value: codec.name.lower() for codec in Compression}


class BatchAttributes(Struct, kw_only=True):
    """The attributes of a batch by their bits. compression: "unknown" for a codec that Kafka does not have."""

    compression: str
    timestamp_type: TimestampTypeName
    is_transactional: bool
    is_control: bool
    has_delete_horizon: bool


class BatchHeaderInfo(Struct, kw_only=True):
    """The header of a batch of magic 2, by Kafka's names, as the log has it.

    batch_length: the bytes after this field. crc: CRC-32C of the bytes from the attributes on; not checked.
    attributes: as a number, and decoded. base_timestamp, max_timestamp: in ms.
    producer_id, producer_epoch, base_sequence: -1 without a producer.
    """

    partition: int
    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    decoded_attributes: BatchAttributes
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int


class BatchPage(Struct, kw_only=True):
    """Headers of batches sorted by partition and offset."""

    items: list[BatchHeaderInfo]
    next: str | None


async def list_batches(control: Control, path: TopicPath, query: RecordQuery) -> BatchPage:
    """List the headers of the batches in the log, by partition and offset, without decoding records.

    The first batch is the one with from_offset, the last one that with to_offset. A page ends early after batches of
    64 MiB. CRCs are not checked.
    """
    start = place_of_token(query.since) if query.since else None

    async def work() -> BatchPage:
        read = await read_from(control, path, query, start, Reading(_read_page, PAGE_BYTES_MAX))
        return BatchPage(items=read.items, next=None if read.next_place is None else token_of(read.next_place))

    return await run_long_call(control, work())


async def _read_page(partition: Partition, offsets: OffsetRange, limit: int, size_max: int) -> LogPage[BatchHeaderInfo]:
    page = await read_headers(partition, offsets, limit, size_max)
    items = list(map(partial(batch_header_info, partition.index), page.items))
    return LogPage(items, page.next_offset, page.size)


def batch_header_info(partition: int, header: BatchHeader) -> BatchHeaderInfo:
    """Return the model of a header."""
    is_create_time = header.timestamp_type is TimestampType.CREATE_TIME
    return BatchHeaderInfo(
        partition=partition,
        base_offset=header.base_offset,
        batch_length=header.length,
        partition_leader_epoch=header.partition_leader_epoch,
        magic=header.magic,
        crc=header.crc,
        attributes=header.attributes,
        decoded_attributes=BatchAttributes(
            compression=COMPRESSION_NAMES.get(header.attributes & COMPRESSION_MASK, "unknown"),
            timestamp_type="CreateTime" if is_create_time else "LogAppendTime",
            is_transactional=header.is_transactional,
            is_control=header.is_control,
            has_delete_horizon=header.attributes & DELETE_HORIZON_BIT != 0,
        ),
        last_offset_delta=header.last_offset_delta,
        base_timestamp=header.base_timestamp,
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        records_count=header.records_count,
    )


OPERATIONS = (
    Operation(method="GET", path="/v1/topics/{topic}/batches", perform=list_batches, tag=TAG, errors=(404, 409)),
)
