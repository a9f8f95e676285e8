"""Search in the segment files of a partition: the offset of a time, and the position of an offset.

The indexes only save time. Without them the headers of the batches are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...protocol.batches.compression import BrokenPayload
from ...protocol.batches.message_sets import InvalidMessageSet, stored_batch_of
from ...protocol.batches.record_batch import MAGIC_V2, parse_header
from ...protocol.batches.record_validation import InvalidRecords
from ...protocol.batches.records import iterate_fields, records_data
from ...storage.log_files import TIME_INDEX_SUFFIX
from ..decode.varints import Longs
from .file_store import OpenFile
from .segment_files import Segment
from .segment_walk import PlacedBatch, has_right_crc, position_of_offset, read_index, walk_headers

_TIME_INDEX_ENTRY = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])


def find_offset_at(segments: Sequence[Segment], timestamp: int, log_start: int) -> int | None:
    """Return the offset of the first record from log_start on with that timestamp or a later one, or None.

    segments: of one partition, in order. timestamp: in milliseconds. As in Kafka, only the first segment that reaches
    the timestamp is searched. Records of a batch that cannot be read count as if they had its greatest timestamp.
    Source: UnifiedLog.searchOffsetInLocalLog, LogSegment.findOffsetByTimestamp, FileRecords.searchForTimestamp,
    Kafka 4.3.0.
    """
    ends = [segment.base_offset for segment in segments[1:]] + [None]
    for segment, end in zip(segments, ends, strict=True):
        if end is not None and end <= log_start:
            continue
        index = _read_time_index(segment)
        # A segment gets its greatest timestamp as the last entry when the next segment begins.
        if end is not None and len(index) and int(index[-1, 0]) < timestamp:
            continue
        with segment.store.open(segment.path) as file:
            reaching = _batches_reaching(file, segment, index, timestamp)
            first = next(reaching, None)
            if first is None:
                continue
            for batch in (first, *reaching):
                offset = _first_offset(file, batch, timestamp, log_start)
                if offset is not None:
                    return offset
            return None
    return None


def position_at(segment: Segment, offset: int) -> int:
    """Return the position of the first batch that reaches the offset; the size of the file without one.

    A batch with a wrong CRC in front of one that does not reach the offset does not count.
    """
    first: int | None = None
    with segment.store.open(segment.path) as file:
        start = position_of_offset(file, segment, read_index(segment), offset)
        for batch in walk_headers(file, segment, start):
            if batch.header.last_offset < offset:
                first = None
                continue
            first = batch.position if first is None else first
            if has_right_crc(file, batch):
                break
    return segment.size if first is None else first


def position_behind(segment: Segment, offset: int) -> int:
    """Return the position of the first batch with a right CRC that begins at or behind the offset, or the file's size.

    A message of magic 0 or 1 shows only its last offset, so the position is behind the first one that reaches the
    offset: it may have earlier records too. Damaged bytes in front of it belong to the earlier batches, because the
    offset in a damaged header can be wrong.
    """
    with segment.store.open(segment.path) as file:
        start = position_of_offset(file, segment, read_index(segment), offset)
        for batch in walk_headers(file, segment, start):
            if batch.header.base_offset >= offset and has_right_crc(file, batch):
                return batch.position if batch.header.magic == MAGIC_V2 else batch.position + batch.header.size
    return segment.size


def _batches_reaching(file: OpenFile, segment: Segment, index: Longs, timestamp: int) -> Iterator[PlacedBatch]:
    """Yield the batches whose greatest timestamp is at or behind the timestamp."""
    at = int(np.searchsorted(index[:, 0], timestamp, side="right")) - 1
    start = 0
    if at >= 0:
        start = position_of_offset(file, segment, read_index(segment), segment.base_offset + int(index[at, 1]))
    for batch in walk_headers(file, segment, start):
        if batch.header.max_timestamp >= timestamp:
            yield batch


def _first_offset(file: OpenFile, batch: PlacedBatch, timestamp: int, log_start: int) -> int | None:
    header = batch.header
    if header.last_offset < log_start:
        return None
    content = file.read_at(batch.position, header.size)
    try:
        if header.magic != MAGIC_V2:
            content = stored_batch_of(content)
            header = parse_header(content)
        data, position = records_data(header, content)
        for record in iterate_fields(header, data, position):
            if record.timestamp >= timestamp and record.offset >= log_start:
                return record.offset
    except (BrokenPayload, InvalidRecords, InvalidMessageSet, IndexError, ValueError):
        return max(header.base_offset, log_start)
    return None


def _read_time_index(segment: Segment) -> Longs:
    """Return the entries of the time index as rows: a timestamp, and the relative offset of the first batch with it.

    A missing or invalid index has no rows. The index file of an active segment is preallocated, with zeros behind the
    entries.
    """
    no_entries = np.zeros((0, 2), np.int64)
    if not segment.may_have(TIME_INDEX_SUFFIX):
        return no_entries
    try:
        content = segment.store.read(segment.path_of(TIME_INDEX_SUFFIX))
    except OSError:
        return no_entries
    entries = np.frombuffer(content, _TIME_INDEX_ENTRY, count=len(content) // _TIME_INDEX_ENTRY.itemsize)
    columns = np.stack([entries["timestamp"].astype(np.int64), entries["offset"].astype(np.int64)], axis=1)
    zeros = np.flatnonzero((columns == 0).all(axis=1))
    columns = columns[: int(zeros[0])] if len(zeros) else columns
    steps = np.diff(columns, axis=0)
    return columns if bool((steps[:, 0] > 0).all() and (steps[:, 1] >= 0).all()) else no_entries
