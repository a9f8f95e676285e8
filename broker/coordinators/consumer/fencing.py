"""Removal of members: they leave, their session expires, or a static member leaves temporarily.

Source: GroupMetadataManager.consumerGroupLeave, consumerGroupStaticMemberGroupLeave and consumerGroupFenceMembers,
Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....protocol.stored_records.consumer_group_records import ConsumerRecordType
from ....protocol.stored_records.consumer_group_values import NO_PARTITION_EPOCHS
from .coordinator_result import GroupChange
from .member import STATIC_LEAVE_EPOCH, with_epoch, without_epochs
from .records import current_assignment_record, group_record, member_tombstones, tombstone
from .subscriptions import Subscriptions
from .topics import metadata_hash

if TYPE_CHECKING:
    from .coordinator_result import ConsumerGroupStore
    from .downgrade import Downgrade
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .sessions import MemberSessions
    from .topics import GroupTopics

logger = logging.getLogger(__name__)

# The epoch of the partitions of a static member that left temporarily, so that it may commit with any epoch.
RESET_EPOCH = 0


class Fencing:
    """Removes members from groups."""

    __slots__ = ("_downgrade", "_store", "_topics", "sessions")

    def __init__(
        self, store: ConsumerGroupStore, topics: GroupTopics, sessions: MemberSessions, downgrade: Downgrade
    ) -> None:
        """downgrade: converts a group that has only classic members left."""
        self._store = store
        self._topics = topics
        self._downgrade = downgrade
        self.sessions = sessions

    def leave_temporarily(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Keep a static member and its partitions until it returns or its session expires. Raises KafkaError."""
        change = GroupChange(group)
        left = replace(
            member,
            member_epoch=STATIC_LEAVE_EPOCH,
            pending_revocation=NO_PARTITION_EPOCHS,
            assigned=with_epoch(without_epochs(member.assigned), RESET_EPOCH),
        )
        change.add(current_assignment_record(group.group_id, left))
        self._store.commit(change)

    def fence(self, group: ConsumerGroup, members: Sequence[ConsumerMember]) -> None:
        """Remove members, and increase the group epoch. Raises KafkaError."""
        if not members:
            return
        if self._downgrade.is_due_without(group, members):
            self._downgrade.remove_members(group, members)
            return
        group_id = group.group_id
        removed = {member.member_id for member in members}
        remaining = [member for member in group.members.values() if member.member_id not in removed]
        change = GroupChange(group)
        for member in members:
            change.add(*member_tombstones(group_id, member.member_id))
        subscriptions = Subscriptions.of(remaining, group.resolved_regexes)
        for regex in group.subscriptions.regexes:
            if regex not in subscriptions.regexes:
                change.add(tombstone(ConsumerRecordType.REGULAR_EXPRESSION, group_id, regex))
        epoch = group.group_epoch + 1
        change.add(group_record(group_id, epoch, metadata_hash(subscriptions.topic_names, self._topics)))
        logger.info("group %s: epoch %d without %s", group_id, epoch, ", ".join(sorted(removed)))
        self._store.commit(change)
        for member_id in removed:
            self.sessions.cancel_timeouts(group, member_id)
