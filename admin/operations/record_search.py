"""Operation that searches the records of a topic, over all partitions, newest or oldest first, page by page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ...broker.replica.partition import Partition
from ...broker.replica.record_reader import StoredRecord
from ...broker.runtime.long_work import for_each
from ...faults.rule_error import InvalidValueError
from ..control import Control
from ..errors import CallError
from ..long_calls import run_long_call
from ..operation import Operation
from ..paging import INT64_MAX
from .offset_pages import Offset, PartitionIndex, partitions_of
from .offset_resets import first_since
from .record_merge import Cursor, RecordMerge
from .record_operations import PAGE_BYTES_MAX, RecordInfo, record_info
from .record_tests import PLACES, RecordTest, contents_of, make_content_test
from .topic_operations import TAG, TopicPath, topic_of

# Each has a block of records in memory.
PARTITIONS_MAX = 1000
SEARCHED_TEXT_MAX = 10_000
FOUND_MAX = 1000
FOUND_DEFAULT = 100
# A position has at most 19 digits.
TOKEN_CHARACTERS_MAX = PARTITIONS_MAX * 20

SearchedText = Annotated[str, Meta(max_length=SEARCHED_TEXT_MAX)]
Time = Annotated[int, Meta(ge=0, le=INT64_MAX)]


class RecordSearch(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to search for. Without contains, equals and regex, all records are found.

    in: key, value, header:NAME or json:PATH, null for key, value and headers. contains, equals: a text. regex: of RE2,
    anywhere in the content. from_offset, to_offset, from_ms, to_ms: limits of each partition and of the timestamps, all
    included. order: by timestamp. since: the `next` or the `follow` of another page.
    """

    in_: Annotated[str, Meta(max_length=SEARCHED_TEXT_MAX, description=PLACES)] | None = field(name="in", default=None)
    contains: SearchedText | None = None
    equals: SearchedText | None = None
    regex: SearchedText | None = None
    partition: PartitionIndex | None = None
    from_offset: Offset = 0
    to_offset: Offset = INT64_MAX
    from_ms: Time | None = None
    to_ms: Time | None = None
    order: Literal["newest", "oldest"] = "newest"
    since: Annotated[str, Meta(max_length=TOKEN_CHARACTERS_MAX)] = ""
    limit: Annotated[int, Meta(ge=1, le=FOUND_MAX)] = FOUND_DEFAULT


class FoundRecords(Struct, kw_only=True):
    """Records in the order of the search.

    next: the since of the next page of the same search; null at the end. A page may be empty and have a next one.
    searched: how many records were searched for this page. unreadable: damaged places that were passed over.
    follow: the since of a search with order oldest for what was appended after this call.
    """

    items: list[RecordInfo]
    next: str | None
    searched: int
    unreadable: int
    follow: str


async def search_records(control: Control, path: TopicPath, body: RecordSearch) -> FoundRecords:
    """Search the records of a topic, over all partitions in the order of their timestamps.

    A call reads some 20,000 records or 32 MiB at most, and a page ends after 1 MiB of found keys, values and headers.
    """
    test = _test_of(body)

    async def work() -> FoundRecords:
        partitions = partitions_of(control, topic_of(control, path), body.partition)
        if len(partitions) > PARTITIONS_MAX:
            message = f"{path.topic} has {len(partitions)} partitions: a search needs partition above {PARTITIONS_MAX}"
            raise CallError(400, message, field="partition", value=None, allowed="an integer")
        ends = [_end_of(partition) for partition in partitions]
        positions = _positions(body, len(partitions))
        cursors = [
            _cursor(body, partition, end, position)
            for partition, end, position in zip(partitions, ends, positions, strict=True)
        ]
        is_newest_first = body.order == "newest"
        merge = RecordMerge(cursors, test, newest_first=is_newest_first)
        found = await merge.find(body.limit, PAGE_BYTES_MAX)
        is_done = all(cursor.is_done for cursor in cursors)
        return FoundRecords(
            items=await for_each(record_info, found),
            next=None if is_done else _token(cursor.high if is_newest_first else cursor.low for cursor in cursors),
            searched=merge.work.searched,
            unreadable=merge.work.unreadable,
            follow=_token(ends),
        )

    return await run_long_call(control, work())


def _test_of(body: RecordSearch) -> RecordTest:
    """Return the test of a record. Raises InvalidValueError."""
    content_test = make_content_test(body.contains, body.equals, body.regex)
    contents = contents_of(body.in_)
    from_ms, to_ms = body.from_ms, body.to_ms

    def test(record: StoredRecord) -> bool:
        if from_ms is not None and record.timestamp < from_ms:
            return False
        if to_ms is not None and record.timestamp > to_ms:
            return False
        if content_test is None:
            return True
        return not record.is_control and any(map(content_test, contents(record)))

    return test


def _end_of(partition: Partition) -> int:
    log = partition.find_log()
    return 0 if log is None else log.log_end_offset


def _cursor(body: RecordSearch, partition: Partition, end: int, position: int | None) -> Cursor:
    """Return the cursor for what is left of a partition. position: of the page before; None for the first page."""
    log = partition.find_log()
    low = max(body.from_offset, 0 if log is None else log.log_start_offset)
    high = min(end, body.to_offset + 1)
    if body.from_ms is not None:
        low = max(low, first_since(partition, body.from_ms, end))
    if position is not None and body.order == "newest":
        high = min(high, position)
    elif position is not None:
        low = max(low, position)
    return Cursor(partition, low, high)


def _positions(body: RecordSearch, count: int) -> list[int | None]:
    """Return the position of each partition in a token; None for one that has none. Raises InvalidValueError."""
    if body.since == "":
        return [None] * count
    parts = body.since.split(".")
    if len(parts) > count or not all(part.isascii() and part.isdecimal() and len(part) <= 19 for part in parts):
        raise InvalidValueError("since", body.since, "the `next` of another page", f"since cannot be {body.since!r}")
    # Partitions that were added meanwhile have none. Their records are the newest.
    added = 0 if body.order == "newest" else None
    return [*map(int, parts), *[added] * (count - len(parts))]


def _token(positions: Iterable[int]) -> str:
    return ".".join(map(str, positions))


OPERATIONS = (
    Operation(
        method="POST", path="/v1/topics/{topic}/records/search", perform=search_records, tag=TAG, errors=(404, 409)
    ),
)
