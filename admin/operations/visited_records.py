"""Visits the records of a partition one after the other, between the requests of clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...broker.replica.record_reader import LogPage, OffsetRange, StoredRecord, UnreadableError, read_page
from ...broker.runtime.long_work import step
from ...protocol.error_codes import KafkaError
from ...storage.log_config import Records
from ..errors import conflict

if TYPE_CHECKING:
    from ...broker.replica.partition import Partition

# Records, and bytes of their keys, values and headers, that are decoded before they are visited.
PAGE_RECORDS_MAX = 1000
PAGE_BYTES_MAX = 1024 * 1024


async def visit_committed(partition: Partition, offsets: OffsetRange, visit: Callable[[StoredRecord], object]) -> None:
    """Call visit with each record of these offsets that a consumer with read_committed gets. See visit_records."""
    log = partition.find_log()
    if log is None:
        return
    stable = log.last_stable_offset

    def visit_if_committed(record: StoredRecord) -> None:
        if record.offset < stable and record.transaction in ("none", "committed"):
            visit(record)

    await visit_records(partition, offsets, visit_if_committed)


async def visit_records(partition: Partition, offsets: OffsetRange, visit: Callable[[StoredRecord], object]) -> int:
    """Call visit with each record of these offsets but transaction markers. Return the number of damaged places.

    It goes on after what does not decode. It is work of run_long_call.
    Raises CallError 409 for a topic that is deleted meanwhile, or has generated records.
    """
    log, damaged = partition.find_log(), 0
    if log is not None and log.config.records is Records.GENERATED:
        raise conflict(f"{partition.topic_name} has generated records, which have nearly no end", field="topic")
    next_offset: int | None = None if log is None else offsets.first
    while next_offset is not None and next_offset <= offsets.last:
        try:
            page = await read_page(partition, OffsetRange(next_offset, offsets.last), PAGE_RECORDS_MAX, PAGE_BYTES_MAX)
        except UnreadableError as damage:
            damaged += 1
            page = LogPage[StoredRecord]([], damage.next_offset)
        except KafkaError as error:
            raise conflict(error.message, field="topic", value=partition.topic_name) from error
        for record in page.items:
            if not record.is_control:
                visit(record)
            await step()
        next_offset = page.next_offset
    return damaged
