"""Compares the logs after all kills with the acknowledged batches."""

from collections.abc import Iterator
from dataclasses import dataclass

import crc32c

from fauxka.protocol.batches.records import decode_batch

from ..reference.log_client import LogClient, last_offset_of
from .reporting_producer import OFFSET_NOT_TOLD, SentRecord
from .sequenced_producers import STAMPED_BYTES, SequencedProducer

CRC_POSITION, CRC_START = 17, 21


@dataclass(frozen=True, slots=True)
class StoredLog:
    """A partition, read like a consumer."""

    name: str
    log_start_offset: int
    log_end_offset: int
    batches: tuple[bytes, ...]

    @property
    def size_bytes(self) -> int:
        return sum(map(len, self.batches))


def read_log(client: LogClient, topic: str, partition: int) -> StoredLog:
    """Fetch a partition; its batches must be consecutive, with correct CRCs."""
    stored = client.stored(topic, partition)
    name = f"{topic}-{partition}"
    expected_offset = stored.log_start_offset
    for batch in stored.batches:
        base_offset = base_offset_of(batch)
        # The first batch may start before the log start.
        is_first = batch is stored.batches[0]
        follows = base_offset <= expected_offset if is_first else base_offset == expected_offset
        assert follows, f"{name}: a batch at {base_offset} where {expected_offset} comes next"
        crc = int.from_bytes(batch[CRC_POSITION:CRC_START], "big")
        assert crc == crc32c.crc32c(batch[CRC_START:]), f"{name}: wrong CRC at {base_offset}"
        expected_offset = last_offset_of(batch) + 1
    assert expected_offset == stored.log_end_offset, f"{name}: ends at {expected_offset}, says {stored.log_end_offset}"
    return StoredLog(name, stored.log_start_offset, stored.log_end_offset, stored.batches)


def base_offset_of(batch: bytes) -> int:
    return int.from_bytes(batch[:8], "big")


def check_sequenced(log: StoredLog, producers: list[SequencedProducer]) -> None:
    """Check that every batch of the producers is stored once at its acknowledged offset, and no other batch."""
    found: dict[bytes, int] = {}
    for batch in log.batches:
        content = batch[STAMPED_BYTES:]
        assert content not in found, f"{log.name}: the batch at {found[content]} is at {base_offset_of(batch)} again"
        found[content] = base_offset_of(batch)
    for producer in producers:
        assert producer.in_flight is None, f"producer {producer.producer_id} was never answered"
        assert producer.base_offsets == sorted(set(producer.base_offsets)), f"{log.name}: out of order: {producer}"
        for number, (batch, offset) in enumerate(zip(producer.batches, producer.base_offsets, strict=True)):
            stored_at = found.pop(batch[STAMPED_BYTES:], None)
            is_deleted = stored_at is None and offset < log.log_start_offset
            assert is_deleted or stored_at == offset, (
                f"{log.name}: batch {number} of producer {producer.producer_id} was acknowledged at {offset}, "
                f"and is at {stored_at}; log start {log.log_start_offset}, log end {log.log_end_offset}"
            )
    assert not found, f"{log.name}: batches that nobody sent, at {sorted(found.values())}"


def check_reported(log: StoredLog, records: dict[bytes, SentRecord]) -> None:
    """Check that every reported record is stored once and in order; an unreported one may be stored once.

    records: those of this partition.
    """
    offsets: dict[bytes, int] = {}
    last_number: dict[int, int] = {}
    for name, offset in names_in(log):
        assert name not in offsets, f"{log.name}: the record {name!r} at {offsets[name]} is at {offset} again"
        offsets[name] = offset
        record = records[name]
        assert record.number > last_number.get(record.life, -1), f"{log.name}: {name!r} at {offset} is out of order"
        last_number[record.life] = record.number
    for name, record in records.items():
        assert record.offset is None or _is_where_reported(record.offset, offsets.get(name), log), (
            f"{log.name}: {name!r} was reported at {record.offset} and is at {offsets.get(name)}; "
            f"log start {log.log_start_offset}, log end {log.log_end_offset}"
        )


def _is_where_reported(reported: int, stored_at: int | None, log: StoredLog) -> bool:
    if stored_at is None:
        # A record without a reported offset may have been deleted.
        return reported < log.log_start_offset
    return reported in (stored_at, OFFSET_NOT_TOLD)


def names_in(log: StoredLog) -> Iterator[tuple[bytes, int]]:
    """Yield name and offset of each record."""
    for batch in log.batches:
        for record in decode_batch(batch):
            assert record.value is not None
            yield record.value.partition(b" ")[0], record.offset


def check_start(log: StoredLog, deleted_offset: int, retained_bytes: int | None) -> None:
    """Check that the log starts no later than DeleteRecords or retention.bytes require."""
    is_deleted = log.log_start_offset <= deleted_offset
    is_retained = retained_bytes is not None and log.size_bytes >= retained_bytes
    assert is_deleted or is_retained, (
        f"{log.name}: begins at {log.log_start_offset}; deleted up to {deleted_offset}, {log.size_bytes} bytes left"
    )
