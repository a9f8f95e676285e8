"""The entries of groups in ListGroups and DescribeGroups."""

from __future__ import annotations

from collections.abc import Collection

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember
from ....protocol.messages.list_groups import ListedGroup
from ....security.java_text import trim
from .classic_group import ClassicGroup, GroupState
from .group import Group
from .group_member import GroupMember

# Of states whose name in a filter is not that in the response without capitals.
_NAMES_IN_FILTERS = {"NotReady": "not_ready"}


def is_selected(group: Group, states: Collection[str], types: Collection[str]) -> bool:
    """Return whether the group matches both filters, ignoring case. An empty filter matches every group."""
    name = _NAMES_IN_FILTERS.get(group.state_name, group.state_name.lower())
    is_in_state = not states or name in {trim(state).lower() for state in states}
    is_of_type = not types or group.group_type.value in {group_type.lower() for group_type in types}
    return is_in_state and is_of_type


def list_entry(group: Group) -> ListedGroup:
    """Return the group's entry in ListGroups."""
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.listed_protocol_type,
        group_state=group.state_name,
        group_type=group.group_type.value,
    )


def describe(group: ClassicGroup) -> DescribedGroup:
    """Return the group with its members; protocol and metadata only if it is stable."""
    protocol_name = group.protocol_name if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol_name or "",
        members=[_describe_member(member, protocol_name) for member in group.members.values()],
    )


def describe_error(group_id: str, error: KafkaError) -> DescribedGroup:
    """Return the entry of a group that another node coordinates, that does not exist, or that is of another type.

    error: NOT_COORDINATOR, or GROUP_ID_NOT_FOUND, with which the group is Dead.
    """
    if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
        return DescribedGroup(group_id=group_id, error_code=error.code)
    return DescribedGroup(
        group_id=group_id,
        group_state=GroupState.DEAD.value,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=error.message,
    )


def _describe_member(member: GroupMember, protocol_name: str | None) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=b"" if protocol_name is None else member.metadata_of(protocol_name),
        member_assignment=member.assignment,
    )
