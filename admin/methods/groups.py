"""The groups of a broker."""

from __future__ import annotations

from ..operations import topic_operations
from ..operations.topic_operations import GroupInfo, GroupPath
from ..paging import NamePage
from .base import Methods

# Within the class, `list` is the method.
GroupItems = list[GroupInfo]


class Groups(Methods):
    """The groups of every type, with members, assignments, committed offsets and lag."""

    def list(self) -> GroupItems:
        """Return all groups, sorted by id."""
        return self._all(topic_operations.list_groups, NamePage())

    def get(self, group_id: str) -> GroupInfo:
        """Return a group. Raises CallError if there is none of this id."""
        return self._perform(topic_operations.get_group, path=GroupPath(group_id=group_id))
