"""ShareGroupHeartbeat: a member joins, sends its subscription, gets its assignment, or leaves.

Only partitions with a share state are assigned. The first heartbeat with a subscription to a topic initializes the
states of its partitions when it ends. The next heartbeat of any member assigns them.
Source: GroupCoordinatorService.throwIfShareGroupHeartbeatRequestIsInvalid and GroupMetadataManager.shareGroupHeartbeat,
Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from ....protocol.stored_records.share_group_records import (
    ShareGroupMetadata,
    ShareMemberMetadata,
    ShareRecordType,
)
from ....security.java_text import is_blank
from ..consumer.topics import metadata_hash
from ..group.member_group import JOIN_EPOCH, LEAVE_EPOCH
from ..group.member_timeouts import MemberTimeouts, session_timer
from ..group.typed_groups import GroupChange
from .member_update import ShareMemberUpdate
from .share_group import ShareGroup, ShareMember, subscribed_names
from .state_topics import StateTopics

if TYPE_CHECKING:
    from ....protocol.stored_records.consumer_group_values import Partitions
    from ..consumer.heartbeats import Client
    from ..consumer.topics import GroupTopics
    from ..group.typed_groups import TypedGroupStore
    from .settings import ShareGroupSettings
    from .state_topics import InitializeStates


class ShareHeartbeats:
    """Handles ShareGroupHeartbeat, and removes members whose session expires."""

    def __init__(
        self,
        store: TypedGroupStore[ShareGroup],
        settings: ShareGroupSettings,
        topics: GroupTopics,
        initialize_states: InitializeStates,
    ) -> None:
        """topics: the topics of the cluster."""
        self._store = store
        self._settings = settings
        self._topics = topics
        self._update = ShareMemberUpdate(settings, topics)
        self._timeouts: MemberTimeouts[ShareGroup] = MemberTimeouts(self.remove_member)
        self._state_topics = StateTopics(store, topics, initialize_states)

    def handle(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        """Return the response to a heartbeat.

        Raises KafkaError: INVALID_REQUEST, GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
        FENCED_MEMBER_EPOCH, and the errors of CoordinatorLog.append.
        """
        _check_request(request)
        if request.member_epoch == LEAVE_EPOCH:
            self.remove_member(self._store.group_of(request.group_id), request.member_id)
            return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=LEAVE_EPOCH)
        return self._join_or_stay(request, client)

    def begin_sessions(self, group: ShareGroup) -> None:
        """Begin the sessions of a loaded group, and initialize the states that a crash has left out."""
        for member_id in group.members:
            self._extend_session(group, member_id)
        self._state_topics.initialize_pending(group)

    def remove_topics(self, topic_ids: Collection[bytes]) -> None:
        """Remove deleted topics from the states of every group."""
        self._state_topics.remove_topics(topic_ids)

    # -- joining and staying

    def _join_or_stay(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        group = self._group_of(request)
        if len(group.members) >= self._settings.members_max and request.member_id not in group.members:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The share group has reached its maximum capacity of {self._settings.members_max} members.",
            )
        before = self._member_of(group, request)
        change = GroupChange(group)
        member = self._update.update(change, before, _with_fields(before, request, client))
        others = (each for each in group.members.values() if each.member_id != member.member_id)
        self._state_topics.add_pending(change, subscribed_names([*others, member]))
        self._store.commit(change)
        self._extend_session(group, member.member_id)
        self._state_topics.initialize_pending(group)
        has_assignment = (
            request.member_epoch == JOIN_EPOCH
            or request.subscribed_topic_names is not None
            or member.partitions != before.partitions
        )
        return ShareGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.member_epoch,
            heartbeat_interval_ms=self._settings.heartbeat_interval_ms(group.group_id),
            assignment=_assignment(member.partitions) if has_assignment else None,
        )

    def _group_of(self, request: ShareGroupHeartbeatRequest) -> ShareGroup:
        """Return the group. A member that joins a missing group gets a new one, to be registered by the commit."""
        group = self._store.find_group(request.group_id)
        if group is not None:
            return group
        if request.member_epoch != JOIN_EPOCH:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {request.group_id} not found.")
        return self._store.new_group(request.group_id)

    def _member_of(self, group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareMember:
        member = group.members.get(request.member_id)
        if member is None:
            if request.member_epoch != JOIN_EPOCH:
                return group.member_of(request.member_id)
            return ShareMember(request.member_id, ShareMemberMetadata(None, "", "", ()))
        received = request.member_epoch
        if received in (JOIN_EPOCH, member.member_epoch, member.previous_member_epoch):
            return member
        raise _fenced(member, received)

    # -- leaving

    def remove_member(self, group: ShareGroup, member_id: str) -> None:
        """Remove a member. Raises KafkaError: UNKNOWN_MEMBER_ID, and the errors of CoordinatorLog.append."""
        member = group.member_of(member_id)
        change = GroupChange(group)
        for record_type in (
            ShareRecordType.CURRENT_MEMBER_ASSIGNMENT,
            ShareRecordType.TARGET_ASSIGNMENT_MEMBER,
            ShareRecordType.MEMBER_METADATA,
        ):
            change.add(record_type, None, member.member_id)
        self._commit_with_next_epoch(change, [each for each in group.members.values() if each is not member])
        group.timers.cancel(session_timer(member.member_id))

    def bump_epoch(self, group: ShareGroup) -> None:
        """Give a group its next epoch, with which the next heartbeat computes an assignment. Raises KafkaError."""
        self._commit_with_next_epoch(GroupChange(group), group.members.values())

    def _commit_with_next_epoch(self, change: GroupChange[ShareGroup], members: Iterable[ShareMember]) -> None:
        topics_hash = metadata_hash(subscribed_names(members), self._topics)
        change.add(ShareRecordType.GROUP_METADATA, ShareGroupMetadata(change.group.group_epoch + 1, topics_hash))
        self._store.commit(change)

    def _extend_session(self, group: ShareGroup, member_id: str) -> None:
        """Restart the member's session timeout."""
        self._timeouts.schedule_session(group, member_id, self._settings.session_timeout_ms(group.group_id))


def _check_request(request: ShareGroupHeartbeatRequest) -> None:
    """Raise KafkaError INVALID_REQUEST for missing or invalid fields."""
    if is_blank(request.member_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if is_blank(request.group_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
    if request.rack_id is not None and is_blank(request.rack_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "RackId can't be empty.")
    if request.member_epoch == JOIN_EPOCH and not request.subscribed_topic_names:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE_EPOCH:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


def _fenced(member: ShareMember, received: int) -> KafkaError:
    if received > member.member_epoch:
        word, end = "greater", ""
    else:
        word, end = "smaller", f", and it does not match the previous member epoch ({member.previous_member_epoch})"
    return KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The share group member has a {word} member epoch ({received}) than the one known by the group coordinator "
        f"({member.member_epoch}){end}. The member must abandon all its partitions and rejoin.",
    )


def _with_fields(member: ShareMember, request: ShareGroupHeartbeatRequest, client: Client) -> ShareMember:
    """Return the member with the fields of the request. Null fields keep their value."""
    before = member.metadata
    names = request.subscribed_topic_names
    metadata = ShareMemberMetadata(
        rack_id=before.rack_id if request.rack_id is None else request.rack_id,
        client_id=client.client_id,
        client_host=client.client_host,
        subscribed_topic_names=before.subscribed_topic_names if names is None else tuple(sorted(names)),
    )
    return replace(member, metadata=metadata)


def _assignment(partitions: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=sorted(indexes)) for topic_id, indexes in partitions.items()
        ]
    )
