"""Pages of what the logs of a topic have, by partition and offset: records and batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

from ...broker.metadata.metadata_image import TopicImage
from ...broker.replica.partition import Partition
from ...broker.replica.record_reader import LogPage, OffsetRange, UnreadableError
from ...broker.runtime.long_work import step
from ...protocol.error_codes import KafkaError
from ..control import Control
from ..errors import CallError, conflict
from ..leading_partitions import leading_partition_of
from ..paging import INT64_MAX, LIMIT_DEFAULT, Limit, make_token, split_token
from .topic_operations import TopicPath, topic_of

Item = TypeVar("Item")

TOKEN_CHARACTERS_MAX = 100

Offset = Annotated[int, Meta(ge=0, le=INT64_MAX)]
PartitionIndex = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class RecordQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The records or batches to list: of one partition or of all, with these offsets, both included."""

    partition: PartitionIndex | None = None
    from_offset: Offset = 0
    to_offset: Offset = INT64_MAX
    since: Annotated[str, Meta(max_length=TOKEN_CHARACTERS_MAX, description="The `next` of the previous page.")] = ""
    limit: Limit = LIMIT_DEFAULT


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a record in a topic."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Reading(Generic[Item]):
    """How to read the items of a partition.

    read: takes the partition, the offsets, and at most how many items and bytes. size_max: of all items.
    """

    read: Callable[[Partition, OffsetRange, int, int], Awaitable[LogPage[Item]]]
    size_max: int


@dataclass(frozen=True, slots=True)
class ReadItems(Generic[Item]):
    """Items of one or more partitions. next_place: of the first one after them; None at the end."""

    items: list[Item]
    next_place: Place | None


async def read_from(
    control: Control, path: TopicPath, query: RecordQuery, start: Place | None, reading: Reading[Item]
) -> ReadItems[Item]:
    """Return the first items of the query from start on. Raises CallError 404, and 409 for damage at their start."""
    items: list[Item] = []
    room = reading.size_max
    for partition in partitions_of(control, topic_of(control, path), query.partition):
        first = _first_offset(partition, query, start)
        if first is None:
            continue
        if len(items) == query.limit or room <= 0:
            return ReadItems(items, Place(partition.index, first))
        try:
            offsets = OffsetRange(first, query.to_offset)
            page = await _read_page(partition, offsets, query.limit - len(items), room, reading)
        except UnreadableError as error:
            if not items:
                raise conflict(str(error), field="from_offset", value=error.offset) from error
            return ReadItems(items, Place(partition.index, error.offset))
        items += page.items
        room -= page.size
        if page.next_offset is not None:
            return ReadItems(items, Place(partition.index, page.next_offset))
        await step()
    return ReadItems(items, None)


def _first_offset(partition: Partition, query: RecordQuery, start: Place | None) -> int | None:
    """Return the first offset of the query in the partition from start on; None if the partition is before start."""
    if start is None or partition.index > start.partition:
        return query.from_offset
    return max(query.from_offset, start.offset) if partition.index == start.partition else None


async def _read_page(
    partition: Partition, offsets: OffsetRange, limit: int, size_max: int, reading: Reading[Item]
) -> LogPage[Item]:
    try:
        return await reading.read(partition, offsets, limit, size_max)
    except KafkaError as error:
        raise conflict(error.message, field="topic", value=partition.topic_name) from error


def partitions_of(control: Control, topic: TopicImage, index: int | None) -> list[Partition]:
    """Return the partitions of the topic, or the one of this index. Raises CallError 404 and 409."""
    if index is not None and index >= len(topic.partitions):
        raise unknown_partition(topic, index, "partition")
    registrations = topic.partitions if index is None else [topic.partitions[index]]
    return [leading_partition_of(control.cluster, topic, registration) for registration in registrations]


def unknown_partition(topic: TopicImage, index: int, field: str) -> CallError:
    """Return the 404 for a partition that the topic does not have."""
    count = len(topic.partitions)
    allowed = "0" if count == 1 else f"0 to {count - 1}"
    return CallError(404, f"there is no partition {index} of {topic.name}", field=field, value=index, allowed=allowed)


def token_of(place: Place) -> str:
    """Return the token of the page that begins at a place."""
    return make_token(place.partition, place.offset)


def place_of_token(token: str) -> Place:
    """Return the place of a token. Raises InvalidValueError."""
    partition, offset = split_token(token, names=0, numbers=2)
    return Place(int(partition), int(offset))
