"""What is in a topic's logs after a scenario: its batches, by the names that their records carry, read by fetching."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.api_keys import ApiKey
from ..protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ..protocol.record_batch import parse_header
from ..protocol.records import Record, decode_batch
from .client import BATCH_HEADER, EVENT_HEADER
from .raw_connection import ANSWER_BYTES_MAX, RawConnection

# The last version that names topics instead of numbering them.
FETCH_VERSION = 12


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch in a log.

    name: of the scenario's batch that its first record belongs to. events: of its records, "" for one of nobody's.
    """

    name: str
    partition: int
    base_offset: int
    producer_id: int
    producer_epoch: int
    events: list[str]


def read_log(address: str, topic: str, partitions: int) -> list[StoredBatch]:
    """Return the batches of all partitions, those of one after those of the other."""
    connection = RawConnection(address)
    try:
        return [batch for index in range(partitions) for batch in _read_partition(connection, topic, index)]
    finally:
        connection.close()


def _read_partition(connection: RawConnection, topic: str, partition: int) -> list[StoredBatch]:
    stored: list[StoredBatch] = []
    offset = 0
    while records := _fetch(connection, topic, partition, offset):
        position = 0
        while position < len(records):
            header = parse_header(records, position)
            batch = memoryview(records)[position : position + header.size]
            decoded = decode_batch(batch)
            events = [header_of(record, EVENT_HEADER) for record in decoded]
            stored.append(
                StoredBatch(
                    name=header_of(decoded[0], BATCH_HEADER),
                    partition=partition,
                    base_offset=header.base_offset,
                    producer_id=header.producer_id,
                    producer_epoch=header.producer_epoch,
                    events=events,
                )
            )
            position += header.size
            offset = header.base_offset + header.last_offset_delta + 1
    return stored


def _fetch(connection: RawConnection, topic: str, partition: int, offset: int) -> bytes:
    asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=ANSWER_BYTES_MAX // 2)
    request = FetchRequest(max_bytes=ANSWER_BYTES_MAX // 2, topics=[FetchTopic(topic=topic, partitions=[asked])])
    response = connection.ask(ApiKey.FETCH, FETCH_VERSION, request, FetchResponse.read)
    return bytes(response.responses[0].partitions[0].records or b"")


def header_of(record: Record, name: str) -> str:
    """Return a header's text, "" where there is none."""
    for key, value in record.headers:
        if key == name and value is not None:
            return value.decode(errors="replace")
    return ""
