"""What the producers' batches look like in the log: what no client shows of its own."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData

from ..wire.message_client import MessageClient

# The last version of Fetch that names its topics.
FETCH_VERSION = 12

# More than any test writes to one partition, so that one answer holds everything.
PARTITION_BYTES_MAX = 50_000_000

# Base offset, length of what follows, leader epoch, magic, CRC, attributes, last offset delta, two timestamps, producer
# id, producer epoch, base sequence, number of records.
BATCH_HEADER = struct.Struct(">qiibIhiqqqhii")
LENGTH_STARTS_COUNTING_AT = 12
COMPRESSION_MASK = 0x07
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """The header of one batch, as far as the tests ask for it."""

    base_offset: int
    compression: str
    producer_id: int
    producer_epoch: int
    base_sequence: int


def stored_batches(bootstrap: str, topic: str, partition: int) -> list[StoredBatch]:
    """Return the batches of a partition."""
    fetched = _fetched(bootstrap, topic, partition)
    assert fetched.error_code == 0
    return list(_batches(fetched.records or b""))


def is_served(bootstrap: str, topic: str, partition_count: int) -> bool:
    """Tell whether the leader of each partition answers for it."""
    return all(_fetched(bootstrap, topic, partition).error_code == 0 for partition in range(partition_count))


def _fetched(bootstrap: str, topic: str, partition: int) -> PartitionData:
    asked = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=PARTITION_BYTES_MAX)
    request = FetchRequest(max_bytes=PARTITION_BYTES_MAX, topics=[FetchTopic(topic=topic, partitions=[asked])])
    with MessageClient(bootstrap, client_id="stored-batches") as connection:
        response = connection.call(request, FETCH_VERSION)
    assert isinstance(response, FetchResponse)
    return response.responses[0].partitions[0]


def _batches(records: bytes) -> Iterator[StoredBatch]:
    position = 0
    while position < len(records):
        header = BATCH_HEADER.unpack_from(records, position)
        base_offset, length, _, _, _, attributes, _, _, _, producer_id, producer_epoch, base_sequence, _ = header
        yield StoredBatch(
            base_offset, COMPRESSIONS[int(attributes) & COMPRESSION_MASK], producer_id, producer_epoch, base_sequence
        )
        position += LENGTH_STARTS_COUNTING_AT + length
