"""The groups of a broker.

Made of admin/methods/groups.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from ..methods.groups import GroupItems
from ..operations import topic_operations
from ..operations.topic_operations import GroupInfo, GroupPath
from ..paging import NamePage
from .base import AsyncMethods


class AsyncGroups(AsyncMethods):
    """The groups of every type, with members, assignments, committed offsets and lag."""

    async def list(self) -> GroupItems:
        """Return all groups, sorted by id."""
        return await self._all(topic_operations.list_groups, NamePage())

    async def get(self, group_id: str) -> GroupInfo:
        """Return a group. Raises CallError if there is none of this id."""
        return await self._perform(topic_operations.get_group, path=GroupPath(group_id=group_id))
