"""Upgrade of a classic group, when the first member of the consumer protocol joins it.

Its classic members stay in the group; classic_members handles their requests.
Source: GroupMetadataManager.getOrMaybeCreateConsumerGroup, validateOnlineUpgrade and convertToConsumerGroup, and
ConsumerGroup.fromClassicGroup, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.frames import FrameError
from ....protocol.stored_records.consumer_group_records import ConsumerGroupRecord
from ....protocol.stored_records.consumer_group_values import ClassicMember, ClassicProtocol
from ..group.classic_group import ClassicGroup
from ..group.group_member import join_error, sync_error
from .coordinator_result import GroupChange
from .embedded_protocol import by_topic_id, read_assignment, read_subscription
from .group import ConsumerGroup
from .member import ConsumerMember, with_epoch
from .records import (
    current_assignment_record,
    group_record,
    member_record,
    target_assignment_metadata_record,
    target_assignment_record,
)
from .settings import UPGRADING_POLICIES
from .topics import metadata_hash

if TYPE_CHECKING:
    from ..group.group_member import GroupMember
    from .coordinator_result import ConsumerGroupStore
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

    def begin_change(self, group_id: str, *, is_joining: bool) -> GroupChange:
        """Return a change of the group, which a joining member may create or upgrade.

        Raises KafkaError GROUP_ID_NOT_FOUND.
        """
        group = self._store.find_group(group_id)
        if isinstance(group, ConsumerGroup):
            return GroupChange(group)
        if group is None and is_joining:
            return GroupChange(self._store.new_group(group_id))
        if not is_joining or not isinstance(group, ClassicGroup):
            words = f"Consumer group {group_id} not found." if group is None else _not_a_consumer_group(group_id)
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, words)
        if group.is_empty:
            return GroupChange(self._store.new_group(group_id), group, group.tombstones())
        return self._upgrade(group)

    def _upgrade(self, classic: ClassicGroup) -> GroupChange:
        self._check(classic)
        group = self._store.new_group(classic.group_id)
        try:
            records = _converted(classic, group, self._topics)
        except FrameError as error:
            raise _refused(classic, "the embedded consumer protocol is malformed.") from error
        change = GroupChange(group, classic, classic.tombstones())
        change.add(*records)
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


def _converted(classic: ClassicGroup, group: ConsumerGroup, topics: GroupTopics) -> list[ConsumerGroupRecord]:
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


def _records_of(group: ConsumerGroup) -> list[ConsumerGroupRecord]:
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
