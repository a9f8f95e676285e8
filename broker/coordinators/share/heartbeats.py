"""ShareGroupHeartbeat: a member joins, sends its subscription, gets its assignment, or leaves.

Only partitions with a share state are assigned. The first heartbeat with a subscription to a topic initializes the
states of its partitions when it ends. The next heartbeat of any member assigns them.
Source: GroupCoordinatorService.throwIfShareGroupHeartbeatRequestIsInvalid and GroupMetadataManager.shareGroupHeartbeat,
Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from ....protocol.stored_records.consumer_group_values import Partitions, TargetAssignment, TargetAssignmentMetadata
from ....protocol.stored_records.share_group_records import (
    ShareCurrentAssignment,
    ShareGroupMetadata,
    ShareGroupRecord,
    ShareMemberMetadata,
    ShareRecordType,
    ShareRecordValue,
    StatePartitionMetadata,
    StateTopic,
)
from ..consumer.topics import metadata_hash, topic_ids_of
from . import simple_assignor
from .share_group import ShareGroup, ShareMember, state_records, subscribed_names

if TYPE_CHECKING:
    from ..consumer.heartbeats import Client
    from ..consumer.topics import GroupTopics
    from ..coordinator_log import CoordinatorLog
    from ..group.group_registry import GroupRegistry
    from .settings import ShareGroupSettings

logger = logging.getLogger(__name__)

JOIN_EPOCH, LEAVE_EPOCH = 0, -1
# The delay before the removal of an expired member is tried again.
_RETRY_MS = 500

# Initializes the states of partitions: group id, group epoch, topics with partitions. Raises KafkaError.
InitializeStates = Callable[[str, int, Iterable[StateTopic]], None]


@dataclass(slots=True)
class _Change:
    """A group, and the records of its next change."""

    group: ShareGroup
    records: list[ShareGroupRecord]

    def add(self, record_type: ShareRecordType, value: ShareRecordValue | None, member_id: str = "") -> None:
        self.records.append(ShareGroupRecord(record_type, self.group.group_id, member_id, value))


class ShareHeartbeats:
    """Handles ShareGroupHeartbeat, and removes members whose session expires."""

    def __init__(
        self,
        registry: GroupRegistry,
        log: CoordinatorLog,
        settings: ShareGroupSettings,
        topics: GroupTopics,
        initialize_states: InitializeStates,
    ) -> None:
        """registry: the groups of every type. log: their log."""
        self._registry = registry
        self._log = log
        self._settings = settings
        self._topics = topics
        self._initialize_states = initialize_states

    def handle(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        """Return the response to a heartbeat.

        Raises KafkaError: INVALID_REQUEST, GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
        FENCED_MEMBER_EPOCH, and the errors of CoordinatorLog.append.
        """
        _check_request(request)
        if request.member_epoch == LEAVE_EPOCH:
            group = self._registry.group_of(request.group_id)
            if not isinstance(group, ShareGroup):
                raise _not_a_share_group(request.group_id)
            self._remove(group, group.member_of(request.member_id))
            return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=LEAVE_EPOCH)
        return self._join_or_stay(request, client)

    def begin_sessions(self, group: ShareGroup) -> None:
        """Begin the sessions of a loaded group, and initialize the states that a crash has left out."""
        for member_id in group.members:
            self._extend_session(group, member_id)
        self._initialize_pending_states(group)

    # -- joining and staying

    def _join_or_stay(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        group = self._group_of(request)
        if len(group.members) >= self._settings.members_max and request.member_id not in group.members:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The share group has reached its maximum capacity of {self._settings.members_max} members.",
            )
        before = self._member_of(group, request)
        member = _update_metadata(before, request, client)
        change = _Change(group, [])
        members = {**group.members, member.member_id: member}
        if member.metadata != before.metadata or member.member_id not in group.members:
            change.add(ShareRecordType.MEMBER_METADATA, member.metadata, member.member_id)
        epoch = self._next_epoch(change, members, is_member_changed=bool(change.records))
        member = self._assign(change, members, member, epoch)
        self._add_pending_states(change, members)
        self._commit(change)
        self._extend_session(group, member.member_id)
        self._initialize_pending_states(group)
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
        """Return the group. A member that joins a missing group gets a new one, to be registered by `_commit`."""
        group = self._registry.find(request.group_id)
        if isinstance(group, ShareGroup):
            return group
        if group is not None:
            raise _not_a_share_group(request.group_id)
        if request.member_epoch != JOIN_EPOCH:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {request.group_id} not found.")
        return ShareGroup(request.group_id, self._registry.new_timers())

    def _member_of(self, group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareMember:
        member = group.members.get(request.member_id)
        if member is None:
            if request.member_epoch != JOIN_EPOCH:
                return group.member_of(request.member_id)
            return ShareMember(request.member_id, ShareMemberMetadata(None, "", "", ()))
        received = request.member_epoch
        if received in (JOIN_EPOCH, member.member_epoch, member.previous_member_epoch):
            return member
        word = "greater" if received > member.member_epoch else "smaller"
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The share group member has a {word} member epoch ({received}) than the one known by the group "
            f"coordinator ({member.member_epoch}). The member must abandon all its partitions and rejoin.",
        )

    def _next_epoch(self, change: _Change, members: Mapping[str, ShareMember], *, is_member_changed: bool) -> int:
        """Return the group's epoch. It is raised if members, their topics or the assignable partitions have changed."""
        group = change.group
        names = subscribed_names(members.values())
        topics_hash = metadata_hash(names, self._topics)
        can_assign_more = group.group_epoch == group.assignment_epoch and _has_unassigned(group)
        if not is_member_changed and topics_hash == group.metadata_hash and not can_assign_more:
            return group.group_epoch
        change.add(ShareRecordType.GROUP_METADATA, ShareGroupMetadata(group.group_epoch + 1, topics_hash))
        return group.group_epoch + 1

    def _assign(
        self, change: _Change, members: Mapping[str, ShareMember], member: ShareMember, epoch: int
    ) -> ShareMember:
        """Return the member with its target assignment. A new target is computed once per assignment interval."""
        group, now_ms = change.group, change.group.timers.now_ms()
        targets, assignment_epoch = group.target_assignments, group.assignment_epoch
        due_ms = group.assignment_timestamp_ms + self._settings.assignment_interval_ms(group.group_id)
        if epoch > assignment_epoch and (not group.assignment_timestamp_ms or now_ms >= due_ms):
            targets, assignment_epoch = self._compute_targets(group, members), epoch
            for member_id, partitions in targets.items():
                if group.target_assignments.get(member_id) != partitions:
                    change.add(ShareRecordType.TARGET_ASSIGNMENT_MEMBER, TargetAssignment(partitions), member_id)
            change.add(ShareRecordType.TARGET_ASSIGNMENT_METADATA, TargetAssignmentMetadata(epoch, now_ms))
        if member.member_epoch == assignment_epoch:
            return member
        moved = replace(
            member,
            member_epoch=assignment_epoch,
            previous_member_epoch=member.member_epoch,
            partitions=targets.get(member.member_id, {}),
        )
        current = ShareCurrentAssignment(moved.member_epoch, moved.previous_member_epoch, partitions=moved.partitions)
        change.add(ShareRecordType.CURRENT_MEMBER_ASSIGNMENT, current, member.member_id)
        return moved

    def _compute_targets(self, group: ShareGroup, members: Mapping[str, ShareMember]) -> dict[str, Partitions]:
        subscriptions = {
            member_id: topic_ids_of(each.metadata.subscribed_topic_names, self._topics)
            for member_id, each in members.items()
        }
        initialized = {each.topic_id: each.partitions for each in group.state_partitions.initialized}
        return simple_assignor.assign(subscriptions, initialized, group.target_assignments)

    def _add_pending_states(self, change: _Change, members: Mapping[str, ShareMember]) -> None:
        """Add the subscribed partitions without a state to the pending ones."""
        before = change.group.state_partitions
        topics = (*before.initializing, *before.initialized)
        present = {(topic.topic_id, index) for topic in topics for index in topic.partitions}
        missing: list[StateTopic] = []
        for name in sorted(subscribed_names(members.values())):
            topic = self._topics.find(name)
            if topic is None:
                continue
            indexes = tuple(each for each in range(topic.partition_count) if (topic.topic_id, each) not in present)
            if indexes:
                missing.append(StateTopic(topic.topic_id, name, indexes))
        if missing:
            value = replace(before, initializing=(*before.initializing, *missing))
            change.add(ShareRecordType.STATE_PARTITION_METADATA, value)

    def _initialize_pending_states(self, group: ShareGroup) -> None:
        """Initialize the states of pending partitions. The next heartbeat tries again after an error."""
        before = group.state_partitions
        if not before.initializing:
            return
        try:
            self._initialize_states(group.group_id, group.group_epoch, before.initializing)
            change = _Change(group, [])
            value = StatePartitionMetadata((), _join(before.initialized, before.initializing), before.deleting)
            change.add(ShareRecordType.STATE_PARTITION_METADATA, value)
            self._commit(change)
        except KafkaError as error:
            logger.warning("share group %s: cannot initialize states of partitions: %s", group.group_id, error.message)

    def _commit(self, change: _Change) -> None:
        """Append the records, then apply them. Raises KafkaError; the group is unchanged then."""
        group = change.group
        if not change.records:
            return
        self._log.append(group.group_id, state_records(change.records))
        if not self._registry.has(group):
            self._registry.add(group)
        for record in change.records:
            group.apply(record)

    # -- leaving

    def _remove(self, group: ShareGroup, member: ShareMember) -> None:
        change = _Change(group, [])
        for record_type in (
            ShareRecordType.CURRENT_MEMBER_ASSIGNMENT,
            ShareRecordType.TARGET_ASSIGNMENT_MEMBER,
            ShareRecordType.MEMBER_METADATA,
        ):
            change.add(record_type, None, member.member_id)
        names = subscribed_names(each for each in group.members.values() if each is not member)
        topics_hash = metadata_hash(names, self._topics)
        change.add(ShareRecordType.GROUP_METADATA, ShareGroupMetadata(group.group_epoch + 1, topics_hash))
        self._commit(change)
        group.timers.cancel(_session_of(member.member_id))

    def _extend_session(self, group: ShareGroup, member_id: str) -> None:
        """Restart the member's session timeout."""

        def end() -> None:
            member = group.members.get(member_id)
            if member is None:
                return
            logger.info("share group %s: the session of member %s has expired", group.group_id, member_id)
            try:
                self._remove(group, member)
            except KafkaError as error:
                logger.warning("share group %s: cannot remove member %s: %s", group.group_id, member_id, error)
                group.timers.schedule(_session_of(member_id), _RETRY_MS, end)

        group.timers.schedule(_session_of(member_id), self._settings.session_timeout_ms(group.group_id), end)


