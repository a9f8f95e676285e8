"""The members of a group: lookup of the member that sends a request, the check of its epoch, and removal.

A member is removed when it leaves or its session expires. A static member may leave temporarily.
Source: GroupMetadataManager.getOrMaybeSubscribeDynamicConsumerGroupMember,
getOrMaybeSubscribeStaticConsumerGroupMember, the throwIf... methods, consumerGroupLeave,
consumerGroupStaticMemberGroupLeave and consumerGroupFenceMembers, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....protocol.stored_records.consumer_group_records import ConsumerRecordType
from ....protocol.stored_records.consumer_group_values import NO_PARTITION_EPOCHS
from ..group.member_group import JOIN_EPOCH, STATIC_LEAVE_EPOCH, check_member_epoch, unreleased_instance
from .group_change import ConsumerGroupChange
from .member import ConsumerMember, with_epoch, without_epochs
from .records import (
    current_assignment_record,
    group_record,
    member_record,
    member_tombstones,
    target_assignment_record,
    tombstone,
)
from .subscriptions import Subscriptions
from .topics import metadata_hash

if TYPE_CHECKING:
    from ....protocol.stored_records.consumer_group_values import Partitions
    from .group import ConsumerGroup
    from .group_change import ConsumerGroupStore
    from .migration import Downgrade
    from .sessions import MemberSessions
    from .topics import GroupTopics

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The member that sends a request, as the request describes it.

    owned: the partitions that it reports, None if it reports none. is_joining: whether the member may be new.
    is_classic: whether it uses the classic protocol, which has no member epochs.
    """

    member_id: str
    member_epoch: int
    instance_id: str | None
    owned: Partitions | None
    is_joining: bool
    is_classic: bool = False


def member_of(change: ConsumerGroupChange, caller: Caller) -> ConsumerMember:
    """Return the member, or a new one that is not in the group yet.

    A static member that returns with another member id replaces the former one and inherits its assignment.
    Raises KafkaError: UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID.
    """
    group = change.group
    if caller.instance_id is not None:
        return _static_member_of(change, caller, caller.instance_id)
    member = group.members.get(caller.member_id)
    if member is None:
        if not caller.is_joining:
            return group.member_of(caller.member_id)
        member = ConsumerMember(member_id=caller.member_id)
    if not caller.is_classic:
        check_member_epoch(member, caller.member_epoch, "consumer", lambda: _has_all(member, caller.owned))
    return member


def _static_member_of(change: ConsumerGroupChange, caller: Caller, instance_id: str) -> ConsumerMember:
    group = change.group
    if not caller.is_joining:
        member = group.known_static_member(caller.member_id, instance_id)
        if not caller.is_classic:
            check_member_epoch(member, caller.member_epoch, "consumer", lambda: _has_all(member, caller.owned))
        return member
    known = group.static_member(instance_id)
    if known is None:
        return group.members.get(caller.member_id) or ConsumerMember(member_id=caller.member_id)
    if not caller.is_classic and not known.uses_classic_protocol and known.member_epoch != STATIC_LEAVE_EPOCH:
        raise unreleased_instance(known, caller.member_id, instance_id)
    returned = replace(known, member_id=caller.member_id, member_epoch=JOIN_EPOCH, previous_member_epoch=JOIN_EPOCH)
    _replace(change, known, returned)
    logger.info(
        "group %s: static member %s returns as %s and replaces %s",
        group.group_id,
        instance_id,
        caller.member_id,
        known.member_id,
    )
    return returned


def _replace(change: ConsumerGroupChange, known: ConsumerMember, returned: ConsumerMember) -> None:
    group = change.group
    change.add_records(*member_tombstones(group.group_id, known.member_id))
    change.add_records(
        member_record(group.group_id, returned),
        target_assignment_record(group.group_id, returned.member_id, group.target_assignment_of(known.member_id)),
        current_assignment_record(group.group_id, returned),
    )


def _has_all(member: ConsumerMember, owned: Partitions | None) -> bool:
    """Whether all the partitions are assigned to the member."""
    return owned is not None and all(
        topic_id in member.assigned and partitions <= member.assigned[topic_id].keys()
        for topic_id, partitions in owned.items()
    )


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
        change = ConsumerGroupChange(group)
        left = replace(
            member,
            member_epoch=STATIC_LEAVE_EPOCH,
            pending_revocation=NO_PARTITION_EPOCHS,
            assigned=with_epoch(without_epochs(member.assigned), RESET_EPOCH),
        )
        change.add_records(current_assignment_record(group.group_id, left))
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
        change = ConsumerGroupChange(group)
        for member in members:
            change.add_records(*member_tombstones(group_id, member.member_id))
        subscriptions = Subscriptions.of(remaining, group.resolved_regexes)
        for regex in group.subscriptions.regexes:
            if regex not in subscriptions.regexes:
                change.add_records(tombstone(ConsumerRecordType.REGULAR_EXPRESSION, group_id, regex))
        epoch = group.group_epoch + 1
        change.add_records(group_record(group_id, epoch, metadata_hash(subscriptions.topic_names, self._topics)))
        logger.info("group %s: epoch %d without %s", group_id, epoch, ", ".join(sorted(removed)))
        self._store.commit(change)
        for member_id in removed:
            self.sessions.cancel_timeouts(group, member_id)
