"""The coordinator of share groups and the leader of their partitions (KIP-932), for handlers and the group coordinator.

Source: GroupCoordinatorService and SharePartitionManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.messages.share_group_describe import Assignment, DescribedGroup, Member, TopicPartitions
from ....protocol.stored_records.share_group_records import ShareGroupRecord, ShareRecordType, StateTopic
from ....protocol.stored_records.share_state_records import ShareKey
from ...runtime.deferred import Deferred
from . import simple_assignor
from .heartbeats import ShareHeartbeats
from .settings import BY_DURATION, EARLIEST, ShareGroupSettings
from .share_group import ShareGroup, ShareMember
from .share_partition import SharePartition
from .share_sessions import ShareSession, ShareSessions
from .share_state import NO_OFFSET, ShareStates

if TYPE_CHECKING:
    from ....protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
    from ....storage.partition_log import PartitionLog
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from ..consumer.heartbeats import Client
    from ..consumer.topics import GroupTopics
    from ..coordinator_log import CoordinatorLog
    from ..group.group_registry import GroupRegistry

logger = logging.getLogger(__name__)

R = TypeVar("R")

# Kafka's message for a missing topic or partition.
UNKNOWN_MESSAGE = "This server does not host this topic-partition."
# The epoch of the states of a group that does not exist yet.
NO_GROUP_EPOCH = 1
# PnDTnHnMn.nS, the format of java.time.Duration.
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)
_SECONDS = (86_400, 3_600, 60, 1)


class ShareOffset(NamedTuple):
    """The offset of a group in a partition. lag: the number of records that are not done."""

    start_offset: int
    leader_epoch: int
    lag: int


class ShareGroups:
    """Coordinates the share groups of the registry, and holds their partitions."""

    def __init__(
        self,
        replicas: ReplicaManager,
        registry: GroupRegistry,
        log: CoordinatorLog,
        state_log: CoordinatorLog,
        topics: GroupTopics,
    ) -> None:
        """log: the log of the groups (__consumer_offsets). state_log: of their states in partitions."""
        self._replicas = replicas
        self._registry = registry
        self._log = log
        self._state_log = state_log
        self._topics = topics
        self.settings = ShareGroupSettings(replicas.image.configs)
        self.states = ShareStates(replicas, state_log)
        self.sessions = ShareSessions(self.settings)
        self._heartbeats = ShareHeartbeats(registry, log, self.settings, topics, self._initialize_states)
        self._partitions: dict[ShareKey, SharePartition] = {}

    def when_durable(self, response: R | Deferred[R], make_error: Callable[[ErrorCode], R]) -> R | Deferred[R]:
        """Return the response when the records of both logs are durable. See CoordinatorLog.when_durable.

        response: may be one that waits for records.
        """
        flushes = [log.when_durable(ErrorCode.NONE, ErrorCode) for log in (self._state_log, self._log)]
        pending = [each for each in flushes if isinstance(each, Deferred)]
        if not pending:
            return response
        waiting = cast("Deferred[R]", response) if isinstance(response, Deferred) else None
        deferred: Deferred[R] = Deferred(None if waiting is None else waiting.abandon, is_applied=waiting is None)
        error_codes: list[ErrorCode] = []

        def add(error_code: ErrorCode) -> None:
            error_codes.append(error_code)
            if len(error_codes) < len(pending):
                return
            worst = max(error_codes)
            if worst is not ErrorCode.NONE:
                if waiting is not None:
                    waiting.abandon()
                deferred.complete(make_error(worst))
            elif waiting is not None:
                waiting.deliver_to(deferred.complete, deferred.fail)
            else:
                deferred.complete(cast("R", response))

        for each in pending:
            each.deliver_to(add)
        return deferred

    # -- members

    def heartbeat(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        """Return the response to a ShareGroupHeartbeat. Raises KafkaError, see ShareHeartbeats.handle."""
        return self._heartbeats.handle(request, client)

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

    # -- partitions

    def has_partition(self, group_id: str, partition: Partition) -> bool:
        """Whether the share partition of the group was used before, so that its state is in memory."""
        return ShareKey(group_id, partition.topic_id, partition.index) in self._partitions

    def partition_of(self, group_id: str, partition: Partition) -> SharePartition:
        """Return the share partition of a group. Creates it from its state. Raises KafkaError, OSError."""
        key = ShareKey(group_id, partition.topic_id, partition.index)
        share_partition = self._partitions.get(key)
        if share_partition is None:
            share_partition = self._partitions[key] = self._create_partition(key, partition)
        share_partition.advance_to_log_start(partition.log.log_start_offset)
        return share_partition

    def _create_partition(self, key: ShareKey, partition: Partition) -> SharePartition:
        # A client that fetches without a heartbeat before has no state.
        state = self.states.find(key) or self.states.initialize(key, 0)
        start_offset = state.start_offset
        if start_offset == NO_OFFSET:
            reset = self.settings.auto_offset_reset(key.group_id)
            start_offset = _initial_offset(partition.log, reset, self._replicas.clock.now_ms())
        return SharePartition(
            start_offset,
            state.batches,
            limits=partial(self.settings.limits, key.group_id),
            clock=self._replicas.clock,
            write=partial(self.states.update, key),
        )

    def end_session(self, session: ShareSession) -> None:
        """End a member's session, and release its records."""
        self.sessions.end(session)
        for topic_id, index in session.partitions:
            share_partition = self._partitions.get(ShareKey(session.group_id, topic_id, index))
            if share_partition is None:
                continue
            try:
                share_partition.release(session.member_id)
            except KafkaError as error:
                # The end of the locks will release the records.
                logger.warning("%s of %s: %s", session.member_id, session.group_id, error.message)

    def end_sessions(self, connection_id: int) -> None:
        """End the sessions of a connection that has closed."""
        for session in self.sessions.of_connection(connection_id):
            self.end_session(session)

    def remove_topics(self, topic_ids: Sequence[bytes]) -> None:
        """Close the partitions of deleted topics."""
        for key in [each for each in self._partitions if each.topic_id in topic_ids]:
            self._close_partition(key)

    def _close_partition(self, key: ShareKey) -> None:
        share_partition = self._partitions.pop(key, None)
        if share_partition is not None:
            share_partition.close()

    # -- states

    def _initialize_states(self, group_id: str, group_epoch: int, topics: Iterable[StateTopic]) -> None:
        for topic in topics:
            for index in topic.partitions:
                key = ShareKey(group_id, topic.topic_id, index)
                if self.states.find(key) is None:
                    self.states.initialize(key, group_epoch)

    def find_offset(self, key: ShareKey) -> ShareOffset | None:
        """Return the group's offset as last written, or None without a start offset or a partition."""
        state = self.states.find(key)
        partition = self._replicas.find_partition(key.topic_id, key.partition)
        if state is None or partition is None or state.start_offset == NO_OFFSET:
            return None
        done_count = max(0, state.delivery_complete_count)
        lag = partition.log.high_watermark - state.start_offset - done_count
        return ShareOffset(state.start_offset, state.leader_epoch, lag)

    def alter_start_offset(self, group_id: str, topic_id: bytes, index: int, start_offset: int) -> None:
        """Set the start offset of a group without members.

        Raises KafkaError: NON_EMPTY_GROUP, and the errors of CoordinatorLog.append.
        """
        group = self._find_empty_group(group_id)
        epoch = NO_GROUP_EPOCH if group is None else group.group_epoch
        key = ShareKey(group_id, topic_id, index)
        self.states.initialize(key, epoch, start_offset)
        self._close_partition(key)

    def delete_states(self, group_id: str, topic_id: bytes) -> None:
        """Delete the states of a group without members in a topic. Raises KafkaError, see alter_start_offset."""
        self._find_empty_group(group_id)
        for key in self.states.keys_of(group_id):
            if key.topic_id == topic_id:
                self.states.delete(key)
                self._close_partition(key)

    def check_empty(self, group_id: str) -> None:
        """Check that the group has no members, or does not exist.

        Raises KafkaError: INVALID_GROUP_ID, NON_EMPTY_GROUP, and GROUP_ID_NOT_FOUND for another type of group.
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")
        self._find_empty_group(group_id)

    def _find_empty_group(self, group_id: str) -> ShareGroup | None:
        group = self._registry.find(group_id)
        if group is None:
            return None
        if not isinstance(group, ShareGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        group.check_delete()
        return group

    def delete(self, group_id: str) -> None:
        """Delete all states of a group. The caller deletes the group. Raises KafkaError."""
        for key in self.states.keys_of(group_id):
            self.states.delete(key)
            self._close_partition(key)

    # -- load and unload

    def load(self) -> None:
        """Read the states from their log."""
        self.states.load()

    def replay(self, record: ShareGroupRecord) -> None:
        """Apply a record of the group log."""
        group = self._registry.find(record.group_id)
        if not isinstance(group, ShareGroup):
            if record.value is None:
                return
            group = ShareGroup(record.group_id, self._registry.new_timers())
            self._registry.add(group)
        if record.value is None and record.record_type is ShareRecordType.GROUP_METADATA:
            self._registry.delete(group)
        else:
            group.apply(record)

    def begin_sessions(self, group_id: str) -> None:
        """Begin the sessions of the members of a loaded group."""
        group = self._registry.group_of(group_id)
        assert isinstance(group, ShareGroup), f"{group_id} is not a share group"
        self._heartbeats.begin_sessions(group)

    def unload(self) -> None:
        """Close all partitions, which cancels the locks and wakes the waiting fetches."""
        partitions = list(self._partitions.values())
        self._partitions.clear()
        for each in partitions:
            each.close()


def _initial_offset(log: PartitionLog, reset: str, now_ms: int) -> int:
    """Return the log start offset, the high watermark, or the offset of the first record of the duration.

    reset: share.auto.offset.reset of the group, which has never consumed the partition.
    Source: ShareGroupAutoOffsetResetStrategy, SharePartition.startOffsetDuringInitialization, Kafka 4.3.0.
    """
    if reset == EARLIEST:
        return log.log_start_offset
    if reset.startswith(BY_DURATION):
        begin_ms = now_ms - _duration_ms(reset.removeprefix(BY_DURATION))
        found = log.offset_for_timestamp(begin_ms, is_on_brokers_clock=True)
        if found is not None:
            return found.offset
    return log.high_watermark


def _duration_ms(text: str) -> int:
    """Return a duration in ms. Returns 0 for another text, which the config validation never accepts."""
    parts = _DURATION.fullmatch(text)
    if parts is None:
        return 0
    return round(1000 * sum(float(part or 0) * seconds for part, seconds in zip(parts.groups(), _SECONDS, strict=True)))
