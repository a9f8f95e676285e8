"""The groups of a broker: read them, rebalance them, wait until they are stable, set, reset and delete their offsets.

Made of admin/methods/groups.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from typing import Unpack

from ...faults.strict_json import convert
from ..methods.groups import (
    GroupItems,
    OffsetItems,
    Offsets,
    ResetItems,
    ResetTarget,
    VerdictItems,
    as_new_offsets,
)
from ..operations import group_changes, group_operations, group_removals, offset_resets, verdict_summaries
from ..operations.group_changes import GroupAwait, NewOffsets, OffsetChoice
from ..operations.group_operations import GroupInfo, GroupLag, GroupPath
from ..operations.group_removals import MemberPath
from ..operations.offset_resets import OffsetReset
from ..paging import NamePage
from .base import AsyncMethods


class AsyncGroups(AsyncMethods):
    """The groups of every type, with members, assignments, committed offsets and lag."""

    async def list(self) -> GroupItems:
        """Return all groups, sorted by id."""
        return await self._all(group_operations.list_groups, NamePage())

    async def get(self, group_id: str) -> GroupInfo:
        """Return a group. Raises CallError if there is none of this id."""
        return await self._perform(group_operations.get_group, path=GroupPath(group_id=group_id))

    async def lag(self, group_id: str) -> GroupLag:
        """Return the lag of a group by partition, and its total. Raises CallError if there is none of this id."""
        return await self._perform(group_operations.get_lag, path=GroupPath(group_id=group_id))

    async def rebalance(self, group_id: str) -> GroupInfo:
        """Begin a rebalance of a group, as if a member had joined, and return its state after it.

        All members of a classic group must join again. A consumer or share group gets its next epoch, and a new
        assignment with the next heartbeat of a member, when its assignment interval has passed since the last one.
        Raises CallError for an unknown group and one without members.
        """
        return await self._perform(group_changes.rebalance_group, path=GroupPath(group_id=group_id))

    async def wait_stable(self, group_id: str, members: int | None = None, timeout_ms: int = 5000) -> GroupInfo:
        """Wait until a group is Stable, and return it. The group may be created during the wait.

        members: how many it must have; None for any number. timeout_ms: in real time.
        Raises WaitTimeoutError with the state and the members.
        """
        query = convert({"members": members, "timeout_ms": timeout_ms}, GroupAwait)
        return await self._perform(group_changes.await_stable_group, path=GroupPath(group_id=group_id), query=query)

    async def set_offsets(self, group_id: str, offsets: Offsets, *, force: bool = False) -> OffsetItems:
        """Commit offsets of a group, which may be new, and return all that it has.

        offsets: the offset of the next record by topic and partition, such as {("orders", 0): 5}.
        force: also while the group has members, which go on where they are.
        Raises CallError for an unknown topic or partition, for a share group, and without force for members.
        """
        body = convert({"offsets": as_new_offsets(offsets), "force": force}, NewOffsets)
        changed = await self._perform(group_changes.set_offsets, path=GroupPath(group_id=group_id), body=body)
        return changed.items

    async def delete_offsets(
        self, group_id: str, topic: str | None = None, partition: int | None = None, *, force: bool = False
    ) -> OffsetItems:
        """Delete the committed offsets of a partition, of a topic, or all of a group, and return them.

        force: also while members are subscribed to the topic.
        Raises CallError for an unknown group, for a share group, and without force for subscribed members.
        """
        query = convert({"topic": topic, "partition": partition, "force": force}, OffsetChoice)
        changed = await self._perform(group_changes.delete_offsets, path=GroupPath(group_id=group_id), query=query)
        return changed.items

    async def reset_offsets(
        self,
        group_id: str,
        topic: str | None = None,
        partition: int | None = None,
        *,
        dry_run: bool = False,
        **target: Unpack[ResetTarget],
    ) -> ResetItems:
        """Reset the committed offsets of a group without members, as kafka-consumer-groups.sh does, and return them.

        topic: None for all partitions with a committed offset. dry_run: return them, and change nothing.
        Raises CallError for a group with members, for a share group, and for an unknown topic, partition or group.
        """
        body = convert({"topic": topic, "partition": partition, "dry_run": dry_run, **target}, OffsetReset)
        return (await self._perform(offset_resets.reset_offsets, path=GroupPath(group_id=group_id), body=body)).items

    async def delete(self, group_id: str) -> GroupInfo:
        """Delete a group with its offsets, and return it as it was. Raises CallError for one with members."""
        return await self._perform(group_removals.delete_group, path=GroupPath(group_id=group_id))

    async def evict(self, group_id: str, member_id: str) -> GroupInfo:
        """Remove a member from its group, as Kafka's Admin does, and return the group after it.

        Its client joins again. Raises CallError for an unknown group or member.
        """
        path = MemberPath(group_id=group_id, member_id=member_id)
        return await self._perform(group_removals.evict_member, path=path)

    async def verdicts(self) -> VerdictItems:
        """Return the verdict on each group in short, sorted by id: the findings of each kind."""
        return await self._all(verdict_summaries.list_group_verdicts, NamePage())
