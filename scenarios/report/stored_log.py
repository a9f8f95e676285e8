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
from ..clients.raw_leader import connect_to_leader

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
    bootstrap_servers: str, topic: str, partitions: int, *, isolation_level: int = READ_UNCOMMITTED
) -> list[StoredBatch]:
    """Return the batches of all partitions that a consumer with this isolation level reads, by partition."""
    stored: list[StoredBatch] = []
    for partition in range(partitions):
        reader = FetchedBatches(partition, isolation_level)
        with closing(connect_to_leader(bootstrap_servers, topic, partition)) as connection:
            while (fetched := _fetch(connection, topic, reader)).records:
                stored += reader.read(fetched)
    return stored


class FetchedBatches:
    """Reads the batches of the Fetch responses of a partition, in their order.

    offset: where to fetch next. epoch: the leader epoch of the last batch, -1 before the first one.
    """

    def __init__(self, partition: int, isolation_level: int) -> None:
        """isolation_level: READ_COMMITTED leaves out markers and aborted transactions, as clients do."""
        self.offset = 0
        self.epoch = -1
        self.partition = partition
        self.isolation_level = isolation_level
        self._aborting: set[int] = set()

    def read(self, fetched: PartitionData) -> Iterator[StoredBatch]:
        """Yield the batches of a response."""
        aborted = sorted((each.first_offset, each.producer_id) for each in fetched.aborted_transactions or [])
        for header, batch in _batches_of(bytes(fetched.records or b"")):
            self.offset = header.last_offset + 1
            self.epoch = header.partition_leader_epoch
            while aborted and aborted[0][0] <= header.last_offset:
                self._aborting.add(aborted.pop(0)[1])
            if self.isolation_level == READ_COMMITTED and decode_marker(header, batch) is not None:
                self._aborting.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in self._aborting):
                yield _stored(self.partition, header, batch)


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


def _fetch(connection: RawConnection, topic: str, reader: FetchedBatches) -> PartitionData:
    fetched = FetchPartition(
        partition=reader.partition, fetch_offset=reader.offset, partition_max_bytes=RESPONSE_BYTES_MAX // 2
    )
    request = FetchRequest(
        max_bytes=RESPONSE_BYTES_MAX // 2,
        isolation_level=reader.isolation_level,
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
