"""The group coordinator: all groups and their offsets, behind one door for the request handlers.

It is plain synchronous code on the event loop's thread. What must wait is a Deferred; what happens by itself comes
from the clock. What is to outlast the process is written to the coordinator's topic before anybody is told of it.
Source: GroupCoordinatorService and GroupMetadataManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.describe_groups import DescribedGroup
from ....protocol.messages.leave_group import MemberIdentity, MemberResponse
from ....protocol.messages.list_groups import ListedGroup
from ....protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ...runtime.deferred import Deferred
from .classic_group import ClassicGroup
from .group import GroupType
from .group_description import describe, describe_unknown, is_selected, list_entry
from .group_join import GroupJoin, JoinAttempt
from .group_membership import GroupMembership
from .group_offsets import GroupOffsets
from .group_records import new_group_record, offset_tombstone
from .group_registry import GroupRegistry
from .group_settings import GroupSettings
from .group_timers import GroupTimers
from .offset_store import OffsetPlace
from .rebalance import Rebalance

if TYPE_CHECKING:
    from ....protocol.messages.heartbeat import HeartbeatRequest
    from ...runtime.clock import Clock, Timer
    from ..consumer.consumer_groups import ConsumerGroups
    from ..share.share_groups import ShareGroups
    from .group import Group
    from .group_log import GroupLog

    NewConsumerGroups = Callable[[GroupRegistry, Rebalance], ConsumerGroups]
    NewShareGroups = Callable[[GroupRegistry], ShareGroups]

logger = logging.getLogger(__name__)

R = TypeVar("R")


def new_uuid_text() -> str:
    """Return a random UUID as text, as Kafka appends it to a member's client id."""
    return str(uuid.uuid4())


