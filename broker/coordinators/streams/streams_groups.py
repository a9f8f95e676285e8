"""The coordinator of streams groups (KIP-1071), for handlers and the group coordinator.

Source: GroupCoordinatorService, Kafka 4.4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.streams_group_describe import DescribedGroup
from ....protocol.stored_records.streams_group_records import StreamsRecordType
from ..group.typed_groups import GroupChange, TypedGroupStore
from .creation_failures import CreationFailures
from .group_descriptions import describe
from .heartbeats import HeartbeatResult, StreamsHeartbeats
from .members import StreamsMembers
from .settings import StreamsGroupSettings
from .streams_group import StreamsGroup

if TYPE_CHECKING:
    from ....protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
    from ....protocol.stored_records.typed_records import TypedRecord
    from ...replica.replica_manager import ReplicaManager
    from ..consumer.heartbeats import Client
    from ..consumer.topics import GroupTopics
    from ..coordinator_log import CoordinatorLog
    from ..group.group_registry import GroupRegistry


class StreamsGroups:
    """Coordinates the streams groups of the registry."""

    def __init__(
        self, replicas: ReplicaManager, registry: GroupRegistry, log: CoordinatorLog, topics: GroupTopics
    ) -> None:
        """log: the log of the groups (__consumer_offsets). topics: those of the cluster."""
        self._store = TypedGroupStore(registry, log, StreamsGroup, "streams")
        self._settings = StreamsGroupSettings(replicas)
        self._members = StreamsMembers(self._store, self._settings)
        self._heartbeats = StreamsHeartbeats(self._store, self._settings, topics, self._members)
        self.creation_failures = CreationFailures(replicas.clock, self._settings)

    def heartbeat(self, request: StreamsGroupHeartbeatRequest, client: Client, api_version: int) -> HeartbeatResult:
        """Handle a StreamsGroupHeartbeat. Raises KafkaError, see StreamsHeartbeats.handle."""
        return self._heartbeats.handle(request, client, api_version)

    def remove_member(self, group_id: str, member_id: str) -> None:
        """Remove a member from its group. Raises KafkaError: UNKNOWN_MEMBER_ID, and those of CoordinatorLog.append."""
        self._members.remove(self._store.group_of(group_id), member_id)

    def bump_epoch(self, group_id: str) -> None:
        """Give a group its next epoch, with which the next heartbeat assigns the tasks again. Raises KafkaError."""
        group = self._store.group_of(group_id)
        self._members.bump_epoch(GroupChange(group), has_members=not group.is_empty)

    def describe(self, group_id: str) -> DescribedGroup:
        """Return the group with its topology and its members."""
        if not group_id:
            return DescribedGroup(error_code=ErrorCode.INVALID_GROUP_ID)
        try:
            group = self._store.group_of(group_id)
        except KafkaError as error:
            message = error.message if error.code is ErrorCode.GROUP_ID_NOT_FOUND else None
            return DescribedGroup(group_id=group_id, error_code=error.code, error_message=message)
        return describe(group, self._store.log.end_offset_of(group_id))

    # -- load

    def replay(self, record: TypedRecord) -> None:
        """Apply a record of the group log."""
        self._store.replay(record, StreamsRecordType.GROUP_METADATA)

    def begin_sessions(self, group_id: str) -> None:
        """Start the timers of a group that was loaded."""
        self._members.begin_sessions(self._store.group_of(group_id))
