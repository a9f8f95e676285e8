"""Members that use the classic protocol in a group of the consumer protocol.

JoinGroup returns at once, and SyncGroup returns the assignment that the broker computed. When a member must revoke
partitions or can get more, its Heartbeat fails with REBALANCE_IN_PROGRESS, and the member rejoins.
Source: GroupMetadataManager.classicGroupJoinToConsumerGroup, classicGroupSyncToConsumerGroup,
classicGroupHeartbeatToConsumerGroup and classicGroupLeaveToConsumerGroup, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....protocol.consumer_protocol import read_subscription
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.frames import FrameError
from ....protocol.messages.join_group import JoinGroupResponse
from ....protocol.messages.leave_group import MemberIdentity
from ....protocol.messages.sync_group import SyncGroupResponse
from ....protocol.stored_records.consumer_group_values import ClassicMember, ClassicProtocol
from ..group.member_group import LEAVE_EPOCH
from .embedded_protocol import by_topic_id, encode_assignment
from .group import PROTOCOL_TYPE
from .group_change import ConsumerGroupChange
from .heartbeats import check_room
from .member import NO_REGEX, ConsumerMember, MemberState, without_epochs
from .members import Caller, member_of
from .regex_refresh import RegexUpdate
from .target_assignment import UpdatedMembers

if TYPE_CHECKING:
    from ....protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
    from ....protocol.messages.sync_group import SyncGroupRequest
    from ..group.group_join import JoinAttempt
    from .group import ConsumerGroup
    from .group_change import ConsumerGroupStore
    from .member_update import MemberUpdate
    from .members import Fencing
    from .migration import Downgrade
    from .regex_refresh import RegexRefresh
    from .settings import ConsumerGroupSettings
    from .topics import GroupTopics

NO_TIMEOUT = -1


class ClassicMembers:
    """Handles the requests of classic members."""

    def __init__(
        self,
        store: ConsumerGroupStore,
        settings: ConsumerGroupSettings,
        topics: GroupTopics,
        *,
        update: MemberUpdate,
        regexes: RegexRefresh,
        fencing: Fencing,
        downgrade: Downgrade,
        new_member_id: Callable[[], str],
    ) -> None:
        """new_member_id: returns an id for a member without one."""
        self._store = store
        self._settings = settings
        self._topics = topics
        self._update = update
        self._regexes = regexes
        self._fencing = fencing
        self._sessions = fencing.sessions
        self._downgrade = downgrade
        self._new_member_id = new_member_id

    # -- JoinGroup

    def join(self, group: ConsumerGroup, attempt: JoinAttempt) -> JoinGroupResponse:
        """Handle a JoinGroup request. MEMBER_ID_REQUIRED is returned as a response, with the new id.

        Raises KafkaError: GROUP_MAX_SIZE_REACHED, INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID,
        and the errors of CoordinatorLog.append.
        """
        request = attempt.request
        member_id = request.member_id or self._new_member_id()
        check_room(group, member_id, self._settings.limits.members_max)
        _check_protocols(group, member_id, request.protocol_type, [protocol.name for protocol in attempt.protocols])
        if not request.member_id and request.group_instance_id is None and attempt.requires_known_member_id:
            return JoinGroupResponse(member_id=member_id, error_code=ErrorCode.MEMBER_ID_REQUIRED, protocol_name=None)
        subscription = _subscription(attempt)
        change = ConsumerGroupChange(group)
        caller = Caller(
            member_id=member_id,
            member_epoch=LEAVE_EPOCH,
            instance_id=request.group_instance_id,
            owned={},
            is_joining=request.group_instance_id is None or not request.member_id,
            is_classic=True,
        )
        replaced = group.static_member(request.group_instance_id)
        member = member_of(change, caller)
        updated = _updated(member, attempt, subscription)
        joined = self._join(change, member, updated, subscription, replaced)
        return JoinGroupResponse(
            member_id=joined.member_id,
            generation_id=joined.member_epoch,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=attempt.protocols[0].name,
        )

    def _join(
        self,
        change: ConsumerGroupChange,
        member: ConsumerMember,
        updated: ConsumerMember,
        subscription: ConsumerProtocolSubscription,
        replaced: ConsumerMember | None,
    ) -> ConsumerMember:
        """Write the records of the member's request, and return the member after it."""
        group = change.group
        updated_members = UpdatedMembers.of(group, updated)
        has_new_names = self._update.write_member(change, member, updated)
        regex_update = self._regexes.update(change, member, updated, updated_members)
        is_bumped = has_new_names or regex_update is not RegexUpdate.NONE
        group_epoch = self._update.update_epoch(change, updated_members, is_bumped=is_bumped)
        owned = by_topic_id(subscription.owned_partitions, self._topics)
        if replaced is not None and self._downgrade.is_due_with(group, replaced):
            joined, reason = updated, ""
            if group.assignment_epoch < group_epoch:
                reason = f"Downgrade group {group.group_id} from consumer to classic with stale assignment."
            else:
                target = (group.assignment_epoch, group.inherited_target_assignment(updated))
                joined = self._update.reconcile(change, updated, target, owned, has_subscription_changed=is_bumped)
            self._downgrade.replace_member(change, joined, replaced, reason)
            return joined
        target = self._update.update_target(change, updated_members, updated, group_epoch)
        joined = self._update.reconcile(change, updated, target, owned, has_subscription_changed=is_bumped)
        change.after_commit(lambda: self._member_joined(group, joined))
        self._store.commit(change)
        return joined

    def _member_joined(self, group: ConsumerGroup, joined: ConsumerMember) -> None:
        self._sessions.cancel_join_timeout(group, joined.member_id)
        self._sessions.extend_session(group, joined.member_id)
        self._sessions.start_sync_timeout(group, joined.member_id, joined.rebalance_timeout_ms)

    # -- SyncGroup and Heartbeat

    def sync(self, group: ConsumerGroup, request: SyncGroupRequest) -> SyncGroupResponse:
        """Return the member's assignment.

        Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL,
        REBALANCE_IN_PROGRESS.
        """
        member, classic = _classic_member_of(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
        protocol = classic.protocols[0]
        _check_protocol(member, request.protocol_type, request.protocol_name, protocol.name)
        if group.assignment_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._sessions.start_join_timeout(group, member)
            raise KafkaError(
                ErrorCode.REBALANCE_IN_PROGRESS,
                f"A new rebalance is triggered in group {group.group_id} and member {member.member_id} should rejoin "
                "to catch up.",
            )
        self._sessions.cancel_sync_timeout(group, member.member_id)
        self._sessions.extend_session(group, member.member_id)
        return SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=encode_assignment(without_epochs(member.assigned), self._topics, protocol.metadata),
        )

    def heartbeat(self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation_id: int) -> None:
        """Extend the member's session.

        Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, and REBALANCE_IN_PROGRESS if the
        member must rejoin; its session is then extended too.
        """
        member, _ = _classic_member_of(group, member_id, instance_id)
        _check_generation(member, generation_id)
        self._sessions.extend_session(group, member.member_id)
        can_get_more = member.state is MemberState.UNRELEASED_PARTITIONS and not group.is_waiting_for_others(member)
        must_revoke = member.state is MemberState.UNREVOKED_PARTITIONS
        if member.member_epoch < group.assignment_epoch or must_revoke or can_get_more:
            self._sessions.start_join_timeout(group, member)
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.group_id} rebalances")

    # -- LeaveGroup

    def leave(self, group: ConsumerGroup, members: Sequence[MemberIdentity]) -> list[int]:
        """Remove members, classic or not, and return the error code of each. Raises KafkaError if the write fails."""
        error_codes: list[int] = [ErrorCode.UNKNOWN_MEMBER_ID] * len(members)
        leaving: dict[str, ConsumerMember] = {}
        for index, identity in enumerate(members):
            if not _is_known(group, identity):
                continue
            try:
                member = _leaving_member(group, identity)
            except KafkaError as error:
                error_codes[index] = error.code
            else:
                error_codes[index] = ErrorCode.NONE
                leaving[member.member_id] = member
        self._fencing.fence(group, list(leaving.values()))
        return error_codes


