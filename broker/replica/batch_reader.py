"""Reads the headers of the batches of a partition, without their records. Only the admin API uses it."""

from __future__ import annotations

from ...protocol.batches.record_batch import BatchHeader
from ...protocol.batches.whole_batches import split_batches
from ...storage import segments
from ..runtime.long_work import step
from .partition import Partition
from .record_reader import CHUNK_BYTES, LogPage, OffsetRange, UnreadableError


async def read_headers(partition: Partition, offsets: OffsetRange, limit: int, size_max: int) -> LogPage[BatchHeader]:
    """Return the headers of the first limit batches with these offsets, or fewer if the batches have size_max bytes.

    CRCs are not checked. Raises UnreadableError for a batch whose place in the log is damaged.
    """
    page = LogPage[BatchHeader]([])
    offset = offsets.first
    while offset <= offsets.last:
        log = partition.find_log()
        if log is None or offset >= log.log_end_offset:
            break
        offset = max(offset, log.log_start_offset)
        try:
            fetched = log.read(offset, CHUNK_BYTES, upper_offset=log.log_end_offset, min_one_batch=True)
        except segments.header_checks.DamagedSegmentError as damage:
            if not page.items:
                raise UnreadableError(str(damage), offset, damage.next_offset) from damage
            page.next_offset = offset
            break
        next_offset = _add(page, memoryview(b"".join(fetched.views)), offsets, limit, size_max)
        if next_offset is None or page.next_offset is not None:
            break
        offset = next_offset
        await step()
    return page


def _add(page: LogPage[BatchHeader], data: memoryview, offsets: OffsetRange, limit: int, size_max: int) -> int | None:
    """Add the headers of batches to the page, and set its next_offset if it is full.

    Return the offset after the batches; None without a batch, and after the last offset.
    """
    end_offset = None
    for header, _ in split_batches(data):
        if header.base_offset > offsets.last:
            return None
        if len(page.items) >= limit or (page.items and page.size + header.size > size_max):
            page.next_offset = max(header.base_offset, offsets.first)
            return page.next_offset
        page.items.append(header)
        page.size += header.size
        end_offset = header.last_offset + 1
    return end_offset
