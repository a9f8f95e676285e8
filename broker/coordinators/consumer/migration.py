"""Migration of a group between the classic and the consumer protocol.

The first member of the consumer protocol that joins a classic group upgrades it. Its classic members stay in the group;
classic_members handles their requests. A group becomes a classic one when its last member of the consumer protocol
leaves.
Source: GroupMetadataManager.getOrMaybeCreateConsumerGroup, validateOnlineUpgrade, convertToConsumerGroup,
validateOnlineDowngradeWithFencedMembers, validateOnlineDowngradeWithReplacedMember and convertToClassicGroup,
ConsumerGroup.fromClassicGroup and ClassicGroup.fromConsumerGroup, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ....protocol.consumer_protocol import read_assignment, read_subscription
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.frames import FrameError
from ....protocol.stored_records.consumer_group_values import ClassicMember, ClassicProtocol
from ....protocol.stored_records.typed_records import TypedRecord
from ..group.classic_group import ClassicGroup
from ..group.group_member import GroupMember, MemberProtocol, join_error, select_protocol, sync_error
from ..group.group_records import group_record as classic_group_record
from .embedded_protocol import by_topic_id, encode_assignment
from .group import PROTOCOL_TYPE, ConsumerGroup
from .group_change import ConsumerGroupChange
from .member import ConsumerMember, with_epoch
from .records import (
    current_assignment_record,
    group_record,
    group_tombstones,
    member_record,
    target_assignment_metadata_record,
    target_assignment_record,
)
from .settings import DOWNGRADING_POLICIES, UPGRADING_POLICIES
from .topics import metadata_hash

if TYPE_CHECKING:
    from ..group.rebalance import Rebalance
    from .group_change import ConsumerGroupStore
    from .sessions import MemberSessions
    from .settings import ConsumerGroupSettings
    from .topics import GroupTopics

logger = logging.getLogger(__name__)


class Upgrade:
    """Finds or creates the group that a member joins, and upgrades a classic group."""

    __slots__ = ("_sessions", "_settings", "_store", "_topics")

    def __init__(
        self,
        store: ConsumerGroupStore,
        settings: ConsumerGroupSettings,
        topics: GroupTopics,
        sessions: MemberSessions,
    ) -> None:
        """settings: with group.consumer.migration.policy."""
        self._store = store
        self._settings = settings
        self._topics = topics
        self._sessions = sessions

    def begin_change(self, group_id: str, *, is_joining: bool) -> ConsumerGroupChange:
        """Return a change of the group, which a joining member may create or upgrade.

        Raises KafkaError GROUP_ID_NOT_FOUND.
        """
        group = self._store.registry.find(group_id)
        if isinstance(group, ConsumerGroup):
            return ConsumerGroupChange(group)
        if group is None and is_joining:
            return ConsumerGroupChange(self._store.new_group(group_id))
        if not is_joining or not isinstance(group, ClassicGroup):
            words = f"Consumer group {group_id} not found." if group is None else _not_a_consumer_group(group_id)
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, words)
        if group.is_empty:
            return ConsumerGroupChange(self._store.new_group(group_id), group.tombstones())
        return self._upgrade(group)

    def _upgrade(self, classic: ClassicGroup) -> ConsumerGroupChange:
        self._check(classic)
        group = self._store.new_group(classic.group_id)
        try:
            records = _converted(classic, group, self._topics)
        except FrameError as error:
            raise _refused(classic, "the embedded consumer protocol is malformed.") from error
        change = ConsumerGroupChange(group, classic.tombstones())
        change.add_records(*records)
        change.after_commit(lambda: self._take_over(classic, group))
        return change

    def _check(self, classic: ClassicGroup) -> None:
        limits = self._settings.limits
        if limits.migration_policy not in UPGRADING_POLICIES:
            raise _refused(classic, "online upgrade is disabled.")
        if not classic.uses_consumer_protocol:
            raise _refused(classic, "the group does not use the consumer embedded protocol.")
        if len(classic.members) > limits.members_max:
            raise _refused(classic, "the group size exceeds the consumer group maximum size.")
        if classic.protocol_name is None:
            # Kafka fails too, during the first rebalance of the group.
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"group {classic.group_id} has no protocol yet")
        if not all(member.supports(classic.protocol_name) for member in classic.members.values()):
            # Kafka fails too, while a member that has changed its protocols waits for the rebalance.
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a member does not support {classic.protocol_name}")

    def _take_over(self, classic: ClassicGroup, group: ConsumerGroup) -> None:
        """Respond REBALANCE_IN_PROGRESS to the pending requests of the classic group, and start its sessions."""
        for member in classic.members.values():
            classic.respond_to_join(member, join_error(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id))
            classic.respond_to_sync(member, sync_error(ErrorCode.REBALANCE_IN_PROGRESS))
            self._sessions.extend_session(group, member.member_id)
        classic.timers.finish_step()
        logger.info("group %s: upgraded from the classic to the consumer protocol", group.group_id)


def _not_a_consumer_group(group_id: str) -> str:
    return f"Group {group_id} is not a consumer group."


def _refused(classic: ClassicGroup, reason: str) -> KafkaError:
    logger.info("group %s stays a classic group: %s", classic.group_id, reason)
    return KafkaError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}",
    )


def _converted(classic: ClassicGroup, group: ConsumerGroup, topics: GroupTopics) -> list[TypedRecord]:
    """Copy a classic group into a new one, and return the records of the new one. Raises FrameError, KafkaError."""
    generation_id = group.group_epoch = group.assignment_epoch = classic.generation_id
    for classic_member in classic.members.values():
        assignment = read_assignment(classic_member.assignment)
        if assignment.user_data:
            raise _refused(
                classic,
                "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default "
                "assignor before re-attempting the upgrade.",
            )
        assigned = by_topic_id(assignment.assigned_partitions, topics)
        metadata = classic_member.metadata_of(classic.protocol_name or "")
        member = _member(classic_member, metadata, generation_id)
        for record in (
            member_record(group.group_id, member),
            target_assignment_record(group.group_id, member.member_id, assigned),
            current_assignment_record(
                group.group_id, member.with_state(member.state, generation_id, with_epoch(assigned, generation_id))
            ),
        ):
            group.apply(record)
    group.metadata_hash = metadata_hash(group.subscriptions.topic_names, topics)
    return _records_of(group)


def _records_of(group: ConsumerGroup) -> list[TypedRecord]:
    """Return the records of an upgraded group.

    Source: ConsumerGroup.createConsumerGroupRecords, Kafka 4.3.0.
    """
    group_id, members = group.group_id, group.members.values()
    return [
        *(member_record(group_id, member) for member in members),
        group_record(group_id, group.group_epoch, group.metadata_hash),
        *(
            target_assignment_record(group_id, member.member_id, group.target_assignment_of(member.member_id))
            for member in members
        ),
        target_assignment_metadata_record(group_id, group.assignment_epoch, group.assignment_timestamp_ms),
        *(current_assignment_record(group_id, member) for member in members),
    ]


def _member(classic: GroupMember, metadata: bytes, generation_id: int) -> ConsumerMember:
    subscription = read_subscription(metadata)
    return ConsumerMember(
        member_id=classic.member_id,
        member_epoch=generation_id,
        previous_member_epoch=generation_id,
        instance_id=classic.group_instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=classic.rebalance_timeout_ms,
        client_id=classic.client_id,
        client_host=classic.client_host,
        subscribed_topic_names=frozenset(subscription.topics),
        classic=ClassicMember(
            classic.session_timeout_ms,
            tuple(ClassicProtocol(protocol.name, protocol.metadata) for protocol in classic.protocols),
        ),
    )


class Downgrade:
    """Converts groups that have only classic members left."""

    __slots__ = ("_rebalance", "_settings", "_store", "_topics")

    def __init__(
        self,
        store: ConsumerGroupStore,
        settings: ConsumerGroupSettings,
        topics: GroupTopics,
        rebalance: Rebalance,
    ) -> None:
        """settings: with group.consumer.migration.policy. rebalance: continues with the classic groups."""
        self._store = store
        self._settings = settings
        self._topics = topics
        self._rebalance = rebalance

    def is_due_without(self, group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> bool:
        """Whether the group must be downgraded because only classic members remain."""
        remaining = _members_without(group, leaving)
        return (
            bool(remaining)
            and all(member.uses_classic_protocol for member in remaining)
            and self._is_allowed(len(remaining))
        )

    def is_due_with(self, group: ConsumerGroup, replaced: ConsumerMember) -> bool:
        """Whether the group must be downgraded because a classic member replaces its last other, static member."""
        return (
            not replaced.uses_classic_protocol
            and all(member.uses_classic_protocol for member in _members_without(group, [replaced]))
            and self._is_allowed(len(group.members))
        )

    def _is_allowed(self, member_count: int) -> bool:
        limits = self._settings.limits
        return limits.migration_policy in DOWNGRADING_POLICIES and member_count <= limits.classic_members_max

    def remove_members(self, group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> None:
        """Downgrade the group without some of its members, and rebalance it. Raises KafkaError."""
        change = ConsumerGroupChange(group)
        change.add_records(*group_tombstones(group.group_id, group.members, group.resolved_regexes))
        members = _members_without(group, leaving)
        self._convert(
            change, members, {}, f"Downgrade group {group.group_id} from consumer to classic for member leaving."
        )

    def replace_member(
        self, change: ConsumerGroupChange, joined: ConsumerMember, replaced: ConsumerMember, reason: str
    ) -> None:
        """Downgrade the group with a member that replaces a static one. Raises KafkaError.

        reason: the reason of the rebalance, "" for no rebalance.
        """
        group = change.group
        # The change has already moved the records of the replaced member to its new id.
        member_ids = [joined.member_id if each == replaced.member_id else each for each in group.members]
        change.add_records(*group_tombstones(group.group_id, member_ids, group.resolved_regexes))
        self._convert(
            change, [*_members_without(group, [replaced]), joined], {joined.member_id: replaced.member_id}, reason
        )

    def _convert(
        self, change: ConsumerGroupChange, members: Sequence[ConsumerMember], former_ids: Mapping[str, str], reason: str
    ) -> None:
        group = change.group
        try:
            classic = self._converted(group, members, former_ids)
        except FrameError as error:
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Cannot downgrade the classic group {group.group_id}: {error}."
            ) from error
        record = classic_group_record(classic, classic.members.values(), classic.leader_id)
        self._store.replace(change, classic, [record])
        logger.info("group %s: downgraded from the consumer to the classic protocol", group.group_id)
        for member in classic.members.values():
            self._rebalance.extend_session(classic, member)
        if reason:
            self._rebalance.prepare(classic, reason)
        classic.timers.finish_step()

    def _converted(
        self, group: ConsumerGroup, members: Sequence[ConsumerMember], former_ids: Mapping[str, str]
    ) -> ClassicGroup:
        """Return a stable classic group in which each member has its target assignment. Raises FrameError.

        former_ids: the member ids of replaced members, by their new ids.
        """
        classic = ClassicGroup(group.group_id, self._store.registry.new_timers(group.group_id))
        classic_members = [_classic_member(member) for member in members]
        protocol_name = select_protocol(classic_members)
        for member in classic_members:
            target = group.target_assignment_of(former_ids.get(member.member_id, member.member_id))
            member.assignment = encode_assignment(target, self._topics, member.metadata_of(protocol_name))
        classic.restore(
            protocol_type=PROTOCOL_TYPE,
            protocol_name=protocol_name,
            generation_id=group.group_epoch,
            leader_id=None,
            members=classic_members,
        )
        return classic


def _members_without(group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> list[ConsumerMember]:
    leaving_ids = {member.member_id for member in leaving}
    return [member for member in group.members.values() if member.member_id not in leaving_ids]


def _classic_member(member: ConsumerMember) -> GroupMember:
    assert member.classic is not None, f"member {member.member_id} does not speak the classic protocol"
    return GroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.classic.session_timeout_ms,
        protocol_type=PROTOCOL_TYPE,
        protocols=[MemberProtocol(protocol.name, protocol.metadata) for protocol in member.classic.protocols],
    )
