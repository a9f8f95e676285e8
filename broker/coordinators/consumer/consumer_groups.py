"""The operations on groups of the consumer protocol (KIP-848) for the group coordinator, and their descriptions.

Source of the descriptions: ConsumerGroup.asDescribedGroup and ConsumerGroupMember.asConsumerGroupDescribeMember, Kafka
4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.kafka_uuid import new_uuid, uuid_text
from ....protocol.messages.consumer_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from ....protocol.stored_records.consumer_group_records import ConsumerRecordType
from ....protocol.stored_records.consumer_group_values import Partitions, RegularExpression
from ....protocol.stored_records.typed_records import TypedRecord
from .classic_members import ClassicMembers
from .group import ConsumerGroup
from .group_change import ConsumerGroupChange, ConsumerGroupStore
from .heartbeats import Client, Heartbeats
from .member import merged, without_epochs
from .member_update import MemberUpdate
from .members import Fencing
from .migration import Downgrade, Upgrade
from .records import group_record
from .regex_refresh import RegexRefresh
from .sessions import MemberSessions
from .topics import existing_topics, metadata_hash

if TYPE_CHECKING:
    from ....protocol.messages.consumer_group_heartbeat import (
        ConsumerGroupHeartbeatRequest,
        ConsumerGroupHeartbeatResponse,
    )
    from ....protocol.messages.heartbeat import HeartbeatRequest
    from ....protocol.messages.leave_group import MemberIdentity
    from ....protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
    from ..coordinator_log import CoordinatorLog
    from ..group.group_join import JoinAttempt
    from ..group.group_registry import GroupRegistry
    from ..group.rebalance import Rebalance
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings
    from .topics import GroupTopics


def new_member_id() -> str:
    """Return a random member id in Kafka's text form of a Uuid."""
    return uuid_text(new_uuid())


class ConsumerGroups:
    """Composes the parts of the coordinator of consumer groups."""

    def __init__(
        self,
        settings: ConsumerGroupSettings,
        registry: GroupRegistry,
        log: CoordinatorLog,
        topics: GroupTopics,
        *,
        rebalance: Rebalance,
        new_member_id: Callable[[], str] = new_member_id,
    ) -> None:
        """registry: the groups of all types. rebalance: continues with groups that were downgraded."""
        self._settings = settings
        self._topics = topics
        self._store = ConsumerGroupStore(registry, log, ConsumerGroup, "consumer")
        self._sessions = MemberSessions(settings, self._fence)
        downgrade = Downgrade(self._store, settings, topics, rebalance)
        self._fencing = Fencing(self._store, topics, self._sessions, downgrade)
        update = MemberUpdate(settings, topics)
        regexes = RegexRefresh(self._store, settings, topics)
        self._heartbeats = Heartbeats(
            self._store,
            settings,
            upgrade=Upgrade(self._store, settings, topics, self._sessions),
            update=update,
            regexes=regexes,
            fencing=self._fencing,
            new_member_id=new_member_id,
        )
        self._classic_members = ClassicMembers(
            self._store,
            settings,
            topics,
            update=update,
            regexes=regexes,
            fencing=self._fencing,
            downgrade=downgrade,
            new_member_id=new_member_id,
        )

    def _fence(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        self._fencing.fence(group, [member])

    def heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, client: Client, api_version: int
    ) -> ConsumerGroupHeartbeatResponse:
        """Handle a ConsumerGroupHeartbeat. Raises the errors of Heartbeats.handle."""
        return self._heartbeats.handle(request, client, api_version)

    def describe(self, group_id: str) -> DescribedGroup:
        """Describe a group."""
        if not group_id:
            return describe_empty_id()
        try:
            group = self._store.group_of(group_id)
        except KafkaError as error:
            return describe_error(group_id, error)
        return describe(group, self._topics, self._settings.limits.assignors[0])

    # -- classic members

    def join(self, attempt: JoinAttempt) -> None:
        """Handle the JoinGroup request of a classic member."""
        group = self._store.group_of(attempt.request.group_id)
        try:
            response = self._classic_members.join(group, attempt)
        except KafkaError as error:
            attempt.reject(error.code)
            return
        group.timers.delay_response(lambda: attempt.deferred.complete(response), attempt.reject)
        group.timers.finish_step()

    def sync(self, request: SyncGroupRequest) -> SyncGroupResponse:
        """Handle the SyncGroup request of a classic member. Raises the errors of ClassicMembers.sync."""
        return self._classic_members.sync(self._store.group_of(request.group_id), request)

    def classic_heartbeat(self, request: HeartbeatRequest) -> None:
        """Extend a classic member's session. Raises the errors of ClassicMembers.heartbeat."""
        group = self._store.group_of(request.group_id)
        self._classic_members.heartbeat(group, request.member_id, request.group_instance_id, request.generation_id)

    def leave(self, group_id: str, members: Sequence[MemberIdentity]) -> list[int]:
        """Remove members, and return the error code of each. Raises KafkaError if the write fails."""
        return self._classic_members.leave(self._store.group_of(group_id), members)

    def bump_epoch(self, group_id: str) -> None:
        """Give a group its next epoch, with which the next heartbeat computes an assignment. Raises KafkaError."""
        group = self._store.group_of(group_id)
        change = ConsumerGroupChange(group)
        topics_hash = metadata_hash(group.subscriptions.topic_names, self._topics)
        change.add_records(group_record(group_id, group.group_epoch + 1, topics_hash))
        self._store.commit(change)

    # -- at start-up

    def replay(self, record: TypedRecord) -> None:
        """Apply a record of the log."""
        self._store.replay(record, ConsumerRecordType.GROUP_METADATA)
        if isinstance(record.value, RegularExpression):
            self._topics.continue_after(record.value.version)

    def begin_sessions(self, group_id: str) -> None:
        """Start the timers of a group that was loaded."""
        self._sessions.start_sessions(self._store.group_of(group_id))


# The types of members by their numbers on the wire.
CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def describe(group: ConsumerGroup, topics: GroupTopics, default_assignor: str) -> DescribedGroup:
    """Describe a group and its members."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.subscriptions.preferred_assignor or default_assignor,
        members=[
            _describe_member(member, group.target_assignment_of(member.member_id), topics)
            for member in group.members.values()
        ],
    )


def describe_error(group_id: str, error: KafkaError) -> DescribedGroup:
    """Describe a group that another node coordinates, that does not exist, or that has another type.

    error: NOT_COORDINATOR, to which Kafka adds no message, or GROUP_ID_NOT_FOUND.
    """
    message = error.message if error.code is ErrorCode.GROUP_ID_NOT_FOUND else None
    return DescribedGroup(group_id=group_id, error_code=error.code, error_message=message)


def describe_empty_id() -> DescribedGroup:
    """Describe a group with an empty id."""
    return DescribedGroup(error_code=ErrorCode.INVALID_GROUP_ID)


def _describe_member(member: ConsumerMember, target: Partitions, topics: GroupTopics) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(without_epochs(merged(member.assigned, member.pending_revocation)), topics),
        target_assignment=_assignment(target, topics),
        member_type=CLASSIC_MEMBER if member.uses_classic_protocol else CONSUMER_MEMBER,
    )


def _assignment(partitions: Partitions, topics: GroupTopics) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic.topic_id, topic_name=topic.name, partitions=sorted(of_topic))
            for topic, of_topic in existing_topics(partitions, topics)
        ]
    )
