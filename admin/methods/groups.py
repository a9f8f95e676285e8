"""The groups of a broker: read them, rebalance them, wait until they are stable, set, reset and delete their offsets.

Groups are deleted, members evicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict, Unpack, cast

from ...faults.strict_json import convert
from ..operations import group_changes, group_operations, group_removals, offset_resets, verdict_summaries
from ..operations.group_changes import GroupAwait, NewOffsets, OffsetChoice
from ..operations.group_operations import GroupInfo, GroupLag, GroupPath, OffsetInfo
from ..operations.group_removals import MemberPath
from ..operations.offset_resets import OffsetReset, ResetOffset
from ..operations.verdict_summaries import GroupVerdictSummary
from ..paging import NamePage
from .base import Methods

# Within the class, `list` is the method.
GroupItems = list[GroupInfo]
OffsetItems = list[OffsetInfo]
ResetItems = list[ResetOffset]
VerdictItems = list[GroupVerdictSummary]
# Offsets by topic and partition.
Offsets = Mapping[tuple[str, int], int]


class ResetTarget(TypedDict, total=False):
    """To which offsets a group is reset: one of these is given.

    to: the log start, or the high watermark. offset: of the next record. time_ms: to the first record with this
    timestamp or a later one. shift_by: forwards, or backwards if it is negative.
    """

    to: Literal["earliest", "latest"]
    offset: int
    time_ms: int
    shift_by: int


class Groups(Methods):
    """The groups of every type, with members, assignments, committed offsets and lag."""

    def list(self) -> GroupItems:
        """Return all groups, sorted by id."""
        return self._all(group_operations.list_groups, NamePage())

    def get(self, group_id: str) -> GroupInfo:
        """Return a group. Raises CallError if there is none of this id."""
        return self._perform(group_operations.get_group, path=GroupPath(group_id=group_id))

    def lag(self, group_id: str) -> GroupLag:
        """Return the lag of a group by partition, and its total. Raises CallError if there is none of this id."""
        return self._perform(group_operations.get_lag, path=GroupPath(group_id=group_id))

    def rebalance(self, group_id: str) -> GroupInfo:
        """Begin a rebalance of a group, as if a member had joined, and return its state after it.

        All members of a classic group must join again. A consumer or share group gets its next epoch, and a new
        assignment with the next heartbeat of a member, when its assignment interval has passed since the last one.
        Raises CallError for an unknown group and one without members.
        """
        return self._perform(group_changes.rebalance_group, path=GroupPath(group_id=group_id))

    def wait_stable(self, group_id: str, members: int | None = None, timeout_ms: int = 5_000) -> GroupInfo:
        """Wait until a group is Stable, and return it. The group may be created during the wait.

        members: how many it must have; None for any number. timeout_ms: in real time.
        Raises WaitTimeoutError with the state and the members.
        """
        query = convert({"members": members, "timeout_ms": timeout_ms}, GroupAwait)
        return self._perform(group_changes.await_stable_group, path=GroupPath(group_id=group_id), query=query)

    def set_offsets(self, group_id: str, offsets: Offsets, *, force: bool = False) -> OffsetItems:
        """Commit offsets of a group, which may be new, and return all that it has.

        offsets: the offset of the next record by topic and partition, such as {("orders", 0): 5}.
        force: also while the group has members, which go on where they are.
        Raises CallError for an unknown topic or partition, for a share group, and without force for members.
        """
        body = convert({"offsets": as_new_offsets(offsets), "force": force}, NewOffsets)
        changed = self._perform(group_changes.set_offsets, path=GroupPath(group_id=group_id), body=body)
        return changed.items

    def delete_offsets(
        self, group_id: str, topic: str | None = None, partition: int | None = None, *, force: bool = False
    ) -> OffsetItems:
        """Delete the committed offsets of a partition, of a topic, or all of a group, and return them.

        force: also while members are subscribed to the topic.
        Raises CallError for an unknown group, for a share group, and without force for subscribed members.
        """
        query = convert({"topic": topic, "partition": partition, "force": force}, OffsetChoice)
        changed = self._perform(group_changes.delete_offsets, path=GroupPath(group_id=group_id), query=query)
        return changed.items

    def reset_offsets(
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
        return self._perform(offset_resets.reset_offsets, path=GroupPath(group_id=group_id), body=body).items

    def delete(self, group_id: str) -> GroupInfo:
        """Delete a group with its offsets, and return it as it was. Raises CallError for one with members."""
        return self._perform(group_removals.delete_group, path=GroupPath(group_id=group_id))

    def evict(self, group_id: str, member_id: str) -> GroupInfo:
        """Remove a member from its group, as Kafka's Admin does, and return the group after it.

        Its client joins again. Raises CallError for an unknown group or member.
        """
        path = MemberPath(group_id=group_id, member_id=member_id)
        return self._perform(group_removals.evict_member, path=path)

    def verdicts(self) -> VerdictItems:
        """Return the verdict on each group in short, sorted by id: the findings of each kind."""
        return self._all(verdict_summaries.list_group_verdicts, NamePage())


def as_new_offsets(offsets: object) -> object:
    """Return offsets as the admin API has them; anything invalid as it is, for the conversion."""
    if not isinstance(offsets, Mapping):
        return offsets
    return [_as_new_offset(place, offset) for place, offset in cast("Mapping[object, object]", offsets).items()]


def _as_new_offset(place: object, offset: object) -> object:
    parts = cast("tuple[object, ...]", place) if isinstance(place, tuple) else (place,)
    return {**dict(zip(("topic", "partition"), parts, strict=False)), "offset": offset}
