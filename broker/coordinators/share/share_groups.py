"""All share groups (KIP-932), behind one door for request handlers and for the group coordinator.

Source: GroupCoordinatorService and SharePartitionManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.share_group_describe import Assignment, DescribedGroup, Member, TopicPartitions
from ....protocol.stored_records.share_group_records import ShareGroupRecord, ShareRecordType, StateTopic
from ....protocol.stored_records.share_state_records import ShareKey
from ...runtime.deferred import Deferred
from . import simple_assignor
from .heartbeats import ShareHeartbeats
from .reset_offset import first_offset
from .settings import ShareGroupSettings
from .share_group import ShareGroup, ShareMember
from .share_partition import SharePartition
from .share_sessions import ShareSession, ShareSessions
from .share_state import NO_OFFSET, ShareStates

if TYPE_CHECKING:
    from ....protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from ..consumer.heartbeats import Client
    from ..consumer.topics import GroupTopics
    from ..coordinator_log import CoordinatorLog
    from ..group.group_log import GroupLog
    from ..group.group_registry import GroupRegistry

logger = logging.getLogger(__name__)

R = TypeVar("R")

# What is said of a topic or partition that there is not.
UNKNOWN_MESSAGE = "This server does not host this topic-partition."
# The epoch of the state of a group that nobody has joined yet.
FIRST_ALTERED_EPOCH = 1


class ShareOffset(NamedTuple):
    """How far a group is in a partition; lag: how many records it is not done with."""

    start_offset: int
    leader_epoch: int
    lag: int


class ShareGroups:
    """Coordinates share groups, which are among all groups of the registry, and leads their partitions."""

    def __init__(
        self,
        replicas: ReplicaManager,
        registry: GroupRegistry,
        log: GroupLog,
        state_log: CoordinatorLog,
        topics: GroupTopics,
    ) -> None:
        """log: where groups are kept. state_log: where it is kept how far they are in partitions."""
        self._replicas = replicas
        self._registry = registry
        self._log = log
        self._state_log = state_log
        self._topics = topics
        self.settings = ShareGroupSettings(replicas.image.configs)
        self.states = ShareStates(replicas, state_log)
        self.sessions = ShareSessions(self.settings)
        self._heartbeats = ShareHeartbeats(registry, log, self.settings, topics, self._begin_states)
        self._partitions: dict[ShareKey, SharePartition] = {}

    def when_durable(self, response: R, refused: Callable[[ErrorCode], R]) -> R | Deferred[R]:
        """Return the response to what was written since, now or when that is as safe as asked for (flush.messages)."""
        of_states: ErrorCode | Deferred[ErrorCode] = self._state_log.when_durable(ErrorCode.NONE, _told)
        of_groups: ErrorCode | Deferred[ErrorCode] = self._log.when_durable(ErrorCode.NONE, _told)
        if not isinstance(of_states, Deferred) and not isinstance(of_groups, Deferred):
            return response
        both: Deferred[R] = Deferred(is_applied=True)
        told: list[ErrorCode] = []

        def settled(error_code: ErrorCode) -> None:
            told.append(error_code)
            if len(told) == len((of_states, of_groups)):
                error = max(told)
                both.complete(response if error is ErrorCode.NONE else refused(error))

        for each in (of_states, of_groups):
            if isinstance(each, Deferred):
                each.deliver_to(settled)
            else:
                settled(each)
        return both

    # -- members

    def heartbeat(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        """Answer a ShareGroupHeartbeat; raises KafkaError, see ShareHeartbeats.answer."""
        return self._heartbeats.answer(request, client)

    def describe(self, group_id: str) -> DescribedGroup:
        """Return the group with its members."""
        if not group_id:
            return DescribedGroup(error_code=ErrorCode.INVALID_GROUP_ID)
        group = self._registry.find(group_id)
        if not isinstance(group, ShareGroup):
            what = "not found." if group is None else "is not a share group."
            message = f"Group {group_id} {what}"
            return DescribedGroup(group_id=group_id, error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message=message)
        return DescribedGroup(
            group_id=group_id,
            group_state=group.state_name,
            group_epoch=group.group_epoch,
            assignment_epoch=group.assignment_epoch,
            assignor_name=simple_assignor.NAME,
            members=[self._described(each) for each in group.members.values()],
        )

    def _described(self, member: ShareMember) -> Member:
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

    def partition_of(self, group_id: str, partition: Partition) -> SharePartition:
        """Return the partition as the group sees it. Raises KafkaError, OSError."""
        key = ShareKey(group_id, partition.topic_id, partition.index)
        found = self._partitions.get(key)
        if found is None:
            found = self._partitions[key] = self._lead(key, partition)
        found.start_from(partition.log.log_start_offset)
        return found

    def _lead(self, key: ShareKey, partition: Partition) -> SharePartition:
        state = self.states.find(key)
        if state is None:
            # Of a client that fetches without having sent a heartbeat.
            self.states.begin(key, 0)
            state = self.states.find(key)
        assert state is not None, "a state that was just begun"
        start_offset = state.start_offset
        if start_offset == NO_OFFSET:
            reset = self.settings.auto_offset_reset(key.group_id)
            start_offset = first_offset(partition.log, reset, self._replicas.clock.now_ms())
        return SharePartition(
            start_offset,
            state.batches,
            limits=partial(self.settings.limits, key.group_id),
            clock=self._replicas.clock,
            write=partial(self.states.update, key),
        )

    def end_session(self, session: ShareSession) -> None:
        """End a member's session, and give back what it has."""
        self.sessions.end(session)
        for topic_id, index in session.partitions:
            found = self._partitions.get(ShareKey(session.group_id, topic_id, index))
            if found is None:
                continue
            try:
                found.release(session.member_id)
            except KafkaError as error:
                # Its locks end by themselves.
                logger.warning("%s of %s: %s", session.member_id, session.group_id, error.message)

    def end_sessions(self, connection_id: int) -> None:
        """End the sessions that were begun over a connection, which is closed."""
        for session in self.sessions.of_connection(connection_id):
            self.end_session(session)

    def remove_topics(self, topic_ids: Sequence[bytes]) -> None:
        """Know nothing of topics that are gone."""
        for key in [each for each in self._partitions if each.topic_id in topic_ids]:
            self._partitions.pop(key).close()

    def _forget(self, key: ShareKey) -> None:
        known = self._partitions.pop(key, None)
        if known is not None:
            known.close()

    # -- states

    def _begin_states(self, group_id: str, group_epoch: int, topics: Iterable[StateTopic]) -> None:
        for topic in topics:
            for index in topic.partitions:
                key = ShareKey(group_id, topic.topic_id, index)
                if self.states.find(key) is None:
                    self.states.begin(key, group_epoch)

    def offset_of(self, key: ShareKey) -> ShareOffset | None:
        """Return how far a group is: what was written last, which may be behind what it has done with.

        None where it has not begun, or the partition is gone.
        """
        state = self.states.find(key)
        partition = self._replicas.find_partition(key.topic_id, key.partition)
        if state is None or partition is None or state.start_offset == NO_OFFSET:
            return None
        done = state.start_offset + max(0, state.delivery_complete_count)
        return ShareOffset(state.start_offset, state.leader_epoch, partition.log.high_watermark - done)

    def alter_start(self, group_id: str, topic_id: bytes, index: int, start_offset: int) -> None:
        """Have a group without members go on at start_offset. Raises KafkaError NON_EMPTY_GROUP, and of writing."""
        group = self._empty_group_of(group_id)
        epoch = FIRST_ALTERED_EPOCH if group is None else group.group_epoch
        key = ShareKey(group_id, topic_id, index)
        self.states.begin(key, epoch, start_offset)
        self._forget(key)

    def delete_states(self, group_id: str, topic_id: bytes) -> None:
        """Forget how far a group without members is in a topic. Raises KafkaError NON_EMPTY_GROUP, and of writing."""
        self._empty_group_of(group_id)
        for key in self.states.keys_of(group_id):
            if key.topic_id == topic_id:
                self.states.delete(key)
                self._forget(key)

    def check_empty(self, group_id: str) -> None:
        """Check that the group, if there is one, has no members.

        Raises KafkaError: INVALID_GROUP_ID, NON_EMPTY_GROUP; GROUP_ID_NOT_FOUND for one of another kind.
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")
        self._empty_group_of(group_id)

    def _empty_group_of(self, group_id: str) -> ShareGroup | None:
        group = self._registry.find(group_id)
        if group is None:
            return None
        if not isinstance(group, ShareGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        group.check_delete()
        return group

    def delete(self, group_id: str) -> None:
        """Forget all states of a group that is about to be deleted. Raises KafkaError."""
        for key in self.states.keys_of(group_id):
            self.states.delete(key)
            self._forget(key)

    # -- life

    def load(self) -> None:
        """Know what the log of states tells."""
        self.states.load()

    def replay(self, record: ShareGroupRecord) -> None:
        """Apply a record that is read again."""
        group = self._registry.find(record.group_id)
        known = group if isinstance(group, ShareGroup) else None
        if record.value is None:
            if known is not None and record.record_type is ShareRecordType.GROUP_METADATA:
                self._registry.delete(known)
            elif known is not None:
                known.apply(record)
            return
        if known is None:
            known = ShareGroup(record.group_id, self._registry.new_timers())
            self._registry.add(known)
        known.apply(record)

    def begin_sessions(self, group_id: str) -> None:
        """Begin the sessions of a group that was read."""
        group = self._registry.group_of(group_id)
        assert isinstance(group, ShareGroup), f"{group_id} is no share group"
        self._heartbeats.begin_sessions(group)

    def unload(self) -> None:
        """Forget everything; no lock ends any more, and who waits looks again."""
        partitions = list(self._partitions.values())
        self._partitions.clear()
        for each in partitions:
            each.close()


def _told(error_code: ErrorCode) -> ErrorCode:
    """Return what a client is told."""
    return error_code
