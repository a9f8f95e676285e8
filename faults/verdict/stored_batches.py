"""Reads the batches of a topic's logs for the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...protocol.batches.compression import BrokenPayload
from ...protocol.batches.record_batch import NO_PRODUCER_ID, BatchHeader, parse_header
from ...protocol.batches.record_validation import InvalidRecords
from ...protocol.batches.records import Record
from ..work_steps import Steps
from .batch_content import iterate_as_sent


class TopicLogs(Protocol):
    """The logs of a cluster."""

    def partitions(self, topic: str) -> Sequence[int]:
        """Return the partitions of the topic; none for an unknown topic."""
        ...

    def batches(self, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
        """Yield each complete batch, from the one that contains from_offset or from the log start offset."""
        ...

    def is_aborted(self, topic: str, partition: int, header: BatchHeader) -> bool:
        """Return whether a batch of the log belongs to an aborted transaction."""
        ...

    def replica_batches(self, topic: str, partition: int, from_offset: int) -> Iterator[memoryview]:
        """Yield the batches of each replica, from the one that contains from_offset, also of nodes that are down."""
        ...


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """The numbers of a batch in a log."""

    partition: int
    base_offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records_count: int

    @property
    def place(self) -> tuple[int, int]:
        """Partition and base offset."""
        return self.partition, self.base_offset

    def may_repeat(self, producer_id: int, producer_epoch: int, base_sequence: int) -> bool:
        """Return whether it may be the batch with these numbers, sent again.

        Within one epoch a producer repeats a batch with the same sequences.
        """
        if producer_id == NO_PRODUCER_ID or (self.producer_id, self.producer_epoch) != (producer_id, producer_epoch):
            return True
        return self.base_sequence == base_sequence


def stored_batch(partition: int, header: BatchHeader) -> StoredBatch:
    """Return the numbers of a batch header."""
    return StoredBatch(
        partition,
        header.base_offset,
        header.last_offset,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.last_sequence,
        header.records_count,
    )


def headers_in(logs: TopicLogs, topic: str, partition: int) -> Iterator[BatchHeader]:
    """Yield the header of each batch of the partition, without control batches."""
    return (header for header, _ in batches_in(logs, topic, partition, 0))


def batches_in(
    logs: TopicLogs, topic: str, partition: int, from_offset: int
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Yield each batch with its header, without control batches."""
    for batch in logs.batches(topic, partition, from_offset):
        header = parse_header(batch)
        if not header.is_control:
            yield header, batch


def read_records(
    logs: TopicLogs, topic: str, partition: int, batch: tuple[BatchHeader, memoryview]
) -> Steps[list[Record]]:
    """Return the records of a batch of batches_in; none for a corrupt one, and for one of an aborted transaction.

    A producer sends the records of an aborted transaction again in the next one, and a consumer gets them once.
    """
    header, data = batch
    # There may be many of them behind each other.
    yield
    return [] if logs.is_aborted(topic, partition, header) else (yield from decode_or_none(data))


def decode_or_none(batch: memoryview) -> Steps[list[Record]]:
    """Return the records of a batch; none for a corrupt one."""
    records: list[Record] = []
    # With fauxka.record.validation=batch the log accepts records without validation.
    try:
        for record in iterate_as_sent(batch):
            records.append(record)
            yield
    except (InvalidRecords, IndexError, BrokenPayload):
        return []
    return records
