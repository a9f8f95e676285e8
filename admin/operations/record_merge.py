"""Reads the records of several partitions in the order of their timestamps, newest or oldest first, in bounded steps.

Rules:
- Each partition has a cursor with a block of records that were read and not yet taken. The record with the newest (or
  oldest) timestamp of all blocks is taken next. So the order is exact if the timestamps of each partition are in order.
- A position is all that is kept between two calls: what a block has left is read again by the next call.
- A block that is read backwards ends before the position. If it has more bytes than a block may have, fewer offsets are
  read: the newest records are found without the ones before them, also if each has 1 MB.
- Records are tested in a thread as soon as they are read. Of those that fail, only offset and timestamp are kept. Of
  the others, at most KEPT_BYTES_MAX are kept; beyond it a record is read again when it is taken.
- A merge that has read WORK_RECORDS_MAX or WORK_BYTES_MAX reads no further block, once it has taken a record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

from ...broker.replica.partition import Partition
from ...broker.replica.record_reader import (
    RECORDS_PER_TURN,
    OffsetRange,
    StoredRecord,
    UnreadableError,
    read_page,
)
from ...broker.runtime.long_work import in_thread, let_others_run, step
from ...protocol.error_codes import KafkaError
from ..errors import conflict
from .record_tests import RecordTest

BLOCK_RECORDS_MAX = 500
BLOCK_BYTES_MAX = 1024 * 1024
# One read of a log.
BLOCK_BYTES_MIN = 64 * 1024
KEPT_BYTES_MAX = 32 * 1024 * 1024
# Some tenths of a second of reading and decoding.
WORK_RECORDS_MAX = 20_000
WORK_BYTES_MAX = 32 * 1024 * 1024


@dataclass(slots=True)
class _Seen:
    """A record that was read. is_wanted: whether it passes the test. record: None if it is not kept."""

    offset: int
    timestamp: int
    is_wanted: bool
    record: StoredRecord | None


class _Block(NamedTuple):
    """Records that were read. end: the offset after those that were read. size: of their keys, values and headers."""

    seen: list[_Seen]
    end: int
    size: int


@dataclass(slots=True)
class Cursor:
    """The part of a partition that is not taken yet: the offsets from low to before high.

    block: records that were read, in the order in which they are taken. rest: where the cursor stands when all of them
    are taken. stride: how many offsets the next block backwards has.
    """

    partition: Partition
    low: int
    high: int
    block: deque[_Seen] = field(default_factory=deque["_Seen"])
    rest: int = 0
    stride: int = BLOCK_RECORDS_MAX

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return not self.block and self.low >= self.high


@dataclass(slots=True)
class Work:
    """What a merge has done. unreadable: damaged places, and records that are too large."""

    searched: int = 0
    read_records: int = 0
    read_bytes: int = 0
    unreadable: int = 0

    @property
    def is_enough(self) -> bool:
        """Whether no further block is read."""
        return self.searched > 0 and (self.read_records >= WORK_RECORDS_MAX or self.read_bytes >= WORK_BYTES_MAX)


class RecordMerge:
    """Takes the records of cursors in the order of their timestamps."""

    def __init__(self, cursors: Sequence[Cursor], test: RecordTest, *, newest_first: bool) -> None:
        """test: which records are returned."""
        self._cursors = cursors
        self._test = test
        self._newest_first = newest_first
        count = max(1, len(cursors))
        self._block_bytes = max(BLOCK_BYTES_MIN, min(BLOCK_BYTES_MAX, WORK_BYTES_MAX // count))
        self._block_records = max(1, min(BLOCK_RECORDS_MAX, WORK_RECORDS_MAX // count))
        self._kept_bytes = 0
        # The cursors with a block, by the timestamp of their next record; and those whose next block is to be read.
        self._heads: list[tuple[int, int]] = []
        self._unread = list(range(len(cursors)))
        self.work = Work()

    async def find(self, limit: int, bytes_max: int) -> list[StoredRecord]:
        """Return the next records, at most so many and so large, but one at least if there is one within the work.

        Raises CallError 409 for a topic that is deleted meanwhile.
        """
        found: list[StoredRecord] = []
        size = 0
        while len(found) < limit:
            cursor = await self._next_cursor()
            if cursor is None:
                break
            seen = cursor.block[0]
            if seen.is_wanted:
                record = seen.record or await self._read_again(cursor, seen)
                if found and size + size_of(record) > bytes_max:
                    break
                size += size_of(record)
                found.append(record)
            self._take(cursor)
            await step()
        return found

    async def _next_cursor(self) -> Cursor | None:
        """Return the cursor with the next record; None at the end, and after enough work."""
        while self._unread:
            index = self._unread[-1]
            cursor = self._cursors[index]
            while not cursor.block and not cursor.is_done:
                if self.work.is_enough:
                    return None
                await (self._load_backwards(cursor) if self._newest_first else self._load_forwards(cursor))
            self._unread.pop()
            self._push(index)
        return self._cursors[self._heads[0][1]] if self._heads else None

    def _push(self, index: int) -> None:
        """Order a cursor by its next record, if it has one."""
        block = self._cursors[index].block
        if block:
            heappush(self._heads, (-block[0].timestamp if self._newest_first else block[0].timestamp, index))

    def _take(self, cursor: Cursor) -> None:
        _, index = heappop(self._heads)
        seen = cursor.block.popleft()
        self.work.searched += 1
        if seen.record is not None:
            self._kept_bytes -= size_of(seen.record)
        if self._newest_first:
            cursor.high = seen.offset if cursor.block else cursor.rest
        else:
            cursor.low = seen.offset + 1 if cursor.block else cursor.rest
        if cursor.block:
            self._push(index)
        else:
            self._unread.append(index)

    async def _load_forwards(self, cursor: Cursor) -> None:
        block = await self._read(cursor.partition, cursor.low, cursor.high)
        cursor.block.extend(block.seen)
        cursor.rest = block.end
        if not block.seen:
            cursor.low = block.end

    async def _load_backwards(self, cursor: Cursor) -> None:
        while True:
            first = max(cursor.low, cursor.high - cursor.stride)
            block = await self._read(cursor.partition, first, cursor.high)
            if block.end >= cursor.high:
                break
            # The block has its oldest records only. They are the wrong ones.
            self._forget(block.seen)
            cursor.stride = max(1, min(cursor.stride, cursor.high - first) // 4)
        if 2 * len(block.seen) <= self._block_records and 2 * block.size <= self._block_bytes:
            cursor.stride *= 2
        cursor.block.extend(reversed(block.seen))
        cursor.rest = first
        if not block.seen:
            cursor.high = first

    async def _read(self, partition: Partition, first: int, end: int) -> _Block:
        """Return the records from first to before end, tested, or as many of them as a block has."""
        block: list[_Seen] = []
        offset, room = first, self._block_bytes
        while offset < end and room > 0 and len(block) < self._block_records:
            limit = self._block_records - len(block)
            try:
                page = await read_page(partition, OffsetRange(offset, end - 1), limit, room)
            except UnreadableError as damage:
                self.work.unreadable += 1
                offset = damage.next_offset
                continue
            except KafkaError as error:
                raise conflict(error.message, field="topic", value=partition.topic_name) from error
            room -= max(1, page.size)
            self.work.read_records += len(page.items)
            self.work.read_bytes += page.size
            block += await in_thread(partial(self._tested, page.items))
            offset = end if page.next_offset is None else page.next_offset
        return _Block(block, offset, self._block_bytes - room)

    def _tested(self, records: Sequence[StoredRecord]) -> list[_Seen]:
        """Test records. Runs in a thread while the merge waits for it."""
        seen: list[_Seen] = []
        for number, record in enumerate(records):
            if number % RECORDS_PER_TURN == 0:
                let_others_run()
            is_wanted = self._test(record)
            is_kept = is_wanted and self._kept_bytes < KEPT_BYTES_MAX
            if is_kept:
                self._kept_bytes += size_of(record)
            seen.append(_Seen(record.offset, record.timestamp, is_wanted, record if is_kept else None))
        return seen

    def _forget(self, block: Sequence[_Seen]) -> None:
        self._kept_bytes -= sum(size_of(seen.record) for seen in block if seen.record is not None)

    async def _read_again(self, cursor: Cursor, seen: _Seen) -> StoredRecord:
        offsets = OffsetRange(seen.offset, seen.offset)
        try:
            page = await read_page(cursor.partition, offsets, 1, 1)
        except (KafkaError, UnreadableError) as error:
            raise conflict(str(error), field="topic", value=cursor.partition.topic_name) from error
        if not page.items:
            place = f"{cursor.partition.topic_name}-{cursor.partition.index}"
            raise conflict(f"the record at offset {seen.offset} of {place} was deleted", field="topic")
        return page.items[0]


def size_of(record: StoredRecord) -> int:
    """Return the bytes of key, value and headers."""
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
