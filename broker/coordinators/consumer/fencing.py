"""Members that go: by themselves, because their time is up, or because a static one will be back soon.

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

# What the partitions of a static member that will be back are said to be assigned in: any epoch may commit them.
RESET_EPOCH = 0


class Fencing:
    """Lets members go."""

    __slots__ = ("_downgrade", "_store", "_topics", "sessions")

    def __init__(
        self, store: ConsumerGroupStore, topics: GroupTopics, sessions: MemberSessions, downgrade: Downgrade
    ) -> None:
        """Change groups of the store; one with classic members alone becomes a classic one by downgrade."""
        self._store = store
        self._topics = topics
        self._downgrade = downgrade
        self.sessions = sessions

    def leave_for_now(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Let a static member keep its place and its partitions until it comes back, or its session ends.

        Raises KafkaError.
        """
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
        """Let members go, and have the group go into a new epoch. Raises KafkaError."""
        if not members:
            return
        if self._downgrade.is_due_without(group, members):
            self._downgrade.without(group, members)
            return
        group_id = group.group_id
        gone = {member.member_id for member in members}
        left = [member for member in group.members.values() if member.member_id not in gone]
        change = GroupChange(group)
        for member in members:
            change.extend(member_tombstones(group_id, member.member_id))
        subscriptions = Subscriptions.of(left, group.resolved_regexes)
        for regex in group.subscriptions.regexes:
            if regex not in subscriptions.regexes:
                change.add(tombstone(ConsumerRecordType.REGULAR_EXPRESSION, group_id, regex))
        epoch = group.group_epoch + 1
        change.add(group_record(group_id, epoch, metadata_hash(subscriptions.topic_names, self._topics)))
        logger.info("group %s: epoch %d without %s", group_id, epoch, ", ".join(sorted(gone)))
        self._store.commit(change)
        for member_id in gone:
            self.sessions.end(group, member_id)
