"""Operation that appends records to a topic as test data, without a producer.

The records go straight into the logs, with the checks and errors of a Produce: no fault rule for requests applies, the
journal has no request, and the verdict counts them as records in the log only. File fault rules apply.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.metadata.metadata_image import TopicImage
from ...broker.replica.partition import Partition
from ...broker.replica.record_writer import NewRecord, RecordsRefused, append_records
from ...broker.runtime.long_work import step
from ...faults.bytes_checks import check_bytes
from ...faults.json_bytes import BytesValue, bytes_of
from ...protocol.batches.records import Record
from ...protocol.error_codes import ErrorCode
from ...protocol.murmur2 import partition_of_key
from ..control import Control
from ..errors import CallError
from ..leading_partitions import leading_partition_of
from ..long_calls import run_long_call
from ..operation import Operation
from ..paging import INT64_MAX, LIMIT_MAX
from .offset_pages import PartitionIndex, unknown_partition
from .topic_operations import TAG, TopicPath, topic_of

# As many as a page of records.
RECORDS_AT_ONCE_MAX = LIMIT_MAX

# A text is its UTF-8. Its length is bounded by that of the body, and by max.message.bytes.
RecordBytes = str | BytesValue
Timestamp = Annotated[int, Meta(ge=0, le=INT64_MAX)]

# Errors that depend on the state of the broker, and not on the records.
STATE_ERRORS = (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


class SeedHeader(Struct, kw_only=True, forbid_unknown_fields=True):
    """A header. value: a text, {"base64": ...} or null."""

    name: str
    value: RecordBytes | None = None


class SeedRecord(Struct, kw_only=True, forbid_unknown_fields=True):
    """A record to append. key, value: a text, {"base64": ...} or null.

    partition: null for Kafka's partition of the key (murmur2); records without a key and a partition go to the
    partitions in turn, from partition 0 in each call. timestamp: null for the time of the broker's clock.
    """

    key: RecordBytes | None = None
    value: RecordBytes | None = None
    headers: list[SeedHeader] = []
    partition: PartitionIndex | None = None
    timestamp: Timestamp | None = None


class SeedRecords(Struct, kw_only=True, forbid_unknown_fields=True):
    """Records to append, in this order within each partition."""

    records: Annotated[list[SeedRecord], Meta(min_length=1, max_length=RECORDS_AT_ONCE_MAX)]


class SeededRecord(Struct, kw_only=True):
    """The place of an appended record, and its timestamp as stored."""

    partition: int
    offset: int
    timestamp: int


class SeededRecords(Struct, kw_only=True):
    """The places of the records, in the order of the call."""

    items: list[SeededRecord]


async def seed_records(control: Control, path: TopicPath, body: SeedRecords) -> SeededRecords:
    """Append records as test data, without a producer. Either all are appended or none, unless the storage fails.

    No request is handled: fault rules for requests do not apply, and the journal has no entry.
    """

    async def work() -> SeededRecords:
        topic = topic_of(control, path)
        if topic.is_internal:
            message = f"{topic.name} is an internal topic, which only its coordinator writes"
            raise CallError(409, message, field="topic", value=topic.name)
        partitions = [leading_partition_of(control.cluster, topic, each) for each in topic.partitions]
        now_ms = control.clock.now_ms()
        chooser = _PartitionChooser(topic, partitions)
        new: list[tuple[Partition, NewRecord]] = []
        for index, record in enumerate(body.records):
            decoded = decoded_record(f"records[{index}]", record, now_ms)
            new.append((chooser.choose(index, record.partition, decoded.key), NewRecord(index, decoded)))
            await step()
        try:
            written = await append_records(new, now_ms)
        except RecordsRefused as error:
            raise _error(error) from error
        return SeededRecords(
            items=[
                SeededRecord(partition=each.partition, offset=each.offset, timestamp=each.timestamp) for each in written
            ]
        )

    return await run_long_call(control, work())


class _PartitionChooser:
    """Chooses the partition of each record of a call."""

    def __init__(self, topic: TopicImage, partitions: list[Partition]) -> None:
        self._topic = topic
        self._partitions = partitions
        self._without_key = 0

    def choose(self, index: int, partition: int | None, key: bytes | None) -> Partition:
        """Return the partition of the record at index. Raises CallError 404, and 409 for one without a leader."""
        count = len(self._partitions)
        if partition is None and key is not None:
            partition = partition_of_key(key, count)
        elif partition is None:
            partition = self._without_key % count
            self._without_key += 1
        if partition >= count:
            raise unknown_partition(self._topic, partition, f"records[{index}].partition")
        chosen = self._partitions[partition]
        if not chosen.is_leader:
            message = f"{self._topic.name}-{partition} has no leader"
            raise CallError(409, message, field=f"records[{index}]", value=partition)
        return chosen


def decoded_record(field: str, record: SeedRecord, now_ms: int) -> Record:
    """Return the record. field: its path, for errors. Raises InvalidValueError."""
    headers: list[tuple[str, bytes | None]] = []
    for index, header in enumerate(record.headers):
        path = f"{field}.headers[{index}]"
        check_bytes(f"{path}.name", header.name)
        headers.append((header.name, _bytes(f"{path}.value", header.value)))
    return Record(
        key=_bytes(f"{field}.key", record.key),
        value=_bytes(f"{field}.value", record.value),
        timestamp=now_ms if record.timestamp is None else record.timestamp,
        headers=tuple(headers),
    )


def _bytes(field: str, value: RecordBytes | None) -> bytes | None:
    if value is None:
        return None
    check_bytes(field, value)
    return bytes_of(value)


def _error(refused: RecordsRefused) -> CallError:
    """Return the CallError for a refused batch, with the records that it is about."""
    code = ErrorCode(refused.error.code)
    field = f"records[{refused.first}]"
    if refused.last != refused.first:
        field += f" to records[{refused.last}]"
    message = f"{field}: {code.name}: {refused.error.message}"
    if code in STATE_ERRORS:
        return CallError(409, f"{message}; records appended before: {refused.written}", field=field)
    return CallError(400, message, field=field, allowed="records that the topic accepts")


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/topics/{topic}/records",
        perform=seed_records,
        tag=TAG,
        status=201,
        errors=(404, 409),
    ),
)
