"""Fetches the logs of a topic after a scenario, with the batch and event names from the record headers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from ...protocol.api_keys import ApiKey
from ...protocol.batches.control_records import decode_marker
from ...protocol.batches.record_batch import BatchHeader, parse_header
from ...protocol.batches.records import Record, decode_batch
from ...protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from ..clients.client import BATCH_HEADER, EVENT_HEADER
from ..clients.raw_connection import RESPONSE_BYTES_MAX, RawConnection

# The last version with topic names instead of topic ids.
FETCH_VERSION = 12
READ_UNCOMMITTED, READ_COMMITTED = 0, 1


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch in a log. name: the batch name of its first record. events: the event names of its records, or ""."""

    name: str
    partition: int
    base_offset: int
    producer_id: int
    producer_epoch: int
    events: list[str]


def read_log(
    address: str, topic: str, partitions: int, *, isolation_level: int = READ_UNCOMMITTED
) -> list[StoredBatch]:
    """Return the batches of all partitions that a consumer with this isolation level reads, by partition."""
    with closing(RawConnection(address)) as connection:
        return [
            batch
            for partition in range(partitions)
            for batch in _read_partition(connection, topic, partition, isolation_level)
        ]


def _read_partition(
    connection: RawConnection, topic: str, partition: int, isolation_level: int
) -> Iterator[StoredBatch]:
    """Yield the batches; with READ_COMMITTED without markers and aborted transactions, filtered as clients do."""
    aborting: set[int] = set()
    offset = 0
    while (fetched := _fetch(connection, topic, partition, offset, isolation_level)).records:
        aborted = sorted((each.first_offset, each.producer_id) for each in fetched.aborted_transactions or [])
        for header, batch in _batches_of(bytes(fetched.records or b"")):
            offset = header.last_offset + 1
            while aborted and aborted[0][0] <= header.last_offset:
                aborting.add(aborted.pop(0)[1])
            if isolation_level == READ_COMMITTED and decode_marker(header, batch) is not None:
                aborting.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborting):
                yield _stored(partition, header, batch)


def _batches_of(records: bytes) -> Iterator[tuple[BatchHeader, memoryview]]:
    position = 0
    while position < len(records):
        header = parse_header(records, position)
        yield header, memoryview(records)[position : position + header.size]
        position += header.size


def _stored(partition: int, header: BatchHeader, batch: memoryview) -> StoredBatch:
    decoded = decode_batch(batch)
    return StoredBatch(
        name=header_of(decoded[0], BATCH_HEADER),
        partition=partition,
        base_offset=header.base_offset,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        events=[header_of(record, EVENT_HEADER) for record in decoded],
    )


def _fetch(connection: RawConnection, topic: str, partition: int, offset: int, isolation_level: int) -> PartitionData:
    fetched = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=RESPONSE_BYTES_MAX // 2)
    request = FetchRequest(
        max_bytes=RESPONSE_BYTES_MAX // 2,
        isolation_level=isolation_level,
        topics=[FetchTopic(topic=topic, partitions=[fetched])],
    )
    response = connection.send_and_receive(ApiKey.FETCH, FETCH_VERSION, request, FetchResponse.read)
    return response.responses[0].partitions[0]


def header_of(record: Record, name: str) -> str:
    """Return the text of a record header; "" if it is missing."""
    for key, value in record.headers:
        if key == name and value is not None:
            return value.decode(errors="replace")
    return ""
