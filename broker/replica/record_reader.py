"""Reads the decoded records of a partition, a bounded page at a time. Only the admin API and tests use it.

Rules:
- One step on the event loop copies the bytes of a few batches, and the state of their transactions at that moment. A
  thread decodes them. So the page is what the log had, even if other requests change it meanwhile.
- A page has at most as many records and bytes of keys, values and headers as its caller wants. It has one record at
  least, however large that is, up to RECORD_BYTES_MAX.
- A batch that does not decode, and a record that is too large, end the page before them. At the start of a page they
  are an UnreadableError.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from ...protocol.batches import records as record_codec
from ...protocol.batches.control_records import decode_marker
from ...protocol.batches.record_batch import COMPRESSION_MASK, BatchHeader, Compression, TimestampType, is_crc_right
from ...protocol.batches.records import Headers, RecordFields
from ...protocol.batches.whole_batches import WholeBatch, split_batches
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.sequences import NO_SEQUENCE, increment_sequence
from ...storage import segments
from ..runtime.long_work import in_thread, let_others_run
from .partition import Partition

if TYPE_CHECKING:
    from ...storage.partition_log import PartitionLog
    from ...storage.segments.transaction_index import AbortedTransaction

Item = TypeVar("Item")

# One read of the log: few enough batches for one step on the event loop.
CHUNK_BYTES = 64 * 1024
# A compressed batch of 1 MiB may hold a record of 100 MiB.
RECORD_BYTES_MAX = 16 * 1024 * 1024
# An empty header takes two bytes in a batch, and fifty times as much decoded.
RECORD_HEADERS_MAX = 10_000
# How many records a thread decodes before it lets the event loop run.
RECORDS_PER_TURN = 500

Transaction = Literal["none", "open", "committed", "aborted"]
TimestampTypeName = Literal["CreateTime", "LogAppendTime"]
CompressionName = Literal["none", "gzip", "snappy", "lz4", "zstd"]

_COMPRESSIONS: dict[Compression, CompressionName] = {
    Compression.NONE: "none",
    Compression.GZIP: "gzip",
    Compression.SNAPPY: "snappy",
    Compression.LZ4: "lz4",
    Compression.ZSTD: "zstd",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record of a log.

    timestamp: in ms; -1 for none. key, value, header values: None for null.
    producer_id, producer_epoch, sequence: -1 without a producer. sequence: of this record.
    is_control: whether the record is a transaction marker.
    transaction: "none", or the state of its transaction: "open", "committed" or "aborted"; of a marker its result.
    leader_epoch: in which the batch was appended.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: TimestampTypeName
    key: bytes | None
    value: bytes | None
    headers: Headers
    producer_id: int
    producer_epoch: int
    sequence: int
    is_control: bool
    transaction: Transaction
    compression: CompressionName
    leader_epoch: int

    @property
    def text(self) -> str | None:
        """The value as text of UTF-8; None for null. Raises UnicodeDecodeError."""
        return None if self.value is None else self.value.decode()

    @property
    def key_text(self) -> str | None:
        """The key as text of UTF-8; None for null. Raises UnicodeDecodeError."""
        return None if self.key is None else self.key.decode()

    def json(self) -> Any:
        """Return the value, which is JSON, as Python's own types; None for null. Raises ValueError."""
        return None if self.value is None else json.loads(self.value)


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """The offsets from first to last, both included."""

    first: int
    last: int


class UnreadableError(Exception):
    """A batch is damaged, or a record is too large.

    offset: of the first record that cannot be read. next_offset: the first one that may be read after it.
    """

    def __init__(self, message: str, offset: int, next_offset: int) -> None:
        """Create the error; the message is for the user."""
        super().__init__(message)
        self.offset = offset
        self.next_offset = next_offset


@dataclass(slots=True)
class LogPage(Generic[Item]):
    """Records, or headers of batches, in the order of their offsets.

    next_offset: the first offset of the next page; None at the end.
    size: bytes of keys, values and headers of records, or of whole batches.
    """

    items: list[Item]
    next_offset: int | None = None
    size: int = 0


