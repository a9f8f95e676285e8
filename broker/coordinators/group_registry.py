"""All groups of the cluster, by id."""

from __future__ import annotations

from collections.abc import Callable

from ..clock import Clock
from .classic_group import ClassicGroup, GroupState
from .group_timers import GroupTimers


class GroupRegistry:
    """Finds, creates and deletes groups."""

    __slots__ = ("_clock", "_groups", "_on_created")

    def __init__(self, clock: Clock, on_created: Callable[[], None]) -> None:
        """on_created: called after each new group."""
        self._clock = clock
        self._groups: dict[str, ClassicGroup] = {}
        self._on_created = on_created

    def __len__(self) -> int:
        """Return how many groups there are."""
        return len(self._groups)

    def all(self) -> list[ClassicGroup]:
        """Return all groups, the oldest first."""
        return list(self._groups.values())

    def find(self, group_id: str) -> ClassicGroup | None:
        """Return the group, or None."""
        return self._groups.get(group_id)

    def find_or_create(self, group_id: str) -> ClassicGroup:
        """Return the group; an empty one if there was none."""
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = ClassicGroup(group_id, GroupTimers(self._clock))
            self._on_created()
        return group

    def delete(self, group: ClassicGroup) -> None:
        """Forget the group; none of its timers runs any more."""
        group.transition_to(GroupState.DEAD)
        group.timers.cancel_all()
        del self._groups[group.group_id]
