"""The group coordinator: all groups and their offsets, behind one door for the request handlers.

It is plain synchronous code on the event loop's thread. What must wait is a Deferred; what happens by itself comes
from the clock.
Source: GroupCoordinatorService and GroupMetadataManager, Kafka 4.3.0.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.messages.describe_groups import DescribedGroup
from ...protocol.messages.leave_group import MemberIdentity, MemberResponse
from ...protocol.messages.list_groups import ListedGroup
from ...protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ..request_context import Deferred
from .group_answers import join_refused, sync_refused
from .group_description import describe, describe_unknown, is_selected, list_entry
from .group_join import GroupJoin, JoinAttempt
from .group_membership import GroupMembership
from .group_offsets import GroupOffsets
from .group_registry import GroupRegistry
from .group_settings import GroupSettings
from .rebalance import Rebalance
from .saved_group import SavedGroup

if TYPE_CHECKING:
    from ...protocol.messages.heartbeat import HeartbeatRequest
    from ...protocol.messages.offset_commit import OffsetCommitRequest
    from ..clock import Clock, Timer
    from .classic_group import ClassicGroup


def new_uuid_text() -> str:
    """Return a random UUID as text, as Kafka appends it to a member's client id."""
    return str(uuid.uuid4())


class GroupCoordinator:
    """Coordinates the classic groups of a cluster."""

    def __init__(
        self, settings: GroupSettings, clock: Clock, new_member_suffix: Callable[[], str] = new_uuid_text
    ) -> None:
        """Start without groups; new_member_suffix returns what makes a new member's id unique."""
        self._settings = settings
        self._clock = clock
        self._expiry: Timer | None = None
        self._registry = GroupRegistry(clock, self._schedule_expiry)
        self._rebalance = Rebalance(settings)
        self._join = GroupJoin(settings, self._rebalance, new_member_suffix)
        self._membership = GroupMembership(self._rebalance)
        self.offsets = GroupOffsets(settings, self._registry)

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
        group = self._registry.find(request.group_id)
        if group is None and attempt.member_id:
            attempt.refuse(ErrorCode.UNKNOWN_MEMBER_ID, attempt.member_id)
            return
        group = group or self._registry.find_or_create(request.group_id)
        self._join.join(group, attempt)
        group.timers.finish_step()

    def sync(self, request: SyncGroupRequest, answer: Deferred[SyncGroupResponse]) -> None:
        """Answer a SyncGroup request, now or later; raises KafkaError where it is refused."""
        group = self._group_of_member(request.group_id)
        self._membership.sync(group, request, answer)
        group.timers.finish_step()

    def heartbeat(self, request: HeartbeatRequest) -> None:
        """Extend a member's session; raises KafkaError where the member must do something else."""
        group = self._group_of_member(request.group_id)
        self._membership.heartbeat(group, request.member_id, request.group_instance_id, request.generation_id)

    def leave(self, group_id: str, members: list[MemberIdentity]) -> list[MemberResponse]:
        """Let members go; raises KafkaError UNKNOWN_MEMBER_ID for a group that there is not."""
        group = self._group_of_member(group_id)
        answers = self._membership.leave(group, members)
        group.timers.finish_step()
        return answers

    def begin_commit(self, request: OffsetCommitRequest, api_version: int) -> ClassicGroup:
        """Return the group whose offsets the request may commit; see GroupOffsets.begin_commit."""
        return self.offsets.begin_commit(request, api_version, self._rebalance)

    def _group_of_member(self, group_id: str) -> ClassicGroup:
        """Return the group that a request of a member is about.

        Raises KafkaError: INVALID_GROUP_ID for an empty id, and UNKNOWN_MEMBER_ID for a group that there is not, which
        is what makes clients join again.
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        group = self._registry.find(group_id)
        if group is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return group

    # -- administration

    def list_groups(self, states: Collection[str], types: Collection[str]) -> list[ListedGroup]:
        """Return the groups in one of the states and of one of the types; an empty filter lets all pass."""
        return [list_entry(group) for group in self._registry.all() if is_selected(group, states, types)]

    def describe(self, group_id: str) -> DescribedGroup:
        """Return the group with its members; one that there is not is Dead."""
        group = self._registry.find(group_id)
        return describe_unknown(group_id) if group is None else describe(group)

    def delete_group(self, group_id: str) -> None:
        """Delete a group without members, and its offsets; raises KafkaError: GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        group = self._registry.find(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not group.is_empty:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, f"group {group_id} has {len(group.members)} members")
        self._delete(group)

    def unload(self) -> None:
        """Forget every group; who waits for one is answered NOT_COORDINATOR, and looks for one again.

        Nothing else may be asked of this coordinator any more.
        Source: GroupMetadataManager.onUnloaded, Kafka 4.3.0.
        """
        if self._expiry is not None:
            self._expiry.cancel()
        groups = self._registry.all()
        for group in groups:
            for member in group.members.values():
                group.answer_join(member, join_refused(ErrorCode.NOT_COORDINATOR, member.member_id))
                group.answer_sync(member, sync_refused(ErrorCode.NOT_COORDINATOR))
            self._delete(group)
        for group in groups:
            group.timers.finish_step()

    def save(self) -> list[SavedGroup]:
        """Return what is to be kept of every group; its members are not."""
        return [
            SavedGroup(group.group_id, group.protocol_type, group.generation_id, self.offsets.copy_of(group.group_id))
            for group in self._registry.all()
        ]

    def restore(self, groups: Iterable[SavedGroup]) -> None:
        """Have these groups, without members, in place of none."""
        for saved in groups:
            group = self._registry.find_or_create(saved.group_id)
            group.begin_empty(saved.protocol_type, saved.generation_id)
            self.offsets.put_all(saved.group_id, saved.offsets)

    # -- expiry

    def _delete(self, group: ClassicGroup) -> None:
        self.offsets.forget_group(group.group_id)
        self._registry.delete(group)

    def _schedule_expiry(self) -> None:
        if self._expiry is None:
            self._expiry = self._clock.call_later(self._settings.offsets_retention_check_interval_ms, self._expire)

    def _expire(self) -> None:
        """Drop expired offsets, and groups without members that have none left; go on while there are groups."""
        self._expiry = None
        for group in self._registry.all():
            if self.offsets.remove_expired(group, self._clock.now_ms()) and group.is_empty:
                self._delete(group)
        if len(self._registry):
            self._schedule_expiry()
