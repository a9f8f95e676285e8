"""Operations that read groups: their members, committed offsets and lag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from msgspec import Meta, Struct

from ... import protocol
from ...faults.json_bytes import BytesValue
from ...protocol.error_codes import KafkaError
from ...protocol.frames import FrameError
from ..control import Control
from ..current_coordinators import coordinated_groups
from ..errors import CallError
from ..leading_partitions import find_leading_partition
from ..operation import Operation
from ..paging import NAME_CHARACTERS_MAX as ID_CHARACTERS_MAX
from ..paging import NamePage, page_of
from .streams_group_info import TaskInfo, TopologyInfo, input_partitions, task_info, topology_info

if TYPE_CHECKING:
    from ...broker.coordinators.group.offset_store import CommittedOffset
    from ...broker.coordinators.share.share_groups import ShareGroups, ShareOffset
    from ...broker.node import Node
    from ...protocol.messages.consumer_group_describe import Assignment
    from ...protocol.messages.describe_groups import DescribedGroup
    from ...protocol.messages.share_group_describe import Assignment as ShareAssignment
    from ...protocol.stored_records.share_state_records import ShareKey

TAG = "state"

# The group type and protocol type of KIP-848 consumer groups, of share groups and of streams groups.
CONSUMER = "consumer"
SHARE = "share"
STREAMS = "streams"


class MemberInfo(Struct, kw_only=True):
    """A member of a group.

    assignment: of a classic group, in its own encoding, as base64. partitions: the current assignment by topic; null
    for a classic group whose assignment is not that of the protocol type "consumer", and the input of the active tasks
    of a streams group. epoch: the member epoch, of groups that are not classic. target: of a consumer group, the target
    assignment. process_id, tasks, target_tasks: of a streams group.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    assignment: BytesValue | None = None
    epoch: int | None = None
    partitions: dict[str, list[int]] | None = None
    target: dict[str, list[int]] | None = None
    process_id: str | None = None
    tasks: TaskInfo | None = None
    target_tasks: TaskInfo | None = None


class OffsetInfo(Struct, kw_only=True):
    """A committed offset; of a share group, its start offset.

    lag: the number of records after the offset, negative for an offset after the end. Null for a deleted partition, and
    while all nodes with a replica of it are down.
    """

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    lag: int | None


class GroupInfo(Struct, kw_only=True):
    """A group.

    type, state: Kafka's names. protocol: the assignor; of a classic group only while it is stable. topology: of a
    streams group.
    """

    group_id: str
    type: str
    state: str
    protocol_type: str
    protocol: str
    members: list[MemberInfo]
    offsets: list[OffsetInfo]
    topology: TopologyInfo | None = None


class PartitionLag(Struct, kw_only=True):
    """The lag of a group in a partition for which it has an offset, or which is assigned to a member.

    committed: null where nothing is committed; of a share group, its start offset. log_end_offset: the offset of the
    next record. last_stable_offset: where a consumer with read_committed ends, before the first open transaction.
    lag: as kafka-consumer-groups.sh has it, log_end_offset less committed, negative for an offset after the end; of a
    share group, the number of records that are not done. Null where nothing is committed. All but committed are null
    for a deleted partition, and while all nodes with a replica of it are down.
    """

    topic: str
    partition: int
    committed: int | None
    log_end_offset: int | None
    last_stable_offset: int | None
    lag: int | None


class GroupLag(Struct, kw_only=True):
    """The lag of a group. total: the sum of the lags that are not null. partitions: sorted by topic and partition."""

    group_id: str
    total: int
    partitions: list[PartitionLag]


class GroupPath(Struct, kw_only=True, forbid_unknown_fields=True):
    """The id of a group."""

    group_id: Annotated[str, Meta(min_length=1, max_length=ID_CHARACTERS_MAX)]


class GroupPage(Struct, kw_only=True):
    """Groups sorted by id."""

    items: list[GroupInfo]
    next: str | None


def list_groups(control: Control, query: NamePage) -> GroupPage:
    """List the groups with their members and committed offsets."""
    places = _group_places(control)
    following = sorted(group_id for group_id in places if group_id > query.since)
    items, token = page_of(following, query.limit, lambda group_id: _group_info(control, places[group_id]), str)
    return GroupPage(items=items, next=token)


