"""ConsumerGroupHeartbeat: a member joins, updates its subscription, gets its assignment, or leaves.

Source: GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid and GroupMetadataManager
.consumerGroupHeartbeat, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from ....protocol.stored_records.consumer_group_values import PartitionEpochs, Partitions
from ....security.java_text import is_blank
from ..group.member_group import JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from .member import ConsumerMember
from .members import Caller, member_of
from .regex_refresh import RegexUpdate
from .target_assignment import UpdatedMembers

if TYPE_CHECKING:
    from .group import ConsumerGroup
    from .group_change import ConsumerGroupChange, ConsumerGroupStore, MayDescribe
    from .member_update import MemberUpdate
    from .members import Fencing
    from .migration import Upgrade
    from .regex_refresh import RegexRefresh
    from .settings import ConsumerGroupSettings

# The first version in which the client creates its member id.
MEMBER_ID_SINCE = 1
# The value of RebalanceTimeoutMs in a request without one.
NO_TIMEOUT = -1


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a request. client_host: as Java prints it, for example "/127.0.0.1".

    may_describe: whether it may describe a topic; None if it may describe all.
    """

    client_id: str
    client_host: str
    may_describe: MayDescribe | None = None


class Heartbeats:
    """Handles ConsumerGroupHeartbeat."""

    def __init__(
        self,
        store: ConsumerGroupStore,
        settings: ConsumerGroupSettings,
        *,
        upgrade: Upgrade,
        update: MemberUpdate,
        regexes: RegexRefresh,
        fencing: Fencing,
        new_member_id: Callable[[], str],
    ) -> None:
        """new_member_id: returns an id for a member without one (version 0)."""
        self._store = store
        self._settings = settings
        self._upgrade = upgrade
        self._update = update
        self._regexes = regexes
        self._fencing = fencing
        self._new_member_id = new_member_id

    def handle(
        self, request: ConsumerGroupHeartbeatRequest, client: Client, api_version: int
    ) -> ConsumerGroupHeartbeatResponse:
        """Handle a request.

        Raises KafkaError: INVALID_REQUEST, UNSUPPORTED_ASSIGNOR, GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED,
        UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID, INVALID_REGULAR_EXPRESSION,
        and the errors of CoordinatorLog.append.
        """
        check_request(request, api_version, self._settings.limits.assignors)
        if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
            return self._leave(request)
        return self._heartbeat(request, client)

    def _leave(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        group = self._store.group_of(request.group_id)
        if request.instance_id is None:
            member = group.member_of(request.member_id)
        else:
            member = group.known_static_member(request.member_id, request.instance_id)
        if request.instance_id is not None and request.member_epoch == STATIC_LEAVE_EPOCH:
            self._fencing.leave_temporarily(group, member)
        else:
            self._fencing.fence(group, [member])
        return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def _heartbeat(self, request: ConsumerGroupHeartbeatRequest, client: Client) -> ConsumerGroupHeartbeatResponse:
        is_joining = request.member_epoch == JOIN_EPOCH
        change = self._upgrade.begin_change(request.group_id, is_joining=is_joining)
        change.may_describe = client.may_describe
        check_room(change.group, request.member_id, self._settings.limits.members_max)
        caller = Caller(
            member_id=request.member_id or self._new_member_id(),
            member_epoch=request.member_epoch,
            instance_id=request.instance_id,
            owned=_owned(request),
            is_joining=is_joining,
        )
        member = member_of(change, caller)
        updated = self._update_member(change, member, _updated(member, request, client), caller.owned)
        self._store.commit(change)
        has_assignment = is_joining or _is_full(request) or updated.assigned != member.assigned
        return ConsumerGroupHeartbeatResponse(
            member_id=updated.member_id,
            member_epoch=updated.member_epoch,
            heartbeat_interval_ms=self._settings.heartbeat_interval_ms(request.group_id),
            assignment=_assignment(updated.assigned) if has_assignment else None,
        )

    def _update_member(
        self, change: ConsumerGroupChange, member: ConsumerMember, updated: ConsumerMember, owned: Partitions | None
    ) -> ConsumerMember:
        """Add the records of the member's request to the change, and return the member after it."""
        group, sessions = change.group, self._fencing.sessions
        updated_members = UpdatedMembers.of(group, updated)
        has_new_names = self._update.write_member(change, member, updated)
        regex_update = self._regexes.update(change, member, updated, updated_members)
        is_bumped = has_new_names or regex_update is RegexUpdate.RESOLVED
        group_epoch = self._update.update_epoch(change, updated_members, is_bumped=is_bumped)
        target = self._update.update_target(change, updated_members, updated, group_epoch)
        has_subscription_changed = has_new_names or regex_update is not RegexUpdate.NONE
        moved = self._update.reconcile(
            change, updated, target, owned, has_subscription_changed=has_subscription_changed
        )
        if moved != updated:
            change.after_commit(lambda: sessions.update_rebalance_timeout(group, moved))
        change.after_commit(lambda: sessions.extend_session(group, moved.member_id))
        return moved


def check_request(request: ConsumerGroupHeartbeatRequest, api_version: int, assignors: tuple[str, ...]) -> None:
    """Raise KafkaError INVALID_REQUEST or UNSUPPORTED_ASSIGNOR for a request that is invalid in every group."""
    epoch = request.member_epoch
    if api_version >= MEMBER_ID_SINCE or epoch > 0 or epoch == LEAVE_EPOCH:
        _check_not_blank(request.member_id, "MemberId can't be empty.")
    _check_not_blank(request.group_id, "GroupId can't be empty.")
    _check_not_blank(request.instance_id, "InstanceId can't be empty.")
    _check_not_blank(request.rack_id, "RackId can't be empty.")
    if epoch == JOIN_EPOCH:
        _check_join(request)
    elif epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEAVE_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(assignors)}.",
        )


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == NO_TIMEOUT:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")


def _check_not_blank(text: str | None, message: str) -> None:
    if text is not None and is_blank(text):
        raise _invalid(message)


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)


def check_room(group: ConsumerGroup, member_id: str, members_max: int) -> None:
    """Raise KafkaError GROUP_MAX_SIZE_REACHED if the group is full (group.consumer.max.size) and the member is new."""
    if len(group.members) >= members_max and member_id not in group.members:
        raise KafkaError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {members_max} members.",
        )


def _owned(request: ConsumerGroupHeartbeatRequest) -> Partitions | None:
    if request.topic_partitions is None:
        return None
    owned: dict[bytes, frozenset[int]] = {}
    for topic in request.topic_partitions:
        owned[topic.topic_id] = owned.get(topic.topic_id, frozenset()) | frozenset(topic.partitions)
    return owned


def _updated(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, client: Client) -> ConsumerMember:
    """Return the member with the fields of the request. A field that is null keeps its value."""
    names, timeout_ms = request.subscribed_topic_names, request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=member.instance_id if request.instance_id is None else request.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == NO_TIMEOUT else timeout_ms,
        server_assignor=member.server_assignor if request.server_assignor is None else request.server_assignor,
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
        subscribed_topic_regex=(
            member.subscribed_topic_regex if request.subscribed_topic_regex is None else request.subscribed_topic_regex
        ),
        client_id=client.client_id,
        client_host=client.client_host,
        classic=None,
    )


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the request has all fields, so that the response must have the whole assignment."""
    return (
        request.rebalance_timeout_ms != NO_TIMEOUT
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.topic_partitions is not None
    )


def _assignment(assigned: PartitionEpochs) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
            for topic_id, partitions in assigned.items()
        ]
    )