def _session_of(member_id: str) -> str:
    return f"session {member_id}"


def _check_request(request: ShareGroupHeartbeatRequest) -> None:
    """Raise KafkaError INVALID_REQUEST for missing or invalid fields."""
    if not request.member_id.strip():
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if not request.group_id.strip():
        raise KafkaError(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
    if request.rack_id is not None and not request.rack_id.strip():
        raise KafkaError(ErrorCode.INVALID_REQUEST, "RackId can't be empty.")
    if request.member_epoch == JOIN_EPOCH and not request.subscribed_topic_names:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE_EPOCH:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


def _not_a_share_group(group_id: str) -> KafkaError:
    return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")


def _has_unassigned(group: ShareGroup) -> bool:
    """Whether a subscribed partition with a state is in no target assignment."""
    assigned = {
        (topic_id, index)
        for partitions in group.target_assignments.values()
        for topic_id, indexes in partitions.items()
        for index in indexes
    }
    names = group.topic_names
    return any(
        (topic.topic_id, index) not in assigned
        for topic in group.state_partitions.initialized
        if topic.topic_name in names
        for index in topic.partitions
    )


def _update_metadata(member: ShareMember, request: ShareGroupHeartbeatRequest, client: Client) -> ShareMember:
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


def _join(first: Iterable[StateTopic], second: Iterable[StateTopic]) -> tuple[StateTopic, ...]:
    """Return the partitions of both, with one entry for each topic."""
    topics: dict[bytes, StateTopic] = {}
    for each in (*first, *second):
        before = topics.get(each.topic_id)
        partitions = {*each.partitions, *(() if before is None else before.partitions)}
        topics[each.topic_id] = replace(each, partitions=tuple(sorted(partitions)))
    return tuple(topics.values())