def get_group(control: Control, path: GroupPath) -> GroupInfo:
    """Return a group with its members and committed offsets."""
    group = find_group(control, path)
    if group is None:
        message = f"there is no group {path.group_id!r}"
        raise CallError(404, message, field="group_id", value=path.group_id, allowed="the id of a group")
    return group


def find_group(control: Control, path: GroupPath) -> GroupInfo | None:
    """Return a group, or None."""
    place = _group_places(control).get(path.group_id)
    return None if place is None else _group_info(control, place)


def get_lag(control: Control, path: GroupPath) -> GroupLag:
    """Return the lag of a group by partition, and its total."""
    group = get_group(control, path)
    committed = {(each.topic, each.partition): each for each in group.offsets}
    assigned = {
        (topic, index)
        for member in group.members
        for topic, indexes in (member.partitions or {}).items()
        for index in indexes
    }
    partitions = [
        _partition_lag(control, *place, committed.get(place)) for place in sorted(committed.keys() | assigned)
    ]
    total = sum(each.lag for each in partitions if each.lag is not None)
    return GroupLag(group_id=group.group_id, total=total, partitions=partitions)


class _GroupPlace(NamedTuple):
    """A group and the node of its coordinator."""

    group_id: str
    group_type: str
    node: Node


def _group_places(control: Control) -> dict[str, _GroupPlace]:
    """Return all groups by id."""
    return {
        group.group_id: _GroupPlace(group.group_id, group.group_type, node)
        for node, group in coordinated_groups(control.cluster)
    }


def _group_info(control: Control, place: _GroupPlace) -> GroupInfo:
    if place.group_type == CONSUMER:
        return _consumer_group_info(control, place)
    if place.group_type == SHARE:
        return _share_group_info(control, place)
    if place.group_type == STREAMS:
        return _streams_group_info(control, place)
    group = place.node.coordinators.groups.describe(place.group_id)
    return GroupInfo(
        group_id=place.group_id,
        type=place.group_type,
        state=group.group_state,
        protocol_type=group.protocol_type,
        protocol=group.protocol_data,
        members=_members_info(group),
        offsets=_offsets_info(control, place),
    )


def _consumer_group_info(control: Control, place: _GroupPlace) -> GroupInfo:
    group = place.node.coordinators.groups.consumer_groups.describe(place.group_id)
    return GroupInfo(
        group_id=place.group_id,
        type=CONSUMER,
        state=group.group_state,
        protocol_type=CONSUMER,
        protocol=group.assignor_name,
        members=[
            MemberInfo(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host.removeprefix("/"),
                epoch=member.member_epoch,
                partitions=_by_topic(member.assignment),
                target=_by_topic(member.target_assignment),
            )
            for member in group.members
        ],
        offsets=_offsets_info(control, place),
    )


def _share_group_info(control: Control, place: _GroupPlace) -> GroupInfo:
    share_groups = place.node.coordinators.groups.share_groups
    group = share_groups.describe(place.group_id)
    offsets = [
        OffsetInfo(
            topic=name,
            partition=key.partition,
            offset=found.start_offset,
            leader_epoch=found.leader_epoch,
            metadata="",
            lag=found.lag,
        )
        for key in share_groups.keys_of(place.group_id)
        if (name := control.cluster.image.topic_name_of(key.topic_id)) is not None
        and (found := _find_share_offset(share_groups, key)) is not None
    ]
    return GroupInfo(
        group_id=place.group_id,
        type=SHARE,
        state=group.group_state,
        protocol_type=SHARE,
        protocol=group.assignor_name,
        members=[
            MemberInfo(
                member_id=member.member_id,
                group_instance_id=None,
                client_id=member.client_id,
                client_host=member.client_host.removeprefix("/"),
                epoch=member.member_epoch,
                partitions=_by_topic(member.assignment),
            )
            for member in group.members
        ],
        offsets=offsets,
    )


