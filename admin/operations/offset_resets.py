"""Operation that resets the committed offsets of a group, by the rules of kafka-consumer-groups.sh --reset-offsets.

- Only a group without members is reset.
- Without a topic, the partitions with a committed offset are reset.
- An offset before the log start or after the high watermark becomes the nearest of the two.
Source: ConsumerGroupCommand.resetOffsets and OffsetsUtils, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...broker.coordinators import group as group_package
from ...broker.replica.partition import Partition
from ...broker.runtime.long_work import step
from ...faults.rule_error import InvalidValueError
from ..control import Control
from ..errors import CallError, conflict
from ..leading_partitions import leading_partition_of
from ..long_calls import run_long_call
from ..operation import Operation
from ..paging import INT64_MAX
from .group_changes import WITHOUT_MEMBERS, check_has_offsets, conflicts, coordinator_of, flushed
from .group_operations import TAG, GroupInfo, GroupPath, find_group, get_group
from .offset_pages import PartitionIndex, unknown_partition
from .topic_operations import TopicName, TopicPath, topic_of

Place = tuple[str, int]

TARGETS = ("to", "offset", "time_ms", "shift_by")
ALLOWED_TARGETS = "one of to, offset, time_ms and shift_by"


class OffsetReset(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to reset, and to which offsets: one of to, offset, time_ms and shift_by is given.

    to: the log start, or the high watermark. time_ms: to the first record with this timestamp or a later one, and to
    the high watermark if there is none. shift_by: forwards, or backwards if it is negative.
    topic: null for all partitions with a committed offset. dry_run: whether to return the offsets and change nothing.
    """

    to: Literal["earliest", "latest"] | None = None
    offset: Annotated[int, Meta(ge=0, le=INT64_MAX)] | None = None
    time_ms: Annotated[int, Meta(ge=0, le=INT64_MAX)] | None = None
    shift_by: Annotated[int, Meta(ge=-INT64_MAX, le=INT64_MAX)] | None = None
    topic: TopicName | None = None
    partition: PartitionIndex | None = None
    dry_run: bool = False


class ResetOffset(Struct, kw_only=True):
    """A partition of a reset. before: the committed offset before it; null for none. offset: after it."""

    topic: str
    partition: int
    before: int | None
    offset: int


class ResetOffsets(Struct, kw_only=True):
    """The reset partitions, sorted by topic and partition."""

    items: list[ResetOffset]


async def reset_offsets(control: Control, path: GroupPath, body: OffsetReset) -> ResetOffsets:
    """Reset committed offsets of a group, as kafka-consumer-groups.sh --reset-offsets does, and return them.

    A group that does not exist is created if a topic is given. A group with members is 409 with Kafka's sentence.
    """
    _check(body)
    group = find_group(control, path) if body.topic is not None else get_group(control, path)
    check_has_offsets(group)
    if group is not None and group.state not in WITHOUT_MEMBERS:
        message = (
            f"Assignments can only be reset if the group '{path.group_id}' is inactive, but the current state is "
            f"{group.state}."
        )
        raise conflict(message, field="group_id", value=path.group_id)
    committed = {} if group is None else {(each.topic, each.partition): each.offset for each in group.offsets}
    coordinator = coordinator_of(control, path.group_id)

    async def work() -> ResetOffsets:
        items: list[ResetOffset] = []
        commits: list[group_package.group_offsets.OffsetToCommit] = []
        for name, index in _places(control, body, group):
            topic = topic_of(control, TopicPath(topic=name))
            if not topic.has_partition(index):
                raise unknown_partition(topic, index, "partition")
            partition = leading_partition_of(control.cluster, topic, topic.partitions[index])
            before = committed.get((name, index))
            offset = _offset_in(partition, body, before)
            items.append(ResetOffset(topic=name, partition=index, before=before, offset=offset))
            commits.append(
                group_package.group_offsets.OffsetToCommit(
                    topic_name=name, topic_id=topic.topic_id, partition=index, offset=offset
                )
            )
            await step()
        if commits and not body.dry_run:
            with conflicts(path):
                coordinator.offsets.commit_unchecked(path.group_id, commits)
                await flushed(coordinator)
        return ResetOffsets(items=items)

    return await run_long_call(control, work())


def _check(body: OffsetReset) -> None:
    """Raise InvalidValueError unless exactly one target is given, and a partition only with its topic."""
    given = [name for name in TARGETS if getattr(body, name) is not None]
    if len(given) != 1:
        named = " and ".join(given) or "none of them"
        field = given[1] if given else "to"
        raise InvalidValueError(
            field, getattr(body, field), ALLOWED_TARGETS, f"{named} is given; allowed: {ALLOWED_TARGETS}"
        )
    if body.partition is not None and body.topic is None:
        raise InvalidValueError(
            "partition", body.partition, "nothing without topic", "partition is given without topic"
        )


def _places(control: Control, body: OffsetReset, group: GroupInfo | None) -> list[Place]:
    """Return the partitions to reset. Raises CallError 404 for an unknown topic."""
    if body.topic is None:
        return [] if group is None else [(each.topic, each.partition) for each in group.offsets]
    topic = topic_of(control, TopicPath(topic=body.topic))
    indexes = range(len(topic.partitions)) if body.partition is None else (body.partition,)
    return [(topic.name, index) for index in indexes]


def _offset_in(partition: Partition, body: OffsetReset, committed: int | None) -> int:
    """Return the new offset of a partition. Raises CallError 409."""
    log = partition.find_log()
    start, end = (0, 0) if log is None else (log.log_start_offset, log.high_watermark)
    if body.to is not None:
        return start if body.to == "earliest" else end
    if body.time_ms is not None:
        return first_since(partition, body.time_ms, end)
    if body.offset is not None:
        wanted = body.offset
    elif committed is None:
        place = f"{partition.topic_name}-{partition.index}"
        raise conflict(
            f"Cannot shift offset for partition {place} since there is no current committed offset",
            field="shift_by",
            value=body.shift_by,
        )
    else:
        wanted = committed + (body.shift_by or 0)
    return min(max(wanted, start), end)


def first_since(partition: Partition, time_ms: int, end: int) -> int:
    """Return the offset of the first record with this timestamp or a later one; end without one."""
    log = partition.find_log()
    try:
        found = None if log is None else log.offset_for_timestamp(time_ms)
    except OSError as error:
        partition.storage_failed("read", error)
        raise CallError(409, f"{partition.topic_name}-{partition.index} cannot be read: {error}") from error
    return end if found is None else min(found.offset, end)


OPERATIONS = (
    Operation(
        method="POST", path="/v1/groups/{group_id}/offsets/reset", perform=reset_offsets, tag=TAG, errors=(404, 409)
    ),
)
