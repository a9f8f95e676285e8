"""ShareGroupHeartbeat: a member joins, tells what it consumes, is told what to have, or leaves.

A partition is assigned when the share coordinator has a state for it, which it gets at the end of the heartbeat that
first asks for its topic; the next one, of any member, assigns it.
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
    from ..group.group_log import GroupLog
    from ..group.group_registry import GroupRegistry
    from .settings import ShareGroupSettings

logger = logging.getLogger(__name__)

JOIN_EPOCH, LEAVE_EPOCH = 0, -1
# After so long it is tried again to write that a member is gone.
_RETRY_MS = 500

# Makes states for the partitions of a group's topics, in an epoch of the group. Raises KafkaError.
BeginStates = Callable[[str, int, Iterable[StateTopic]], None]


@dataclass(slots=True)
class _Step:
    """What a heartbeat is about to change: the group as it was, and the records so far."""

    group: ShareGroup
    records: list[ShareGroupRecord]

    def add(self, record_type: ShareRecordType, value: ShareRecordValue | None, member_id: str = "") -> None:
        self.records.append(ShareGroupRecord(record_type, self.group.group_id, member_id, value))


class ShareHeartbeats:
    """Answers ShareGroupHeartbeat, and lets members go whose session ends."""

    def __init__(
        self,
        registry: GroupRegistry,
        log: GroupLog,
        settings: ShareGroupSettings,
        topics: GroupTopics,
        begin_states: BeginStates,
    ) -> None:
        """registry: all groups, of every kind. log: where they are kept."""
        self._registry = registry
        self._log = log
        self._settings = settings
        self._topics = topics
        self._begin_states = begin_states

    def answer(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        """Answer the request.

        Raises KafkaError: INVALID_REQUEST, GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
        FENCED_MEMBER_EPOCH, and what CoordinatorLog raises.
        """
        _check_request(request)
        if request.member_epoch == LEAVE_EPOCH:
            group = self._registry.group_of(request.group_id)
            if not isinstance(group, ShareGroup):
                raise _not_a_share_group(request.group_id)
            self._let_go(group, group.member_of(request.member_id))
            return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=LEAVE_EPOCH)
        return self._beat(request, client)

    def begin_sessions(self, group: ShareGroup) -> None:
        """Begin the sessions of a group that was read, and finish what was begun when the broker stopped."""
        for member_id in group.members:
            self._extend(group, member_id)
        self._initialize(group)

    # -- joining and staying

    def _beat(self, request: ShareGroupHeartbeatRequest, client: Client) -> ShareGroupHeartbeatResponse:
        group = self._group_of(request)
        if len(group.members) >= self._settings.members_max and request.member_id not in group.members:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The share group has reached its maximum capacity of {self._settings.members_max} members.",
            )
        before = self._member_of(group, request)
        member = _told(before, request, client)
        step = _Step(group, [])
        members = {**group.members, member.member_id: member}
        if member.metadata != before.metadata or member.member_id not in group.members:
            step.add(ShareRecordType.MEMBER_METADATA, member.metadata, member.member_id)
        epoch = self._epoch(step, members, is_new=bool(step.records))
        member = self._assigned(step, members, member, epoch)
        self._note_uninitialized(step, members)
        self._commit(step)
        self._extend(group, member.member_id)
        self._initialize(group)
        is_told = (
            request.member_epoch == JOIN_EPOCH
            or request.subscribed_topic_names is not None
            or member.partitions != before.partitions
        )
        return ShareGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.member_epoch,
            heartbeat_interval_ms=self._settings.heartbeat_interval_ms(group.group_id),
            assignment=_assignment(member.partitions) if is_told else None,
        )

    def _group_of(self, request: ShareGroupHeartbeatRequest) -> ShareGroup:
        """Return the group, a new one that nobody knows before something of it is written for who joins."""
        group = self._registry.find(request.group_id)
        if isinstance(group, ShareGroup):
            return group
        if group is not None:
            raise _not_a_share_group(request.group_id)
        if request.member_epoch != JOIN_EPOCH:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {request.group_id} not found.")
        return ShareGroup(request.group_id, self._registry.new_timers())

    def _member_of(self, group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareMember:
        known = group.members.get(request.member_id)
        if known is None:
            if request.member_epoch != JOIN_EPOCH:
                return group.member_of(request.member_id)
            return ShareMember(request.member_id, ShareMemberMetadata(None, "", "", ()))
        received = request.member_epoch
        if received in (JOIN_EPOCH, known.member_epoch, known.previous_member_epoch):
            return known
        word = "greater" if received > known.member_epoch else "smaller"
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The share group member has a {word} member epoch ({received}) than the one known by the group "
            f"coordinator ({known.member_epoch}). The member must abandon all its partitions and rejoin.",
        )

    def _epoch(self, step: _Step, members: Mapping[str, ShareMember], *, is_new: bool) -> int:
        """Return the group's epoch, the next one where members consume something else, or there is more to assign."""
        group = step.group
        names = subscribed_names(members.values())
        topics_hash = metadata_hash(names, self._topics)
        is_settled = group.group_epoch == group.assignment_epoch
        if not is_new and topics_hash == group.metadata_hash and not (is_settled and self._has_unassigned(group)):
            return group.group_epoch
        step.add(ShareRecordType.GROUP_METADATA, ShareGroupMetadata(group.group_epoch + 1, topics_hash))
        return group.group_epoch + 1

    def _has_unassigned(self, group: ShareGroup) -> bool:
        """Whether partitions got a state that nobody is to have yet."""
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

    def _assigned(
        self, step: _Step, members: Mapping[str, ShareMember], member: ShareMember, epoch: int
    ) -> ShareMember:
        """Return the member with what it is to have; the target is worked out anew where it is due."""
        group, now_ms = step.group, step.group.timers.now_ms()
        targets, assignment_epoch = group.target_assignments, group.assignment_epoch
        due_ms = group.assignment_timestamp_ms + self._settings.assignment_interval_ms(group.group_id)
        if epoch > assignment_epoch and (not group.assignment_timestamp_ms or now_ms >= due_ms):
            targets, assignment_epoch = self._targets(group, members), epoch
            for member_id, partitions in targets.items():
                if group.target_assignments.get(member_id) != partitions:
                    step.add(ShareRecordType.TARGET_ASSIGNMENT_MEMBER, TargetAssignment(partitions), member_id)
            step.add(ShareRecordType.TARGET_ASSIGNMENT_METADATA, TargetAssignmentMetadata(epoch, now_ms))
        if member.member_epoch == assignment_epoch:
            return member
        moved = replace(
            member,
            member_epoch=assignment_epoch,
            previous_member_epoch=member.member_epoch,
            partitions=targets.get(member.member_id, {}),
        )
        current = ShareCurrentAssignment(moved.member_epoch, moved.previous_member_epoch, partitions=moved.partitions)
        step.add(ShareRecordType.CURRENT_MEMBER_ASSIGNMENT, current, member.member_id)
        return moved

    def _targets(self, group: ShareGroup, members: Mapping[str, ShareMember]) -> dict[str, Partitions]:
        subscriptions = {
            member_id: topic_ids_of(each.metadata.subscribed_topic_names, self._topics)
            for member_id, each in members.items()
        }
        initialized = {each.topic_id: each.partitions for each in group.state_partitions.initialized}
        return simple_assignor.assign(subscriptions, initialized, group.target_assignments)

    def _note_uninitialized(self, step: _Step, members: Mapping[str, ShareMember]) -> None:
        """Write which partitions are to get a state."""
        known = step.group.state_partitions
        topics = (*known.initializing, *known.initialized)
        named = {(topic.topic_id, index) for topic in topics for index in topic.partitions}
        missing: list[StateTopic] = []
        for name in sorted(subscribed_names(members.values())):
            topic = self._topics.find(name)
            if topic is None:
                continue
            indexes = tuple(each for each in range(topic.partition_count) if (topic.topic_id, each) not in named)
            if indexes:
                missing.append(StateTopic(topic.topic_id, name, indexes))
        if missing:
            value = replace(known, initializing=(*known.initializing, *missing))
            step.add(ShareRecordType.STATE_PARTITION_METADATA, value)

    def _initialize(self, group: ShareGroup) -> None:
        """Have states for the partitions that are to get one; where that fails, the next heartbeat does it."""
        known = group.state_partitions
        if not known.initializing:
            return
        try:
            self._begin_states(group.group_id, group.group_epoch, known.initializing)
            step = _Step(group, [])
            value = StatePartitionMetadata((), _united(known.initialized, known.initializing), known.deleting)
            step.add(ShareRecordType.STATE_PARTITION_METADATA, value)
            self._commit(step)
        except KafkaError as error:
            logger.warning("share group %s: no states for its partitions yet: %s", group.group_id, error.message)

    def _commit(self, step: _Step) -> None:
        """Write the records, and have the group follow them. Raises KafkaError; nothing has changed then."""
        group = step.group
        if not step.records:
            return
        self._log.append(group.group_id, state_records(step.records))
        if self._registry.find(group.group_id) is not group:
            self._registry.add(group)
        for record in step.records:
            group.apply(record)

    # -- leaving

    def _let_go(self, group: ShareGroup, member: ShareMember) -> None:
        step = _Step(group, [])
        for record_type in (
            ShareRecordType.CURRENT_MEMBER_ASSIGNMENT,
            ShareRecordType.TARGET_ASSIGNMENT_MEMBER,
            ShareRecordType.MEMBER_METADATA,
        ):
            step.add(record_type, None, member.member_id)
        names = subscribed_names(each for each in group.members.values() if each is not member)
        topics_hash = metadata_hash(names, self._topics)
        step.add(ShareRecordType.GROUP_METADATA, ShareGroupMetadata(group.group_epoch + 1, topics_hash))
        self._commit(step)
        group.timers.cancel(_session_of(member.member_id))

    def _extend(self, group: ShareGroup, member_id: str) -> None:
        """Give the member another session timeout from now on."""

        def end() -> None:
            member = group.members.get(member_id)
            if member is None:
                return
            logger.info("share group %s: member %s is let go: its session has expired", group.group_id, member_id)
            try:
                self._let_go(group, member)
            except KafkaError as error:
                logger.warning("share group %s: cannot write that %s is gone: %s", group.group_id, member_id, error)
                group.timers.schedule(_session_of(member_id), _RETRY_MS, end)

        group.timers.schedule(_session_of(member_id), self._settings.session_timeout_ms(group.group_id), end)


