"""The groups that this node coordinates by id, of every type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....protocol.error_codes import ErrorCode, KafkaError
from .classic_group import ClassicGroup
from .group import Group
from .group_timers import GroupTimers

NO_MEMBERS: Mapping[str, object] = {}


class GroupRegistry:
    """Finds, creates and deletes groups."""

    __slots__ = ("_check_coordinator", "_groups", "_new_timers", "_on_created")

    def __init__(
        self,
        new_timers: Callable[[str], GroupTimers],
        on_created: Callable[[], None],
        check_coordinator: Callable[[str], None],
    ) -> None:
        """new_timers: creates the timers of a new group of that id. on_created: called after each new group.

        check_coordinator: raises KafkaError NOT_COORDINATOR if another node coordinates the group id.
        """
        self._check_coordinator = check_coordinator
        self._new_timers = new_timers
        self._groups: dict[str, Group] = {}
        self._on_created = on_created

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._groups)

    def all(self) -> list[Group]:
        """Return all groups in the order of their creation."""
        return list(self._groups.values())

    def find(self, group_id: str) -> Group | None:
        """Return the group, or None. Raises KafkaError NOT_COORDINATOR if another node has it."""
        group = self._groups.get(group_id)
        if group is None:
            self._check_coordinator(group_id)
        return group

    def is_present(self, group_id: str) -> bool:
        """Return whether there is a group of that id here."""
        return group_id in self._groups

    def members_of(self, group_id: str) -> Mapping[str, object]:
        """Return the members of the group by id; none if it is not here."""
        group = self._groups.get(group_id)
        return NO_MEMBERS if group is None else group.members

    def has(self, group: Group) -> bool:
        """Return whether this is still the group of its id."""
        return self._groups.get(group.group_id) is group

    def group_of(self, group_id: str) -> Group:
        """Return the group. Raises KafkaError: GROUP_ID_NOT_FOUND, and the errors of find."""
        group = self.find(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def classic_group_of(self, group_id: str) -> ClassicGroup:
        """Return the classic group. Raises KafkaError: GROUP_ID_NOT_FOUND, and the errors of find."""
        group = self.group_of(group_id)
        if not isinstance(group, ClassicGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")
        return group

    def create_classic(self, group_id: str) -> ClassicGroup:
        """Create a classic group without members. No group may have the id."""
        group = ClassicGroup(group_id, self._new_timers(group_id))
        self.add(group)
        return group

    def new_timers(self, group_id: str) -> GroupTimers:
        """Return the timers for a new group of that id."""
        return self._new_timers(group_id)

    def add(self, group: Group) -> None:
        """Add a group. It replaces an earlier group of the same id, which is closed."""
        before = self._groups.pop(group.group_id, None)
        if before is not None:
            before.close()
        self._groups[group.group_id] = group
        self._on_created()

    def delete(self, group: Group) -> None:
        """Close and remove the group."""
        group.close()
        del self._groups[group.group_id]
