"""Changes of consumer, share and streams groups, and the store that commits them.

A handler reads the group, adds records to a change, and commits it. The commit writes the records, and then applies
them to the group, as at start-up. If the write fails, the group is unchanged.
Source: CoordinatorResult and GroupMetadataManager.replay, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.typed_records import RecordValue, TypedRecord, TypedRecordType
from ..coordinator_log import CoordinatorRecord
from .group import Group

if TYPE_CHECKING:
    from ..coordinator_log import CoordinatorLog
    from .group_registry import GroupRegistry
    from .group_timers import GroupTimers


class TypedGroup(Group, Protocol):
    """A group whose state changes by records only."""

    def apply(self, record: TypedRecord) -> None:
        """Apply a record. The caller handles the tombstone of the group itself."""
        ...


G = TypeVar("G", bound=TypedGroup)


class GroupChange(Generic[G]):
    """A change of a group that is not committed yet. replaced: the tombstones of a group that the group replaces."""

    __slots__ = ("_after", "group", "records", "replaced")

    def __init__(self, group: G, replaced: Sequence[CoordinatorRecord] = ()) -> None:
        """Create a change without records."""
        self.group = group
        self.replaced = replaced
        self.records: list[TypedRecord] = []
        self._after: list[Callable[[], None]] = []

    def add(self, record_type: TypedRecordType, value: RecordValue | None, member_id: str = "") -> None:
        """Add a record to write. A value of None is a tombstone."""
        self.records.append(TypedRecord(record_type, self.group.group_id, member_id, value))

    def add_records(self, *records: TypedRecord) -> None:
        """Add records to write."""
        self.records += records

    def after_commit(self, action: Callable[[], None]) -> None:
        """Add an action that runs once the change is applied to the group."""
        self._after.append(action)

    def run_after_commit(self) -> None:
        """Run the actions of after_commit."""
        for action in self._after:
            action()


class TypedGroupStore(Generic[G]):
    """Finds the groups of one protocol, and commits changes of them."""

    __slots__ = ("_group_class", "_protocol", "log", "registry")

    def __init__(self, registry: GroupRegistry, log: CoordinatorLog, group_class: type[G], protocol: str) -> None:
        """registry: the groups of all types. log: the log of the group coordinator. protocol: for errors."""
        self.registry = registry
        self.log = log
        self._group_class = group_class
        self._protocol = protocol

    def find_group(self, group_id: str) -> G | None:
        """Return the group, or None if no group has the id.

        Raises KafkaError: GROUP_ID_NOT_FOUND for a group of another type, NOT_COORDINATOR if another node has the id.
        """
        group = self.registry.find(group_id)
        if group is None or isinstance(group, self._group_class):
            return group
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a {self._protocol} group.")

    def group_of(self, group_id: str) -> G:
        """Return the group. Raises KafkaError, see find_group; GROUP_ID_NOT_FOUND without one."""
        group = self.find_group(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def groups(self) -> Iterator[G]:
        """Yield every group of the protocol on this node."""
        return (group for group in self.registry.all() if isinstance(group, self._group_class))

    def new_group(self, group_id: str) -> G:
        """Create a group. Its first commit adds it to the registry."""
        return self._make(group_id, self.registry.new_timers(group_id))

    @property
    def _make(self) -> Callable[[str, GroupTimers], G]:
        return self._group_class

    def commit(self, change: GroupChange[G]) -> None:
        """Write the change, and apply it to the group. Raises KafkaError; nothing is changed then."""
        group = change.group
        records = [*change.replaced, *encoded(change.records)]
        if records:
            self.log.append(group.group_id, records)
            if not self.registry.has(group):
                self.registry.add(group)
            for record in change.records:
                group.apply(record)
        change.run_after_commit()

    def replace(self, change: GroupChange[G], group: Group, records: Sequence[CoordinatorRecord]) -> None:
        """Write a change that deletes its group, and the records of the group that replaces it.

        Raises KafkaError; nothing is changed then.
        """
        self.log.append(group.group_id, [*encoded(change.records), *records])
        self.registry.add(group)
        change.run_after_commit()

    def replay(self, record: TypedRecord, metadata_type: TypedRecordType) -> None:
        """Apply a record of the log. metadata_type: the type whose tombstone deletes the group."""
        group = self.registry.find(record.group_id)
        if not isinstance(group, self._group_class):
            if record.value is None:
                return
            group = self.new_group(record.group_id)
            self.registry.add(group)
        if record.value is None and record.record_type is metadata_type:
            self.registry.delete(group)
        else:
            group.apply(record)


def encoded(records: Sequence[TypedRecord]) -> list[CoordinatorRecord]:
    """Encode records for the log."""
    return [CoordinatorRecord(record.encode_key(), record.encode_value()) for record in records]
