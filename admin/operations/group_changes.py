"""Operations that rebalance a group, wait until it is stable, and set and delete its committed offsets."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from ...broker.coordinators import group as group_package
from ...broker.coordinators.internal_topics import CoordinatorType, ensure_internal_topic, partition_index_of_key
from ...faults.rule_error import InvalidValueError
from ...protocol.error_codes import ErrorCode, KafkaError
from ..control import Control
from ..errors import CallError, WaitTimeoutError, conflict
from ..long_calls import run_long_call
from ..operation import PATIENT, Caller, Operation
from ..paging import INT64_MAX
from .group_operations import SHARE, TAG, GroupInfo, GroupPath, OffsetInfo, find_group, get_group
from .offset_pages import PartitionIndex, unknown_partition
from .rule_models import AWAIT_TIMEOUT_MS_DEFAULT, AwaitTimeout
from .topic_operations import TopicName, TopicPath, topic_of
from .waiting import wait_until_found

if TYPE_CHECKING:
    from ...broker.coordinators.group.group_coordinator import GroupCoordinator
    from ...broker.coordinators.group.group_offsets import OffsetToCommit
    from ...broker.node import Node

STABLE = "Stable"
# The states of a group without members.
WITHOUT_MEMBERS = frozenset({"Empty", "Dead"})
# How many members an error names.
MEMBERS_NAMED_MAX = 10

Force = Annotated[bool, Meta(description="Whether to do so while the group has members, which Kafka refuses.")]


class GroupAwait(Struct, kw_only=True, forbid_unknown_fields=True):
    """The number of members of the stable group, null for any, and the timeout of the wait, in real time."""

    members: Annotated[int, Meta(ge=1, description="The number of members.")] | None = None
    timeout_ms: AwaitTimeout = AWAIT_TIMEOUT_MS_DEFAULT


class NewOffset(Struct, kw_only=True, forbid_unknown_fields=True):
    """An offset to commit: that of the next record to consume."""

    topic: TopicName
    partition: PartitionIndex
    offset: Annotated[int, Meta(ge=0, le=INT64_MAX)]


class NewOffsets(Struct, kw_only=True, forbid_unknown_fields=True):
    """Offsets to commit. force: whether to do so while the group has members."""

    offsets: Annotated[list[NewOffset], Meta(min_length=1, max_length=10_000)]
    force: bool = False


class OffsetChoice(Struct, kw_only=True, forbid_unknown_fields=True):
    """The offsets to delete: of a partition, of a topic, or all."""

    topic: TopicName | None = None
    partition: PartitionIndex | None = None
    force: Force = False


class GroupOffsets(Struct, kw_only=True):
    """Committed offsets, sorted by topic and partition."""

    items: list[OffsetInfo]


async def rebalance_group(control: Control, path: GroupPath) -> GroupInfo:
    """Begin a rebalance of a group, as if a member had joined, and return its state after it.

    All members of a classic group must join again. A group of another type gets its next epoch, and a new assignment
    with the next heartbeat of a member, when group.consumer.assignment.interval.ms or
    group.share.assignment.interval.ms have passed since the last one. A group without members is 409.
    """
    group = get_group(control, path)
    if group.state in WITHOUT_MEMBERS:
        raise _conflict(group, "only a group with members rebalances")
    coordinator = coordinator_of(control, path.group_id)

    async def work() -> GroupInfo:
        with conflicts(path):
            coordinator.rebalance(path.group_id)
            await flushed(coordinator)
        return get_group(control, path)

    return await run_long_call(control, work())


async def await_stable_group(
    control: Control, path: GroupPath, query: GroupAwait, caller: Caller = PATIENT
) -> GroupInfo:
    """Wait until a group is Stable, and has so many members; 408 with its state and its members after the timeout.

    The group may be created during the wait. A share group with members is always Stable.
    """

    def find_stable() -> GroupInfo | None:
        group = find_group(control, path)
        if group is None or group.state != STABLE:
            return None
        return group if query.members in (None, len(group.members)) else None

    found = await wait_until_found(find_stable, control.coordinator_changes, query.timeout_ms, caller)
    if found is not None:
        return found
    group = find_group(control, path)
    wanted = STABLE if query.members is None else f"{STABLE} with {_members(query.members)}"
    state = f"there is no group {path.group_id}" if group is None else _described(group)
    message = f"{path.group_id} is not {wanted} after {query.timeout_ms} ms: {state}"
    raise WaitTimeoutError(message, 0 if group is None else len(group.members), [])


async def set_offsets(control: Control, path: GroupPath, body: NewOffsets) -> GroupOffsets:
    """Commit offsets of a group, as kafka-consumer-groups.sh --reset-offsets does, and return all that it has.

    A group that does not exist is created. While the group has members the call is 409 without force. With force its
    members go on where they are, and their next commit replaces the offset.
    """
    offsets = [_offset_to_commit(control, each, f"offsets[{at}]") for at, each in enumerate(body.offsets)]
    group = find_group(control, path)
    check_has_offsets(group)
    if group is not None and group.state not in WITHOUT_MEMBERS and not body.force:
        raise _conflict(group, "only the members of a group commit its offsets, unless with force")
    coordinator = coordinator_of(control, path.group_id)

    async def work() -> GroupOffsets:
        with conflicts(path):
            coordinator.offsets.commit_unchecked(path.group_id, offsets)
            await flushed(coordinator)
        return GroupOffsets(items=get_group(control, path).offsets)

    return await run_long_call(control, work())


async def delete_offsets(control: Control, path: GroupPath, query: OffsetChoice) -> GroupOffsets:
    """Delete committed offsets of a group, as kafka-consumer-groups.sh --delete-offsets does, and return them.

    While members are subscribed to the topic the call is 409 without force.
    """
    if query.partition is not None and query.topic is None:
        raise InvalidValueError(
            "partition", query.partition, "nothing without topic", "partition is given without topic"
        )
    group = get_group(control, path)
    check_has_offsets(group)
    chosen = [
        each
        for each in group.offsets
        if query.topic in (None, each.topic) and query.partition in (None, each.partition)
    ]
    coordinator = coordinator_of(control, path.group_id)
    if not query.force:
        _check_deletable(coordinator, group, {each.topic for each in chosen})

    async def work() -> GroupOffsets:
        with conflicts(path):
            coordinator.offsets.delete_unchecked(path.group_id, [(each.topic, each.partition) for each in chosen])
            await flushed(coordinator)
        return GroupOffsets(items=chosen)

    return await run_long_call(control, work())


def _offset_to_commit(control: Control, new: NewOffset, field: str) -> OffsetToCommit:
    """Return the offset for the coordinator. Raises CallError 404 for an unknown topic or partition."""
    topic = topic_of(control, TopicPath(topic=new.topic))
    if not topic.has_partition(new.partition):
        raise unknown_partition(topic, new.partition, f"{field}.partition")
    make = group_package.group_offsets.OffsetToCommit
    return make(topic_name=topic.name, topic_id=topic.topic_id, partition=new.partition, offset=new.offset)


def check_has_offsets(group: GroupInfo | None) -> None:
    """Raise CallError 409 for a share group."""
    if group is not None and group.type == SHARE:
        raise _conflict(group, "only classic and consumer groups have committed offsets")


def _check_deletable(coordinator: GroupCoordinator, group: GroupInfo, topics: Iterable[str]) -> None:
    """Raise CallError 409 for what DeleteOffsets refuses."""
    try:
        deletable = coordinator.offsets.deletable_group_of(group.group_id)
    except KafkaError as error:
        raise _conflict(group, "its topics are not known; force deletes offsets of a group with members") from error
    subscribed = sorted(topic for topic in topics if deletable.is_subscribed_to(topic))
    if subscribed:
        raise _conflict(group, f"it is subscribed to {', '.join(subscribed)}; force deletes the offsets all the same")


def coordinator_of(control: Control, group_id: str) -> GroupCoordinator:
    """Return the coordinator of a group, which may be new. Raises CallError 409 if its node is down."""
    return coordinating_node_of(control, group_id).coordinators.groups


def coordinating_node_of(control: Control, group_id: str) -> Node:
    """Return the node that coordinates a group, which may be new. Raises CallError 409 if it is down."""
    control.check_running()
    topic = ensure_internal_topic(control.cluster.controller, CoordinatorType.GROUP)
    registration = topic.partitions[partition_index_of_key(group_id, len(topic.partitions))]
    node = control.cluster.find_node(registration.leader_id)
    if node is None:
        raise conflict(f"{group_id} has no coordinator: {topic.name}-{registration.index} has no leader")
    return node


async def flushed(coordinator: GroupCoordinator) -> None:
    """Wait until the change is durable. Raises KafkaError."""
    error_code = await coordinator.flushed()
    if error_code:
        raise KafkaError(error_code, "the change could not be flushed")


@contextmanager
def conflicts(path: GroupPath, change: str = "changed") -> Generator[None]:
    """Raise CallError 409 for a change that the coordinator refuses."""
    try:
        yield
    except KafkaError as error:
        message = f"{path.group_id} cannot be {change}: {ErrorCode(error.code).name} {error.message}"
        raise conflict(message, field="group_id", value=path.group_id) from error


def _conflict(group: GroupInfo, reason: str) -> CallError:
    return conflict(f"{_described(group)}: {reason}", field="group_id", value=group.group_id)


def _described(group: GroupInfo) -> str:
    """Return type, state and members of a group as text."""
    named = [f"{each.member_id} ({each.client_id})" for each in group.members[:MEMBERS_NAMED_MAX]]
    others = len(group.members) - len(named)
    names = [*named, f"{others} others"] if others else named
    text = f"{group.type} group {group.group_id} is {group.state} with {_members(len(group.members))}"
    return f"{text}, {', '.join(names)}" if names else text


def _members(count: int) -> str:
    return f"{count} member{'' if count == 1 else 's'}" if count else "no members"


OPERATIONS = (
    Operation(
        method="POST", path="/v1/groups/{group_id}/rebalance", perform=rebalance_group, tag=TAG, errors=(404, 409)
    ),
    Operation(method="GET", path="/v1/groups/{group_id}/await", perform=await_stable_group, tag=TAG, errors=(408, 503)),
    Operation(method="PUT", path="/v1/groups/{group_id}/offsets", perform=set_offsets, tag=TAG, errors=(404, 409)),
    Operation(
        method="DELETE", path="/v1/groups/{group_id}/offsets", perform=delete_offsets, tag=TAG, errors=(404, 409)
    ),
)