def _is_known(group: ConsumerGroup, identity: MemberIdentity) -> bool:
    """Return whether a member has the id or the instance. An exception for each of very many would take too long."""
    return identity.member_id in group.members or identity.group_instance_id in group.static_members


def _leaving_member(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    """Return the member to remove. An administrator names a static member by its instance id only.

    Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
    """
    instance_id = identity.group_instance_id
    if instance_id is None:
        return group.member_of(identity.member_id)
    known = group.static_member(instance_id)
    member_id = identity.member_id or (known.member_id if known is not None else "")
    return group.known_static_member(member_id, instance_id)


def _check_protocols(group: ConsumerGroup, member_id: str, protocol_type: str, names: list[str]) -> None:
    """Raise KafkaError INCONSISTENT_GROUP_PROTOCOL unless all classic members support one of the assignors."""
    classic = [member.classic for member in group.members.values() if member.classic is not None]
    supported = [{protocol.name for protocol in each.protocols} for each in classic]
    if protocol_type != PROTOCOL_TYPE or not any(all(name in of_member for of_member in supported) for name in names):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"Member {member_id}'s protocols are not supported.")


def _subscription(attempt: JoinAttempt) -> ConsumerProtocolSubscription:
    """Return the subscription in the member's first protocol.

    Raises KafkaError UNKNOWN_SERVER_ERROR if it is malformed, as Kafka does.
    """
    try:
        return read_subscription(attempt.protocols[0].metadata)
    except FrameError as error:
        raise KafkaError(
            ErrorCode.UNKNOWN_SERVER_ERROR, "Malformed embedded consumer protocol in subscription deserialization."
        ) from error


def _updated(
    member: ConsumerMember, attempt: JoinAttempt, subscription: ConsumerProtocolSubscription
) -> ConsumerMember:
    request = attempt.request
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=member.instance_id if request.group_instance_id is None else request.group_instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == NO_TIMEOUT else timeout_ms,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex=NO_REGEX,
        client_id=attempt.client_id,
        client_host=f"/{attempt.connection.client_host}",
        classic=ClassicMember(
            request.session_timeout_ms,
            tuple(ClassicProtocol(protocol.name, protocol.metadata) for protocol in attempt.protocols),
        ),
    )


def _classic_member_of(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicMember]:
    if instance_id is None:
        member = group.member_of(member_id)
    elif group.static_member(instance_id) is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member with instance id {instance_id} is not a member of group {group.group_id}.",
        )
    else:
        member = group.known_static_member(member_id, instance_id)
    if member.classic is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol.")
    return member, member.classic


def _check_generation(member: ConsumerMember, generation_id: int) -> None:
    if generation_id != member.member_epoch:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION,
            f"The request generation id {generation_id} is not equal to the member epoch {member.member_epoch} of "
            f"member {member.member_id}.",
        )


def _check_protocol(
    member: ConsumerMember, protocol_type: str | None, protocol_name: str | None, joined_with: str
) -> None:
    if protocol_type not in (None, PROTOCOL_TYPE):
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            f"The protocol type {protocol_type} from member {member.member_id} request is not equal to the group "
            f"protocol type {PROTOCOL_TYPE}.",
        )
    if protocol_name not in (None, joined_with):
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            f"The protocol name {protocol_name} from member {member.member_id} request is not equal to the protocol "
            f"name {joined_with} returned in the join response.",
        )
