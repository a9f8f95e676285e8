"""Operations that list the records of a topic, decoded, and wait for records."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from msgspec import Meta, Struct

from ...broker.replica.record_reader import (
    CompressionName,
    StoredRecord,
    TimestampTypeName,
    Transaction,
    read_page,
)
from ...broker.runtime.long_work import for_each
from ...faults.json_bytes import BytesValue, bytes_value_of
from ..control import Control
from ..errors import CallError, WaitTimeoutError
from ..leading_partitions import leading_partitions_of
from ..long_calls import run_long_call
from ..operation import PATIENT, Caller, Operation
from ..paging import INT64_MAX
from .offset_pages import Place, Reading, ReadItems, RecordQuery, place_of_token, read_from, token_of
from .rule_models import AWAIT_TIMEOUT_MS_DEFAULT, AwaitTimeout
from .topic_operations import TAG, TopicPath

# Keys, values and headers of a page, so that its response is small as well. A page has at least one record.
PAGE_BYTES_MAX = 1024 * 1024

# How often a wait counts the records, which takes microseconds.
POLL_SECONDS = 0.01


class RecordHeader(Struct, kw_only=True):
    """A header of a record. value: text if it is UTF-8, else {"base64": ...}; null for null."""

    name: str
    value: str | BytesValue | None


class RecordInfo(Struct, kw_only=True):
    """A record of a log.

    timestamp: in ms; -1 for none. key, value: text if they are UTF-8, else {"base64": ...}; null for null.
    producer_id, producer_epoch, sequence: -1 without a producer. sequence: of this record.
    is_control: whether it is a transaction marker. transaction: none, or the state of its transaction; of a marker its
    result. leader_epoch: in which it was appended.
    """

    partition: int
    offset: int
    timestamp: int
    timestamp_type: TimestampTypeName
    key: str | BytesValue | None
    value: str | BytesValue | None
    headers: list[RecordHeader]
    producer_id: int
    producer_epoch: int
    sequence: int
    is_control: bool
    transaction: Transaction
    compression: CompressionName
    leader_epoch: int


class RecordPage(Struct, kw_only=True):
    """Records sorted by partition and offset."""

    items: list[RecordInfo]
    next: str | None


async def list_records(control: Control, path: TopicPath, query: RecordQuery) -> RecordPage:
    """List the records of a topic, decoded, by partition and offset.

    A page ends early after 1 MiB of keys, values and headers. Transaction markers are records too (is_control).
    """
    start = place_of_token(query.since) if query.since else None

    async def work() -> RecordPage:
        read = await _read(control, path, query, start)
        items = await for_each(record_info, read.items)
        return RecordPage(items=items, next=None if read.next_place is None else token_of(read.next_place))

    return await run_long_call(control, work())


class RecordsAwait(Struct, kw_only=True, forbid_unknown_fields=True):
    """The number of records to wait for, and the timeout of the wait, in real time."""

    count: Annotated[int, Meta(ge=1, le=INT64_MAX, description="The number of records to wait for.")] = 1
    timeout_ms: AwaitTimeout = AWAIT_TIMEOUT_MS_DEFAULT


class RecordCount(Struct, kw_only=True):
    """The number of records of a topic."""

    count: int


async def await_records(
    control: Control, path: TopicPath, query: RecordsAwait, caller: Caller = PATIENT
) -> RecordCount:
    """Wait until a topic has count records that its replicas have; 408 with their number after the timeout.

    Counted are the offsets from the log start to the high watermark of each partition, those of transaction markers
    and of open and aborted transactions too. The topic may be created during the wait.
    """
    disconnected = asyncio.ensure_future(caller.disconnected())
    until = time.monotonic() + query.timeout_ms / 1000
    try:
        while (count := _count_records(control, path.topic)) < query.count:
            if time.monotonic() >= until:
                message = f"{count} of {query.count} records of {path.topic} after {query.timeout_ms} ms"
                raise WaitTimeoutError(message, count, [])
            if disconnected.done():
                raise CallError(503, "the broker is stopping")
            await asyncio.sleep(POLL_SECONDS)
    finally:
        disconnected.cancel()
    return RecordCount(count=count)


def _count_records(control: Control, name: str) -> int:
    logs = (partition.find_log() for partition in leading_partitions_of(control.cluster, name))
    return sum(max(0, log.high_watermark - log.log_start_offset) for log in logs if log is not None)


async def _read(control: Control, path: TopicPath, query: RecordQuery, start: Place | None) -> ReadItems[StoredRecord]:
    """Return the first records of the query from start on. Raises CallError."""
    return await read_from(control, path, query, start, Reading(read_page, PAGE_BYTES_MAX))


def record_info(record: StoredRecord) -> RecordInfo:
    """Return the model of a record."""
    return RecordInfo(
        partition=record.partition,
        offset=record.offset,
        timestamp=record.timestamp,
        timestamp_type=record.timestamp_type,
        key=_bytes_value(record.key),
        value=_bytes_value(record.value),
        headers=[RecordHeader(name=name, value=_bytes_value(value)) for name, value in record.headers],
        producer_id=record.producer_id,
        producer_epoch=record.producer_epoch,
        sequence=record.sequence,
        is_control=record.is_control,
        transaction=record.transaction,
        compression=record.compression,
        leader_epoch=record.leader_epoch,
    )


def _bytes_value(data: bytes | None) -> str | BytesValue | None:
    return None if data is None else bytes_value_of(data)


OPERATIONS = (
    Operation(method="GET", path="/v1/topics/{topic}/records", perform=list_records, tag=TAG, errors=(404, 409)),
    Operation(method="GET", path="/v1/topics/{topic}/records/await", perform=await_records, tag=TAG, errors=(408, 503)),
)
