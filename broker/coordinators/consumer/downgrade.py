"""A group of the consumer protocol becomes a classic one when its last member that speaks that protocol goes.

Source: GroupMetadataManager.validateOnlineDowngradeWithFencedMembers, validateOnlineDowngradeWithReplacedMember and
convertToClassicGroup, and ClassicGroup.fromConsumerGroup, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.frames import FrameError
from ..group.classic_group import ClassicGroup
from ..group.group_member import GroupMember, MemberProtocol, select_protocol
from ..group.group_records import group_record
from .coordinator_result import GroupChange
from .embedded_protocol import encode_assignment
from .group import PROTOCOL_TYPE
from .records import group_tombstones
from .settings import DOWNGRADING_POLICIES

if TYPE_CHECKING:
    from ..group.rebalance import Rebalance
    from .coordinator_result import ConsumerGroupStore
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings
    from .topics import GroupTopics

logger = logging.getLogger(__name__)


class Downgrade:
    """Makes classic groups of groups that have no other members."""

    __slots__ = ("_rebalance", "_settings", "_store", "_topics")

    def __init__(
        self,
        store: ConsumerGroupStore,
        settings: ConsumerGroupSettings,
        topics: GroupTopics,
        rebalance: Rebalance,
    ) -> None:
        """Move the classic groups by rebalance; follow settings (group.consumer.migration.policy)."""
        self._store = store
        self._settings = settings
        self._topics = topics
        self._rebalance = rebalance

    def is_due_without(self, group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> bool:
        """Whether only classic members are left when these have gone."""
        gone = {member.member_id for member in leaving}
        left = [member for member in group.members.values() if member.member_id not in gone]
        return bool(left) and all(member.uses_classic_protocol for member in left) and self._may_have(len(left))

    def is_due_with(self, group: ConsumerGroup, replaced: ConsumerMember) -> bool:
        """Whether only classic members are left when a classic one takes a static member's place."""
        others = (member for member in group.members.values() if member.member_id != replaced.member_id)
        return (
            not replaced.uses_classic_protocol
            and all(member.uses_classic_protocol for member in others)
            and self._may_have(len(group.members))
        )

    def _may_have(self, member_count: int) -> bool:
        limits = self._settings.limits
        return limits.migration_policy in DOWNGRADING_POLICIES and member_count <= limits.classic_members_max

    def without(self, group: ConsumerGroup, leaving: Sequence[ConsumerMember]) -> None:
        """Make the group a classic one without some of its members, which rebalances. Raises KafkaError."""
        gone = {member.member_id for member in leaving}
        change = GroupChange(group)
        change.extend(group_tombstones(group.group_id, group.members, group.resolved_regexes))
        members = [member for member in group.members.values() if member.member_id not in gone]
        self._replace(
            change, members, {}, f"Downgrade group {group.group_id} from consumer to classic for member leaving."
        )

    def with_joined(self, change: GroupChange, joined: ConsumerMember, replaced: ConsumerMember, reason: str) -> None:
        """Make the group a classic one in which a member takes a static one's place. Raises KafkaError.

        reason: why it rebalances, "" where it does not.
        """
        group = change.group
        # The change has already moved the records of the replaced member to its new id.
        member_ids = [joined.member_id if each == replaced.member_id else each for each in group.members]
        change.extend(group_tombstones(group.group_id, member_ids, group.resolved_regexes))
        others = [member for member in group.members.values() if member.member_id != replaced.member_id]
        self._replace(change, [*others, joined], {joined.member_id: replaced.member_id}, reason)

    def _replace(
        self, change: GroupChange, members: Sequence[ConsumerMember], former_ids: Mapping[str, str], reason: str
    ) -> None:
        group = change.group
        try:
            classic = self._converted(group, members, former_ids)
        except FrameError as error:
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Cannot downgrade the classic group {group.group_id}: {error}."
            ) from error
        record = group_record(classic, classic.members.values(), classic.leader_id)
        self._store.replace(change, classic, [record])
        logger.info("group %s: from the consumer to the classic protocol", group.group_id)
        for member in classic.members.values():
            self._rebalance.extend_session(classic, member)
        if reason:
            self._rebalance.prepare(classic, reason)
        classic.finish_step()

    def _converted(
        self, group: ConsumerGroup, members: Sequence[ConsumerMember], former_ids: Mapping[str, str]
    ) -> ClassicGroup:
        """Return the classic group, stable, in which each member has what it was to have. Raises FrameError."""
        classic = ClassicGroup(group.group_id, self._store.new_timers())
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