def _streams_group_info(control: Control, place: _GroupPlace) -> GroupInfo:
    group = place.node.coordinators.groups.streams_groups.describe(place.group_id)
    topology = topology_info(group.topology)
    members: list[MemberInfo] = []
    for member in group.members:
        tasks = task_info(member.assignment)
        info = MemberInfo(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host.removeprefix("/"),
            epoch=member.member_epoch,
            partitions=input_partitions(tasks.active, topology, control.cluster.image),
            process_id=member.process_id,
            tasks=tasks,
            target_tasks=task_info(member.target_assignment),
        )
        members.append(info)
    return GroupInfo(
        group_id=place.group_id,
        type=STREAMS,
        state=group.group_state,
        protocol_type=STREAMS,
        protocol=group.assignor_name or "",
        members=members,
        offsets=_offsets_info(control, place),
        topology=topology,
    )


def _find_share_offset(share_groups: ShareGroups, key: ShareKey) -> ShareOffset | None:
    """Return the offset of a share group, or None without one or while its share coordinator cannot be reached."""
    try:
        return share_groups.find_offset(key)
    except KafkaError:
        return None


def _by_topic(assignment: Assignment | ShareAssignment) -> dict[str, list[int]]:
    return {topic.topic_name: topic.partitions for topic in assignment.topic_partitions}


def _members_info(group: DescribedGroup) -> list[MemberInfo]:
    return [
        MemberInfo(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host.removeprefix("/"),
            assignment=BytesValue(base64=member.member_assignment),
            partitions=_decoded_assignment(group.protocol_type, member.member_assignment),
        )
        for member in group.members
    ]


def _decoded_assignment(protocol_type: str, assignment: bytes) -> dict[str, list[int]] | None:
    """Return the partitions by topic; None if the assignment is not one of consumers."""
    if protocol_type != CONSUMER:
        return None
    try:
        assigned = protocol.consumer_protocol.read_assignment(assignment).assigned_partitions
        return {topic.topic: topic.partitions for topic in assigned}
    except FrameError:
        return None


def _offsets_info(control: Control, place: _GroupPlace) -> list[OffsetInfo]:
    committed_of = place.node.coordinators.groups.offsets.of_group(place.group_id)
    return [
        _offset_info(control, topic, index, committed)
        for topic, partitions in sorted(committed_of.items())
        for index, committed in sorted(partitions.items())
    ]


def _offset_info(control: Control, topic: str, index: int, committed: CommittedOffset) -> OffsetInfo:
    ends = _find_log_ends(control, topic, index)
    return OffsetInfo(
        topic=topic,
        partition=index,
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        lag=None if ends is None else ends.log_end_offset - committed.offset,
    )


def _partition_lag(control: Control, topic: str, index: int, committed: OffsetInfo | None) -> PartitionLag:
    ends = _find_log_ends(control, topic, index)
    return PartitionLag(
        topic=topic,
        partition=index,
        committed=None if committed is None else committed.offset,
        log_end_offset=None if ends is None else ends.log_end_offset,
        last_stable_offset=None if ends is None else ends.last_stable_offset,
        lag=None if committed is None else committed.lag,
    )


class _LogEnds(NamedTuple):
    """Where the records of a partition end."""

    log_end_offset: int
    last_stable_offset: int


def _find_log_ends(control: Control, topic_name: str, index: int) -> _LogEnds | None:
    """Return the ends of a partition; None for a deleted one, and while all nodes with a replica are down."""
    topic = control.cluster.image.find_topic(topic_name)
    if topic is None or not topic.has_partition(index):
        return None
    partition = find_leading_partition(control.cluster, topic, topic.partitions[index])
    if partition is None:
        return None
    log = partition.find_log()
    return _LogEnds(0, 0) if log is None else _LogEnds(log.log_end_offset, log.last_stable_offset)


OPERATIONS = (
    Operation(method="GET", path="/v1/groups", perform=list_groups, tag=TAG),
    Operation(method="GET", path="/v1/groups/{group_id}", perform=get_group, tag=TAG, errors=(404,)),
    Operation(method="GET", path="/v1/groups/{group_id}/lag", perform=get_lag, tag=TAG, errors=(404,)),
)
