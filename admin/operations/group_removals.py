"""Operations that delete a group and remove a member of one, by the rules of Kafka's Admin."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...faults.consumption.events import LeavingMember, MembersLeaving
from ..control import Control
from ..errors import unknown
from ..long_calls import run_long_call
from ..operation import Operation
from ..paging import NAME_CHARACTERS_MAX
from .group_changes import conflicts, coordinating_node_of, flushed
from .group_operations import SHARE, TAG, GroupInfo, GroupPath, get_group

# The reason that Kafka's Admin gives (KIP-800).
EVICTION_REASON = "member was removed by an admin"


class MemberPath(Struct, kw_only=True, forbid_unknown_fields=True):
    """A member of a group."""

    group_id: Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
    member_id: Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]


async def delete_group(control: Control, path: GroupPath) -> GroupInfo:
    """Delete a group with its offsets, as kafka-consumer-groups.sh --delete does, and return it as it was.

    A group with members is 409.
    """
    group = get_group(control, path)
    coordinator = coordinating_node_of(control, path.group_id).coordinators.groups

    async def work() -> GroupInfo:
        with conflicts(path, "deleted"):
            coordinator.delete_group(path.group_id)
            await flushed(coordinator)
        return group

    return await run_long_call(control, work())


async def evict_member(control: Control, path: MemberPath) -> GroupInfo:
    """Remove a member from its group, as Kafka's Admin does, and return the group after it.

    Its client gets UNKNOWN_MEMBER_ID with its next heartbeat, and joins again.
    """
    of_group = GroupPath(group_id=path.group_id)
    group = get_group(control, of_group)
    member = next((each for each in group.members if each.member_id == path.member_id), None)
    if member is None:
        raise unknown("member", path.member_id, field="member_id")
    node = coordinating_node_of(control, path.group_id)
    coordinator = node.coordinators.groups

    async def work() -> GroupInfo:
        with conflicts(of_group):
            if node.consumption is not None and group.type != SHARE:
                leaving = LeavingMember(member.member_id, member.group_instance_id, EVICTION_REASON)
                node.consumption.add(MembersLeaving(path.group_id, [leaving]))
            coordinator.evict(path.group_id, member.member_id, member.group_instance_id)
            await flushed(coordinator)
        return get_group(control, of_group)

    return await run_long_call(control, work())


OPERATIONS = (
    Operation(method="DELETE", path="/v1/groups/{group_id}", perform=delete_group, tag=TAG, errors=(404, 409)),
    Operation(
        method="DELETE",
        path="/v1/groups/{group_id}/members/{member_id}",
        perform=evict_member,
        tag=TAG,
        errors=(404, 409),
    ),
)
