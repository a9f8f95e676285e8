"""A change of one group: its records, and the actions after their commit.

A handler reads the group, adds records to a change, and commits it. The commit writes the records, and then applies
them to the group, as at start-up. If the write fails, the group is unchanged.
Source: CoordinatorResult and GroupMetadataManager.replay, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_records import ConsumerGroupRecord, ConsumerRecordType
from ..group.classic_group import ClassicGroup
from .group import ConsumerGroup
from .records import state_records

if TYPE_CHECKING:
    from ..coordinator_log import CoordinatorLog, CoordinatorRecord
    from ..group.group import Group
    from ..group.group_registry import GroupRegistry
    from ..group.group_timers import GroupTimers


# Returns whether a client may describe the topic of that name.
MayDescribe = Callable[[str], bool]


class GroupChange:
    """A change of a group that is not committed yet.

    replaced: the classic group that the group replaces. replaced_records: its tombstones.
    may_describe: whether the client of the request may describe a topic; None if it may describe all.
    """

    __slots__ = ("_after", "group", "may_describe", "records", "replaced", "replaced_records")

    def __init__(
        self,
        group: ConsumerGroup,
        replaced: ClassicGroup | None = None,
        replaced_records: Sequence[CoordinatorRecord] = (),
    ) -> None:
        """Create a change without records."""
        self.group = group
        self.replaced = replaced
        self.replaced_records = replaced_records
        self.records: list[ConsumerGroupRecord] = []
        self.may_describe: MayDescribe | None = None
        self._after: list[Callable[[], None]] = []

    def add(self, *records: ConsumerGroupRecord) -> None:
        """Add records to write."""
        self.records += records

    def after_commit(self, action: Callable[[], None]) -> None:
        """Add an action that runs once the change is applied to the group."""
        self._after.append(action)

    def run_after_commit(self) -> None:
        """Run the actions of after_commit."""
        for action in self._after:
            action()


class ConsumerGroupStore:
    """Finds groups of the consumer protocol, and commits changes of them."""

    __slots__ = ("_log", "_registry")

    def __init__(self, registry: GroupRegistry, log: CoordinatorLog) -> None:
        """registry: the groups of all types. log: the log of the group coordinator."""
        self._registry = registry
        self._log = log

    def find_group(self, group_id: str) -> Group | None:
        """Return the group of any type, or None. Raises KafkaError NOT_COORDINATOR if another node has it."""
        return self._registry.find(group_id)

    def has(self, group: Group) -> bool:
        """Return whether this is still the group of its id."""
        return self._registry.has(group)

    def find_consumer_group(self, group_id: str) -> ConsumerGroup | None:
        """Return the group if it uses the consumer protocol, else None."""
        group = self._registry.find(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def group_of(self, group_id: str) -> ConsumerGroup:
        """Return the group. Raises KafkaError GROUP_ID_NOT_FOUND."""
        group = self._registry.group_of(group_id)
        if not isinstance(group, ConsumerGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        return group

    def new_timers(self, group_id: str) -> GroupTimers:
        """Create the timers of a new group of that id."""
        return self._registry.new_timers(group_id)

    def new_group(self, group_id: str) -> ConsumerGroup:
        """Create a group. Its first commit adds it to the registry."""
        return ConsumerGroup(group_id, self._registry.new_timers(group_id))

    def commit(self, change: GroupChange) -> None:
        """Write the change, and apply it to the group. Raises KafkaError; nothing is changed then."""
        group = change.group
        records = [*change.replaced_records, *state_records(change.records)]
        if records:
            self._log.append(group.group_id, records)
            if not self._registry.has(group):
                self._registry.add(group)
            for record in change.records:
                group.apply(record)
        change.run_after_commit()

    def replace(self, change: GroupChange, group: ClassicGroup, records: Sequence[CoordinatorRecord]) -> None:
        """Write the change, which deletes the group, and the records of the classic group that replaces it.

        Raises KafkaError; nothing is changed then.
        """
        self._log.append(group.group_id, [*state_records(change.records), *records])
        self._registry.add(group)
        change.run_after_commit()

    def replay(self, record: ConsumerGroupRecord) -> None:
        """Apply a record of the log at start-up.

        Source: GroupMetadataManager.getOrMaybeCreatePersistedConsumerGroup, Kafka 4.3.0.
        """
        group_id = record.key.group_id
        group = self.find_consumer_group(group_id)
        if record.value is None:
            if group is not None and record.key.record_type is ConsumerRecordType.GROUP_METADATA:
                self._registry.delete(group)
            elif group is not None:
                group.apply(record)
            return
        if group is None:
            group = self.new_group(group_id)
            self._registry.add(group)
        group.apply(record)
