"""A log directory in which each batch is followed by a copy, so that each event is there twice."""

from collections.abc import Iterable
from pathlib import Path

from fauxka.protocol.batches import records
from fauxka.protocol.batches.records import BatchOptions, Record

from ..pipeline.logs_on_disk import write_segment

PARTITIONS = 4
EVENTS = 40


def write_copied_log(folder: Path) -> Path:
    """Write the log of the topic orders, with EVENTS events, and return its folder."""
    for partition in range(PARTITIONS):
        numbers = range(partition, EVENTS, PARTITIONS)
        write_segment(folder / f"orders-{partition}", [_batch(numbers, 0), _batch(numbers, len(numbers))])
    return folder


def _batch(numbers: Iterable[int], base_offset: int) -> bytes:
    content = [Record(b"v", key=f"event {number}".encode(), timestamp=1000) for number in numbers]
    return records.build_batch(content, BatchOptions(base_offset=base_offset))
