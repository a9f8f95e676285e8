"""A change of one group: the records that it takes, what goes before them, and what follows when they are written.

Whoever changes a group looks at it as it is, collects records, and commits them; only then the group changes, by the
same records as at a start.
Source: CoordinatorResult and GroupMetadataManager.replay, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


class GroupChange:
    """What is about to happen to a group.

    replaced: the classic group whose id it takes, with the records that say that this one is gone.
    """

    __slots__ = ("_after", "group", "records", "replaced", "replaced_records")

    def __init__(
        self,
        group: ConsumerGroup,
        replaced: ClassicGroup | None = None,
        replaced_records: Sequence[CoordinatorRecord] = (),
    ) -> None:
        """Begin without records."""
        self.group = group
        self.replaced = replaced
        self.replaced_records = replaced_records
        self.records: list[ConsumerGroupRecord] = []
        self._after: list[Callable[[], None]] = []

    def add(self, *records: ConsumerGroupRecord) -> None:
        """Have the records written."""
        self.records += records

    def extend(self, records: Iterable[ConsumerGroupRecord]) -> None:
        """Have the records written."""
        self.records += records

    def then(self, action: Callable[[], None]) -> None:
        """Do that when the group has changed."""
        self._after.append(action)

    def finish(self) -> None:
        """Do what was to be done when the group has changed."""
        for action in self._after:
            action()


class ConsumerGroupStore:
    """Finds groups of the consumer protocol in the registry of all, and changes them."""

    __slots__ = ("_log", "_registry")

    def __init__(self, registry: GroupRegistry, log: CoordinatorLog) -> None:
        """registry: all groups, of every kind. log: where they are kept."""
        self._registry = registry
        self._log = log

    def find_any(self, group_id: str) -> Group | None:
        """Return the group, of whatever kind, or None."""
        return self._registry.find(group_id)

    def find(self, group_id: str) -> ConsumerGroup | None:
        """Return the group, None where there is none of the kind."""
        group = self._registry.find(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def group_of(self, group_id: str) -> ConsumerGroup:
        """Return the group; raises KafkaError GROUP_ID_NOT_FOUND."""
        group = self._registry.group_of(group_id)
        if not isinstance(group, ConsumerGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        return group

    def new_timers(self) -> GroupTimers:
        """Return the timers of a group that is to be added."""
        return self._registry.new_timers()

    def new_group(self, group_id: str) -> ConsumerGroup:
        """Return a group that nobody knows before something of it is committed."""
        return ConsumerGroup(group_id, self._registry.new_timers())

    def commit(self, change: GroupChange) -> None:
        """Write the change, and have the group follow it. Raises KafkaError; nothing has changed then."""
        group = change.group
        records = [*change.replaced_records, *state_records(change.records)]
        if records:
            self._log.append(group.group_id, records)
            if self._registry.find(group.group_id) is not group:
                self._registry.add(group)
            for record in change.records:
                group.apply(record)
        change.finish()

    def replace(self, change: GroupChange, group: ClassicGroup, records: Sequence[CoordinatorRecord]) -> None:
        """Write the change, which takes the group back, and records of a classic one that takes its place.

        Raises KafkaError; nothing has changed then.
        """
        self._log.append(group.group_id, [*state_records(change.records), *records])
        self._registry.add(group)
        change.finish()

    def replay(self, record: ConsumerGroupRecord) -> None:
        """Apply a record that is read again.

        Source: GroupMetadataManager.getOrMaybeCreatePersistedConsumerGroup, Kafka 4.3.0.
        """
        group_id = record.key.group_id
        group = self.find(group_id)
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