RecordsPage = LogPage[StoredRecord]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Consecutive batches, and the state of their transactions when they were read.

    open_since: by producer id, the first offset of the open transaction.
    """

    data: bytes
    end_offset: int
    aborted: list[AbortedTransaction]
    open_since: dict[int, int]


async def read_page(partition: Partition, offsets: OffsetRange, limit: int, size_max: int) -> RecordsPage:
    """Return the first limit records with these offsets, or fewer if they have size_max bytes.

    Raises UnreadableError, and KafkaError UNKNOWN_TOPIC_OR_PARTITION if the topic is deleted meanwhile.
    """
    page: RecordsPage = LogPage([])
    log = partition.find_log()
    offset = offsets.first
    while log is not None and offset <= offsets.last:
        offset = max(offset, log.log_start_offset)
        chunk = _read_chunk(partition, log, offset, page)
        if chunk is None:
            break
        reader = _ChunkReader(partition, page, OffsetRange(offset, offsets.last), limit, size_max)
        await in_thread(partial(reader.read, chunk))
        if partition.is_deleted:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"the topic {partition.topic_name} was deleted")
        if page.next_offset is not None:
            break
        offset = chunk.end_offset
    return page


def _read_chunk(partition: Partition, log: PartitionLog, offset: int, page: RecordsPage) -> _Chunk | None:
    """Return the batches from offset on; None if there are none. Ends a page that has records before damage."""
    if offset >= log.log_end_offset:
        return None
    try:
        fetched = log.read(offset, CHUNK_BYTES, upper_offset=log.log_end_offset, min_one_batch=True)
    except segments.header_checks.DamagedSegmentError as damage:
        if page.items:
            page.next_offset = offset
            return None
        raise UnreadableError(str(damage), offset, damage.next_offset) from damage
    data = b"".join(fetched.views)
    headers = [batch.header for batch in split_batches(memoryview(data))]
    if not headers:
        return None
    end_offset = headers[-1].last_offset + 1
    transactional = {header.producer_id for header in headers if header.is_transactional}
    if not transactional:
        return _Chunk(data, end_offset, [], {})
    entries = filter(None, map(log.producers.find, transactional))
    open_since = {
        entry.producer_id: entry.current_txn_first_offset
        for entry in entries
        if entry.current_txn_first_offset is not None
    }
    return _Chunk(data, end_offset, log.segments.aborted_transactions(offset, end_offset), open_since)


class _ChunkReader:
    """Decodes a chunk into a page. Runs in a thread, and uses nothing of the partition but its name."""

    def __init__(
        self, partition: Partition, page: RecordsPage, offsets: OffsetRange, limit: int, size_max: int
    ) -> None:
        self._topic = partition.topic_name
        self._partition = partition.index
        self._page = page
        self._offsets = offsets
        self._limit = limit
        self._size_max = size_max

    def read(self, chunk: _Chunk) -> None:
        """Add records to the page, and set its next_offset if it is full. Raises UnreadableError."""
        try:
            for batch in split_batches(memoryview(chunk.data)):
                if batch.header.last_offset >= self._offsets.first:
                    if batch.header.base_offset > self._offsets.last:
                        return
                    self._read_batch(chunk, batch)
                    if self._page.next_offset is not None:
                        return
        except UnreadableError as error:
            if not self._page.items:
                raise
            self._page.next_offset = error.offset

    def _read_batch(self, chunk: _Chunk, batch: WholeBatch) -> None:
        header = batch.header
        if not is_crc_right(batch.data, header.crc):
            raise self._damaged(header, "its CRC does not match")
        transaction = _transaction_of(chunk, batch)
        try:
            data, position = record_codec.records_data(header, batch.data)
            for number, fields in enumerate(record_codec.iterate_fields(header, data, position)):
                if number % RECORDS_PER_TURN == 0:
                    let_others_run()
                if fields.offset > self._offsets.last:
                    return
                if fields.offset >= self._offsets.first:
                    self._add(header, fields, data, transaction)
                    if self._page.next_offset is not None:
                        return
        except record_codec.DECODE_ERRORS as error:
            raise self._damaged(header, str(error)) from error

    def _add(self, header: BatchHeader, fields: RecordFields, data: bytes, transaction: Transaction) -> None:
        """Add a record, or end the page before it."""
        page = self._page
        size = max(fields.key_size, 0) + max(fields.value_size, 0)
        headers = record_codec.header_count_of(fields, data)
        if size > RECORD_BYTES_MAX or headers > RECORD_HEADERS_MAX:
            raise self._too_large(fields, f"{size} bytes of key and value and {headers} headers")
        record = record_codec.record_of(fields, data)
        size += sum(len(name) + len(value or b"") for name, value in record.headers)
        if size > RECORD_BYTES_MAX:
            raise self._too_large(fields, f"{size} bytes of key, value and headers")
        if len(page.items) >= self._limit or (page.items and page.size + size > self._size_max):
            page.next_offset = record.offset
            return
        page.size += size
        page.items.append(self._stored(header, record, transaction))

    def _stored(self, header: BatchHeader, record: record_codec.Record, transaction: Transaction) -> StoredRecord:
        sequence = header.base_sequence
        if sequence != NO_SEQUENCE:
            sequence = increment_sequence(sequence, record.offset - header.base_offset)
        is_create_time = header.timestamp_type is TimestampType.CREATE_TIME
        return StoredRecord(
            topic=self._topic,
            partition=self._partition,
            offset=record.offset,
            timestamp=record.timestamp,
            timestamp_type="CreateTime" if is_create_time else "LogAppendTime",
            key=record.key,
            value=record.value,
            headers=record.headers,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            sequence=sequence,
            is_control=header.is_control,
            transaction=transaction,
            compression=_COMPRESSIONS[Compression(header.attributes & COMPRESSION_MASK)],
            leader_epoch=header.partition_leader_epoch,
        )

    def _damaged(self, header: BatchHeader, reason: str) -> UnreadableError:
        offset, next_offset = max(header.base_offset, self._offsets.first), header.last_offset + 1
        place = f"the batch at offsets {header.base_offset}..{header.last_offset} of {self._topic}-{self._partition}"
        message = f"{place} does not decode: {reason}; from_offset {next_offset} continues after it"
        return UnreadableError(message, offset, next_offset)

    def _too_large(self, fields: RecordFields, size: str) -> UnreadableError:
        limits = f"at most {RECORD_BYTES_MAX} bytes and {RECORD_HEADERS_MAX} headers are decoded"
        place = f"the record at offset {fields.offset} of {self._topic}-{self._partition}"
        next_offset = fields.offset + 1
        message = f"{place} has {size}; {limits}; from_offset {next_offset} continues after it"
        return UnreadableError(message, fields.offset, next_offset)


def _transaction_of(chunk: _Chunk, batch: WholeBatch) -> Transaction:
    """Return the state of the batch's transaction; of a marker its result."""
    header = batch.header
    if header.is_control:
        marker = decode_marker(header, batch.data)
        return "none" if marker is None else "committed" if marker.is_commit else "aborted"
    if not header.is_transactional:
        return "none"
    open_since = chunk.open_since.get(header.producer_id)
    if open_since is not None and header.base_offset >= open_since:
        return "open"
    is_aborted = any(
        each.producer_id == header.producer_id and each.first_offset <= header.base_offset <= each.last_offset
        for each in chunk.aborted
    )
    return "aborted" if is_aborted else "committed"
