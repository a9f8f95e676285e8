"""Operation that lists the records of a topic, decoded, and the same for callers in the broker's own process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct

from ...broker.metadata.metadata_image import TopicImage
from ...broker.replica.partition import Partition
from ...broker.replica.record_reader import (
    CompressionName,
    OffsetRange,
    RecordsPage,
    StoredRecord,
    TimestampTypeName,
    Transaction,
    UnreadableError,
    read_page,
)
from ...broker.runtime.long_work import Steps, for_each
from ...faults.json_bytes import BytesValue, bytes_value_of
from ...protocol.error_codes import KafkaError
from ..control import Control
from ..errors import CallError, conflict
from ..leading_partitions import leading_partition_of
from ..long_calls import run_steps
from ..operation import Operation
from ..paging import INT64_MAX, LIMIT_DEFAULT, LIMIT_MAX, Limit, make_token, split_token
from .topic_operations import TAG, TopicPath, topic_of

# Keys, values and headers of a page, so that its response is small as well. A page has at least one record.
PAGE_BYTES_MAX = 1024 * 1024
# Records that one call in process returns, if the caller sets no limit. More would be read by mistake.
RECORDS_MAX = 100_000
TOKEN_CHARACTERS_MAX = 100

Offset = Annotated[int, Meta(ge=0, le=INT64_MAX)]
PartitionIndex = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class RecordQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The records to list: of one partition or of all, with these offsets, both included."""

    partition: PartitionIndex | None = None
    from_offset: Offset = 0
    to_offset: Offset = INT64_MAX
    since: Annotated[str, Meta(max_length=TOKEN_CHARACTERS_MAX, description="The `next` of the previous page.")] = ""
    limit: Limit = LIMIT_DEFAULT


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


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a record in a topic."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class _ReadRecords:
    """Records of one or more partitions. next_place: of the first record after them; None at the end."""

    records: list[StoredRecord]
    next_place: Place | None


async def list_records(control: Control, path: TopicPath, query: RecordQuery) -> RecordPage:
    """List the records of a topic, decoded, by partition and offset.

    A page ends early after 1 MiB of keys, values and headers. Transaction markers are records too (is_control).
    """
    start = _place_of_token(query.since) if query.since else None

    def steps() -> Steps[RecordPage]:
        read = yield from _read(control, path, query, start)
        items = yield from for_each(_record_info, read.records)
        return RecordPage(items=items, next=None if read.next_place is None else _token(read.next_place))

    return await run_steps(control, steps())


async def read_records(control: Control, path: TopicPath, query: RecordQuery, limit: int | None) -> list[StoredRecord]:
    """Return the records of a topic in process, page by page; the since and limit of query are ignored.

    limit: at most so many; None for all. Raises CallError 400 if all are more than RECORDS_MAX.
    """
    records: list[StoredRecord] = []
    wanted = RECORDS_MAX + 1 if limit is None else limit
    place: Place | None = None
    while len(records) < wanted:
        query.limit = min(LIMIT_MAX, wanted - len(records))
        read = await run_steps(control, _read(control, path, query, place))
        records += read.records
        place = read.next_place
        if place is None:
            return records
    if limit is None:
        message = (
            f"{path.topic} has more than {RECORDS_MAX} such records: set limit, partition, from_offset or to_offset"
        )
        raise CallError(400, message, field="limit", value=None, allowed="an integer")
    return records


def _read(control: Control, path: TopicPath, query: RecordQuery, start: Place | None) -> Steps[_ReadRecords]:
    """Return the first records of the query from start on. Raises CallError."""
    records: list[StoredRecord] = []
    room = PAGE_BYTES_MAX
    for partition in _partitions(control, topic_of(control, path), query.partition):
        first = _first_offset(partition, query, start)
        if first is None:
            continue
        if len(records) == query.limit or room <= 0:
            return _ReadRecords(records, Place(partition.index, first))
        try:
            page = yield from _read_page(
                partition, OffsetRange(first, query.to_offset), query.limit - len(records), room
            )
        except UnreadableError as error:
            if not records:
                raise conflict(str(error), field="from_offset", value=error.offset) from error
            return _ReadRecords(records, Place(partition.index, error.offset))
        records += page.records
        room -= page.size
        if page.next_offset is not None:
            return _ReadRecords(records, Place(partition.index, page.next_offset))
        yield None
    return _ReadRecords(records, None)


def _first_offset(partition: Partition, query: RecordQuery, start: Place | None) -> int | None:
    """Return the first offset of the query in the partition from start on; None if the partition is before start."""
    if start is None or partition.index > start.partition:
        return query.from_offset
    return max(query.from_offset, start.offset) if partition.index == start.partition else None


def _read_page(partition: Partition, offsets: OffsetRange, limit: int, size_max: int) -> Steps[RecordsPage]:
    try:
        return (yield from read_page(partition, offsets, limit, size_max))
    except KafkaError as error:
        raise conflict(error.message, field="topic", value=partition.topic_name) from error


def _partitions(control: Control, topic: TopicImage, index: int | None) -> list[Partition]:
    """Return the partitions of the topic, or the one of this index. Raises CallError 404 and 409."""
    if index is not None and index >= len(topic.partitions):
        raise unknown_partition(topic, index, "partition")
    registrations = topic.partitions if index is None else [topic.partitions[index]]
    return [leading_partition_of(control.cluster, topic, registration) for registration in registrations]


def unknown_partition(topic: TopicImage, index: int, field: str) -> CallError:
    """Return the 404 for a partition that the topic does not have."""
    count = len(topic.partitions)
    allowed = "0" if count == 1 else f"0 to {count - 1}"
    return CallError(404, f"there is no partition {index} of {topic.name}", field=field, value=index, allowed=allowed)


def _record_info(record: StoredRecord) -> RecordInfo:
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


def _token(place: Place) -> str:
    return make_token(place.partition, place.offset)


def _place_of_token(token: str) -> Place:
    partition, offset = split_token(token, names=0, numbers=2)
    return Place(int(partition), int(offset))


OPERATIONS = (
    Operation(method="GET", path="/v1/topics/{topic}/records", perform=list_records, tag=TAG, errors=(404, 409)),
)
