"""A change of one share group, and the store that commits it.

A handler reads the group, adds records to a change, and commits it. The commit writes the records, and then applies
them to the group, as at start-up. If the write fails, the group is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.share_group_records import ShareGroupRecord, ShareRecordType, ShareRecordValue
from .share_group import ShareGroup, state_records

if TYPE_CHECKING:
    from ..coordinator_log import CoordinatorLog
    from ..group.group_registry import GroupRegistry


class ShareGroupChange:
    """A change of a group that is not committed yet."""

    __slots__ = ("group", "records")

    def __init__(self, group: ShareGroup) -> None:
        """Create a change without records."""
        self.group = group
        self.records: list[ShareGroupRecord] = []

    def add(self, record_type: ShareRecordType, value: ShareRecordValue | None, member_id: str = "") -> None:
        """Add a record to write. A value of None is a tombstone."""
        self.records.append(ShareGroupRecord(record_type, self.group.group_id, member_id, value))


class ShareGroupStore:
    """Finds share groups, and commits changes of them."""

    __slots__ = ("_log", "_registry")

    def __init__(self, registry: GroupRegistry, log: CoordinatorLog) -> None:
        """registry: the groups of all types. log: the log of the group coordinator."""
        self._registry = registry
        self._log = log

    def find_group(self, group_id: str) -> ShareGroup | None:
        """Return the group, or None if no group has the id.

        Raises KafkaError: GROUP_ID_NOT_FOUND for a group of another type, NOT_COORDINATOR if another node has the id.
        """
        group = self._registry.find(group_id)
        if group is None or isinstance(group, ShareGroup):
            return group
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")

    def group_of(self, group_id: str) -> ShareGroup:
        """Return the group. Raises KafkaError, see find_group; GROUP_ID_NOT_FOUND without one."""
        group = self.find_group(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def groups(self) -> Iterator[ShareGroup]:
        """Yield every share group of this node."""
        return (group for group in self._registry.all() if isinstance(group, ShareGroup))

    def new_group(self, group_id: str) -> ShareGroup:
        """Create a group. Its first commit adds it to the registry."""
        return ShareGroup(group_id, self._registry.new_timers(group_id))

    def commit(self, change: ShareGroupChange) -> None:
        """Write the change, and apply it to the group. Raises KafkaError; nothing is changed then."""
        group = change.group
        if not change.records:
            return
        self._log.append(group.group_id, state_records(change.records))
        if not self._registry.has(group):
            self._registry.add(group)
        for record in change.records:
            group.apply(record)
