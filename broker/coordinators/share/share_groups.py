"""The coordinator of share groups (KIP-932), for handlers and the group coordinator.

Source: GroupCoordinatorService, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ....faults.consumption.events import ShareReset
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.java_long import wrapped_long
from ....protocol.messages.share_group_describe import Assignment, DescribedGroup, Member, TopicPartitions
from ....protocol.stored_records.share_group_records import ShareRecordType, StateTopic
from ....protocol.stored_records.share_state_records import ShareKey
from ....protocol.stored_records.typed_records import TypedRecord
from ...runtime.deferred import Deferred
from ..group.typed_groups import TypedGroupStore
from . import simple_assignor
from .heartbeats import ShareHeartbeats
from .settings import ShareGroupSettings
from .share_group import ShareGroup, ShareMember
from .state_batches import NO_OFFSET

if TYPE_CHECKING:
    from ....protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
    from ...replica.replica_manager import ReplicaManager
    from ..consumer.heartbeats import Client
    from ..consumer.topics import GroupTopics
    from ..coordinator_log import CoordinatorLog
    from ..group.group_registry import GroupRegistry
    from .share_nodes import ShareNodes

logger = logging.getLogger(__name__)

# Kafka's message for a missing topic or partition.
UNKNOWN_MESSAGE = "This server does not host this topic-partition."
# The epoch of the states of a group that does not exist yet.
NO_GROUP_EPOCH = 1


class ShareOffset(NamedTuple):
    """The offset of a group in a partition. lag: the number of records that are not done."""

    start_offset: int
    leader_epoch: int
    lag: int


class ShareGroups:
    """Coordinates the share groups of the registry."""

    def __init__(
        self,
        replicas: ReplicaManager,
        registry: GroupRegistry,
        log: CoordinatorLog,
        topics: GroupTopics,
        nodes: ShareNodes,
    ) -> None:
        """log: the log of the groups (__consumer_offsets). nodes: where their states and partitions are."""
        self._registry = registry
        self._store = TypedGroupStore(registry, log, ShareGroup, "share")
        self._log = log
        self._topics = topics
        self._nodes = nodes
        settings = ShareGroupSettings(replicas)
        self._heartbeats = ShareHeartbeats(self._store, settings, topics, self._initialize_states)

    def flushed(self) -> Deferred[ErrorCode]:
        """Return what completes when the written groups and states are durable. See CoordinatorLog.flushed."""
        return self._nodes.flushed(self._log)

    # -- members

    def heartbeat(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        """Return the response to a ShareGroupHeartbeat. Raises KafkaError, see ShareHeartbeats.handle."""
        return self._heartbeats.handle(request, client)

    def remove_member(self, group_id: str, member_id: str) -> None:
        """Remove a member from its group. Raises KafkaError: UNKNOWN_MEMBER_ID, and those of CoordinatorLog.append."""
        self._heartbeats.remove_member(self._store.group_of(group_id), member_id)

    def bump_epoch(self, group_id: str) -> None:
        """Give a group its next epoch, with which the next heartbeat computes an assignment. Raises KafkaError."""
        self._heartbeats.bump_epoch(self._store.group_of(group_id))

    def describe(self, group_id: str) -> DescribedGroup:
        """Return the group with its members."""
        if not group_id:
            return DescribedGroup(error_code=ErrorCode.INVALID_GROUP_ID)
        try:
            group = self._registry.find(group_id)
        except KafkaError as error:
            message = ERROR_MESSAGES[error.code]
            return DescribedGroup(group_id=group_id, error_code=error.code, error_message=message)
        if not isinstance(group, ShareGroup):
            message = f"Group {group_id} {'not found.' if group is None else 'is not a share group.'}"
            return DescribedGroup(group_id=group_id, error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message=message)
        return DescribedGroup(
            group_id=group_id,
            group_state=group.state_name,
            group_epoch=group.group_epoch,
            assignment_epoch=group.assignment_epoch,
            assignor_name=simple_assignor.NAME,
            members=[self._describe_member(each) for each in group.members.values()],
        )

    def _describe_member(self, member: ShareMember) -> Member:
        topics = [
            TopicPartitions(topic_id=topic_id, topic_name=topic.name, partitions=sorted(indexes))
            for topic_id, indexes in member.partitions.items()
            if (topic := self._topics.find_by_id(topic_id)) is not None
        ]
        return Member(
            member_id=member.member_id,
            rack_id=member.metadata.rack_id,
            member_epoch=member.member_epoch,
            client_id=member.metadata.client_id,
            client_host=member.metadata.client_host,
            subscribed_topic_names=list(member.metadata.subscribed_topic_names),
            assignment=Assignment(topic_partitions=topics),
        )

    # -- states

    def _initialize_states(self, group_id: str, group_epoch: int, topics: Iterable[StateTopic]) -> None:
        for topic in topics:
            for index in topic.partitions:
                key = ShareKey(group_id, topic.topic_id, index)
                if self._nodes.find_state(key) is None:
                    self._nodes.initialize_state(key, group_epoch)

    def keys_of(self, group_id: str) -> list[ShareKey]:
        """Return the keys of the group's states."""
        return self._nodes.keys_of(group_id)

    def find_offset(self, key: ShareKey) -> ShareOffset | None:
        """Return the group's offset as last written, or None without a start offset or a partition."""
        state = self._nodes.find_state(key)
        partition = self._nodes.find_partition(key.topic_id, key.partition)
        if state is None or partition is None or state.start_offset == NO_OFFSET:
            return None
        done_count = max(0, state.delivery_complete_count)
        # A client may set any 64-bit number as the start offset.
        lag = wrapped_long(partition.log.high_watermark - state.start_offset - done_count)
        return ShareOffset(state.start_offset, state.leader_epoch, lag)

    def alter_start_offset(self, group_id: str, topic_id: bytes, index: int, start_offset: int) -> None:
        """Set the start offset of a group without members.

        Raises KafkaError: NON_EMPTY_GROUP, and the errors of CoordinatorLog.append.
        """
        group = self._find_empty_group(group_id)
        epoch = NO_GROUP_EPOCH if group is None else group.group_epoch
        key = ShareKey(group_id, topic_id, index)
        self._nodes.initialize_state(key, epoch, start_offset)
        self._nodes.report(ShareReset(key))
        self._nodes.close_partition(key)

    def delete_states(self, group_id: str, topic_id: bytes) -> None:
        """Delete the states of a group without members in a topic. Raises KafkaError, see alter_start_offset."""
        self._find_empty_group(group_id)
        for key in self.keys_of(group_id):
            if key.topic_id == topic_id:
                self._delete_state(key)

    def check_empty(self, group_id: str) -> None:
        """Check that the group has no members, or does not exist.

        Raises KafkaError: INVALID_GROUP_ID, NON_EMPTY_GROUP, and GROUP_ID_NOT_FOUND for another type of group.
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")
        self._find_empty_group(group_id)

    def _find_empty_group(self, group_id: str) -> ShareGroup | None:
        group = self._store.find_group(group_id)
        if group is not None:
            group.check_delete()
        return group

    def delete(self, group_id: str) -> None:
        """Delete all states of a group. The caller deletes the group. Raises KafkaError."""
        for key in self.keys_of(group_id):
            self._delete_state(key)

    def _delete_state(self, key: ShareKey) -> None:
        self._nodes.delete_state(key)
        self._nodes.report(ShareReset(key))
        self._nodes.close_partition(key)

    def remove_topics(self, topic_ids: Collection[bytes]) -> None:
        """Remove deleted topics from every group. The share coordinators delete their states."""
        self._heartbeats.remove_topics(topic_ids)

    # -- load

    def replay(self, record: TypedRecord) -> None:
        """Apply a record of the group log."""
        self._store.replay(record, ShareRecordType.GROUP_METADATA)

    def begin_sessions(self, group_id: str) -> None:
        """Begin the sessions of the members of a loaded group."""
        group = self._store.group_of(group_id)
        self._heartbeats.begin_sessions(group)
