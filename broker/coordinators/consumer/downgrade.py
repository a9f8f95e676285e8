"""Downgrade of a group to a classic group, when its last member of the consumer protocol leaves.

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
        change = GroupChange(group)
        change.add(*group_tombstones(group.group_id, group.members, group.resolved_regexes))
        members = _members_without(group, leaving)
        self._convert(
            change, members, {}, f"Downgrade group {group.group_id} from consumer to classic for member leaving."
        )

    def replace_member(
        self, change: GroupChange, joined: ConsumerMember, replaced: ConsumerMember, reason: str
    ) -> None:
        """Downgrade the group with a member that replaces a static one. Raises KafkaError.

        reason: the reason of the rebalance, "" for no rebalance.
        """
        group = change.group
        # The change has already moved the records of the replaced member to its new id.
        member_ids = [joined.member_id if each == replaced.member_id else each for each in group.members]
        change.add(*group_tombstones(group.group_id, member_ids, group.resolved_regexes))
        self._convert(
            change, [*_members_without(group, [replaced]), joined], {joined.member_id: replaced.member_id}, reason
        )

    def _convert(
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