def _session_of(member_id: str) -> str:
    return f"session {member_id}"


def _check_request(request: ShareGroupHeartbeatRequest) -> None:
    """Raise KafkaError INVALID_REQUEST for a request that no group could answer."""
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


def _told(member: ShareMember, request: ShareGroupHeartbeatRequest, client: Client) -> ShareMember:
    """Return the member with what the request tells of it; what it leaves out stays as it was."""
    known = member.metadata
    names = request.subscribed_topic_names
    metadata = ShareMemberMetadata(
        rack_id=known.rack_id if request.rack_id is None else request.rack_id,
        client_id=client.client_id,
        client_host=client.client_host,
        subscribed_topic_names=known.subscribed_topic_names if names is None else tuple(sorted(names)),
    )
    return replace(member, metadata=metadata)


def _assignment(partitions: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=sorted(indexes)) for topic_id, indexes in partitions.items()
        ]
    )


def _united(known: Iterable[StateTopic], more: Iterable[StateTopic]) -> tuple[StateTopic, ...]:
    """Return both, with one entry a topic."""
    topics: dict[bytes, StateTopic] = {}
    for each in (*known, *more):
        before = topics.get(each.topic_id)
        partitions = {*each.partitions, *(() if before is None else before.partitions)}
        topics[each.topic_id] = replace(each, partitions=tuple(sorted(partitions)))
    return tuple(topics.values())