class GroupCoordinator:
    """Coordinates the groups of a cluster."""

    def __init__(
        self,
        settings: GroupSettings,
        clock: Clock,
        log: GroupLog,
        new_consumer_groups: NewConsumerGroups,
        new_share_groups: NewShareGroups,
        new_member_suffix: Callable[[], str] = new_uuid_text,
    ) -> None:
        """Start without groups; log keeps them.

        new_consumer_groups: returns what coordinates groups of the consumer protocol, when there is the first one.
        new_share_groups: the same for share groups.
        new_member_suffix: returns what makes a new member's id unique.
        """
        self._settings = settings
        self._clock = clock
        self._log = log
        self._expiry: Timer | None = None
        self._registry = GroupRegistry(self._new_timers, self._schedule_expiry)
        self._rebalance = Rebalance(settings, log)
        self._join = GroupJoin(settings, self._rebalance, log, new_member_suffix)
        self._membership = GroupMembership(self._rebalance)
        self._new_consumer_groups = new_consumer_groups
        self._new_share_groups = new_share_groups
        self.offsets = GroupOffsets(
            settings, self._registry, log, now_ms=clock.now_ms, extend_session=self._extend_session
        )

    @cached_property
    def consumer_groups(self) -> ConsumerGroups:
        """The groups of the consumer protocol, and what they can do beyond all groups."""
        return self._new_consumer_groups(self._registry, self._rebalance)

    @cached_property
    def share_groups(self) -> ShareGroups:
        """The share groups, and what they can do beyond all groups."""
        return self._new_share_groups(self._registry)

    @property
    def has_share_groups(self) -> bool:
        """Whether anybody has asked for them."""
        return "share_groups" in vars(self)

    def load(self) -> None:
        """Have the groups and offsets that are in the log, whose members' sessions begin anew."""
        # Loaded where there is something to read only.
        from .group_replay import GroupReplay

        replay = GroupReplay(
            self._registry,
            self.offsets,
            lambda record: self.consumer_groups.replay(record),
            lambda record: self.share_groups.replay(record),
        )
        self._log.replay(replay.apply)
        for group in self._registry.all():
            if isinstance(group, ClassicGroup):
                self._rebalance.begin_sessions(group)
                group.finish_step()
            elif group.group_type is GroupType.CONSUMER:
                self.consumer_groups.begin_sessions(group.group_id)
            elif group.group_type is GroupType.SHARE:
                self.share_groups.begin_sessions(group.group_id)
        if len(self._registry):
            logger.info("%d groups are known again", len(self._registry))

    def settled(self, response: R, refused: Callable[[ErrorCode], R]) -> R | Deferred[R]:
        """Return the response to what was written since, now or when that is as safe as asked for (flush.messages)."""
        return self._log.settled(response, refused)

    def _new_timers(self) -> GroupTimers:
        return GroupTimers(self._clock, self._settle)

    def _settle(self, done: Callable[[], None], refused: Callable[[ErrorCode], None]) -> None:
        """Call one of both when what was written since is settled."""
        answer = self._log.settled(ErrorCode.NONE, lambda error_code: error_code)

        def settled(error_code: ErrorCode) -> None:
            if error_code is ErrorCode.NONE:
                done()
            else:
                refused(error_code)

        if isinstance(answer, Deferred):
            answer.deliver_to(settled)
        else:
            settled(answer)

    def _extend_session(self, group: ClassicGroup, member_id: str) -> None:
        self._rebalance.extend_session(group, group.members[member_id])

    # -- membership

    def join(self, attempt: JoinAttempt) -> None:
        """Answer a JoinGroup request, now or later."""
        request = attempt.request
        if not request.group_id:
            attempt.refuse(ErrorCode.INVALID_GROUP_ID, attempt.member_id)
            return
        settings = self._settings
        if not settings.session_timeout_ms_min <= request.session_timeout_ms <= settings.session_timeout_ms_max:
            attempt.refuse(ErrorCode.INVALID_SESSION_TIMEOUT, attempt.member_id)
            return
        try:
            group = self._joined_group(attempt)
        except KafkaError as error:
            attempt.refuse(error.code, attempt.member_id if error.code is ErrorCode.UNKNOWN_MEMBER_ID else "")
            return
        if isinstance(group, ClassicGroup):
            self._join.join(group, attempt)
            group.finish_step()
        elif group.group_type is GroupType.CONSUMER:
            self.consumer_groups.join(attempt)
        else:
            attempt.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _joined_group(self, attempt: JoinAttempt) -> Group:
        """Return the group that somebody joins, a new one where it has to be.

        One of the consumer protocol that has no members makes room for it.
        Raises KafkaError UNKNOWN_MEMBER_ID for a member of a group that there is not, and what StateLog raises.
        """
        group_id = attempt.request.group_id
        group = self._registry.find(group_id)
        if group is not None and group.group_type is GroupType.CONSUMER and group.is_empty:
            self._log.append(group_id, group.tombstones())
            self._registry.delete(group)
            group = None
        if group is None and attempt.member_id:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return self._new_group(group_id) if group is None else group

    def _new_group(self, group_id: str) -> ClassicGroup:
        """Return a new group, which is written also where nobody gets into it. Raises KafkaError."""
        group = self._registry.create_classic(group_id)
        try:
            self._log.append(group_id, [new_group_record(group)])
        except KafkaError as error:
            logger.warning("group %s: cannot write that it is new: %s", group_id, error.message)
            self._registry.delete(group)
            raise
        return group

    def sync(self, request: SyncGroupRequest, answer: Deferred[SyncGroupResponse]) -> None:
        """Answer a SyncGroup request, now or later; raises KafkaError where it is refused."""
        group = self._group_of_member(request.group_id)
        if isinstance(group, ClassicGroup):
            self._membership.sync(group, request, answer)
            group.finish_step()
        else:
            answer.complete(self.consumer_groups.sync(request))

    def heartbeat(self, request: HeartbeatRequest) -> None:
        """Extend a member's session; raises KafkaError where the member must do something else."""
        group = self._group_of_member(request.group_id)
        if isinstance(group, ClassicGroup):
            self._membership.heartbeat(group, request.member_id, request.group_instance_id, request.generation_id)
        else:
            self.consumer_groups.classic_heartbeat(request)

    def leave(self, group_id: str, members: list[MemberIdentity]) -> list[MemberResponse]:
        """Let members go; raises KafkaError UNKNOWN_MEMBER_ID for a group that there is not."""
        group = self._group_of_member(group_id)
        if not isinstance(group, ClassicGroup):
            return self.consumer_groups.leave(group_id, members)
        answers = self._membership.leave(group, members)
        group.finish_step()
        return answers

    def _group_of_member(self, group_id: str) -> Group:
        """Return the group that a request of a member is about: a classic one, or one of the consumer protocol.

        Raises KafkaError: INVALID_GROUP_ID for an empty id, and UNKNOWN_MEMBER_ID for a group that there is not, which
        is what makes clients join again.
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        group = self._registry.find(group_id)
        if group is None or group.group_type not in (GroupType.CLASSIC, GroupType.CONSUMER):
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return group

    # -- administration

    def list_groups(self, states: Collection[str], types: Collection[str]) -> list[ListedGroup]:
        """Return the groups in one of the states and of one of the types; an empty filter lets all pass."""
        return [list_entry(group) for group in self._registry.all() if is_selected(group, states, types)]

    def describe(self, group_id: str) -> DescribedGroup:
        """Return the group with its members; one that there is not is Dead."""
        try:
            return describe(self._registry.classic_group_of(group_id))
        except KafkaError as error:
            return describe_unknown(group_id, error.message)

    def delete_group(self, group_id: str) -> None:
        """Delete a group without members, and its offsets.

        Raises KafkaError: GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, and what StateLog raises.
        """
        group = self._registry.group_of(group_id)
        group.check_delete()
        if group.group_type is GroupType.SHARE:
            self.share_groups.delete(group_id)
        self._delete(group, self.offsets.all_of_group(group_id))

    def unload(self) -> None:
        """Forget every group; who waits for one is answered NOT_COORDINATOR, and looks for one again.

        Nothing else may be asked of this coordinator any more.
        Source: GroupMetadataManager.onUnloaded, Kafka 4.3.0.
        """
        if self._expiry is not None:
            self._expiry.cancel()
        if self.has_share_groups:
            self.share_groups.unload()
        groups = self._registry.all()
        for group in groups:
            group.refuse_waiting()
            self._registry.delete(group)
        for group in groups:
            group.finish_step()

    # -- expiry

    def _delete(self, group: Group, places: Sequence[OffsetPlace]) -> None:
        """Delete the group with the offsets for places, which are all that it has. Raises KafkaError."""
        self._log.append(group.group_id, [*(offset_tombstone(*place) for place in places), *group.tombstones()])
        self.offsets.forget(places)
        self._registry.delete(group)

    def _schedule_expiry(self) -> None:
        if self._expiry is None:
            self._expiry = self._clock.call_later(self._settings.offsets_retention_check_interval_ms, self._expire)

    def _expire(self) -> None:
        """Drop expired offsets, and groups without members that have none left; go on while there are groups."""
        self._expiry = None
        for group in self._registry.all():
            try:
                self._expire_of(group)
            except KafkaError as error:
                logger.warning("group %s: cannot write what has expired: %s", group.group_id, error.message)
        if len(self._registry):
            self._schedule_expiry()

    def _expire_of(self, group: Group) -> None:
        if group.group_type is GroupType.SHARE:
            # It has no offsets that could expire, and stays.
            return
        expired = self.offsets.expired_of(group)
        if group.is_empty and len(expired) == len(self.offsets.all_of_group(group.group_id)):
            self._delete(group, expired)
        elif expired:
            self._log.append(group.group_id, [offset_tombstone(*place) for place in expired])
            self.offsets.forget(expired)
