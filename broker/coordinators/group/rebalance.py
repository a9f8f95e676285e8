"""The rebalance of a classic group, the sessions of its members, and their timeouts.

A rebalance has two phases.
- Join: every member sends JoinGroup and waits. The phase ends when all have done so, or after the longest rebalance
  timeout; members that have not rejoined are then removed. The first rebalance of a group ends after
  group.initial.rebalance.delay.ms instead, which new members extend.
- Sync: every member sends SyncGroup and waits for the leader's assignment. Members that do not send it within the
  rebalance timeout are removed.
A generation is written to the log when it has its assignment, before any member gets a response, or when it has no
members. A member whose session expires is removed, which starts the next rebalance.
Source: GroupMetadataManager (the classicGroup methods), Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....protocol.error_codes import ErrorCode, KafkaError
from ..coordinator_log import CoordinatorLog
from . import group_timers
from .classic_group import ClassicGroup, GroupState
from .group_member import GroupMember, join_error, sync_error
from .group_records import group_record
from .group_settings import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupSettings
from .member_clients import ANY_MEMBER

logger = logging.getLogger(__name__)

NO_ASSIGNMENT = b""


class Rebalance:
    """Rebalances classic groups. The state is in the groups."""

    __slots__ = ("_log", "_settings")

    def __init__(self, settings: GroupSettings, log: CoordinatorLog) -> None:
        """log: the log to which generations are written."""
        self._settings = settings
        self._log = log

    # -- the join phase

    def prepare_or_complete(self, group: ClassicGroup, reason: str) -> None:
        """Begin a rebalance. If the group already is in a join phase, end the phase if all members have joined."""
        if group.can_rebalance:
            self.prepare(group, reason)
        else:
            self.complete_join_if_possible(group)

    def prepare(self, group: ClassicGroup, reason: str) -> None:
        """Begin a rebalance. Members that wait for their assignment get REBALANCE_IN_PROGRESS, to join again."""
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._reset_assignments(group, ErrorCode.REBALANCE_IN_PROGRESS)
        group.pending_sync_members.clear()
        group.timers.cancel(group_timers.SYNC)
        is_first = group.state is GroupState.EMPTY
        group.transition_to(GroupState.PREPARING_REBALANCE)
        logger.info("group %s: rebalance after generation %d: %s", group.group_id, group.generation_id, reason)
        delay_ms = self._settings.initial_rebalance_delay_ms
        if is_first and delay_ms > 0:
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._schedule_end_of_first_delay(group, delay_ms, remaining_ms)
        elif is_first or group.has_all_members_joined:
            self.complete_join(group)
        else:
            self._schedule_end_of_join(group)

    def complete_join_if_possible(self, group: ClassicGroup) -> None:
        """End the join phase if all members have joined. A group's first join phase always lasts for its delay."""
        if (
            group.state is GroupState.PREPARING_REBALANCE
            and group.previous_state is not GroupState.EMPTY
            and group.has_all_members_joined
        ):
            self.complete_join(group)

    def complete_join(self, group: ClassicGroup) -> None:
        """End the join phase: remove absent members, start the next generation, respond to the pending requests."""
        group.timers.cancel(group_timers.FIRST_DELAY)
        group.timers.cancel(group_timers.JOIN)
        self._remove_absent_members(group)
        if group.state is GroupState.DEAD:
            return
        if group.members and not group.elect_joined_leader():
            # Only static members are left, and none has rejoined. The end of their sessions removes them.
            logger.info("group %s: no member has rejoined, the join phase continues", group.group_id)
            self._schedule_end_of_join(group)
            return
        group.begin_generation()
        logger.info("group %s: generation %d has %d members", group.group_id, group.generation_id, len(group.members))
        if group.members:
            self._respond_to_joined_members(group)
            return
        try:
            self._log.append(group.group_id, [group_record(group, (), None)])
        except KafkaError as error:
            # After a restart the group has the previous generation, until the sessions of its members expire.
            logger.warning("group %s: cannot write the empty generation: %s", group.group_id, error.message)

    def add_member(self, group: ClassicGroup, member: GroupMember, reason: str) -> None:
        """Add a new member, whose JoinGroup request is pending, and rebalance."""
        if group.state is GroupState.PREPARING_REBALANCE and group.previous_state is GroupState.EMPTY:
            group.new_member_added = True
        member.is_new = True
        group.add(member)
        self._schedule_session_end(group, member.member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self.prepare_or_complete(group, reason)

    # -- the sync phase

    def assign(self, group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
        """Accept the leader's assignment: the group becomes stable, and the pending SyncGroup requests get responses.

        If the assignment cannot be written, the responses have the error code, and the group rebalances again.
        """
        assigned = [
            replace(member, assignment=assignments.get(member.member_id, NO_ASSIGNMENT))
            for member in group.members.values()
        ]
        try:
            self._log.append(group.group_id, [group_record(group, assigned, group.leader_id)])
        except KafkaError as error:
            logger.warning("group %s: cannot write the assignment: %s", group.group_id, error.message)
            self._reset_assignments(group, error.code)
            self.prepare_or_complete(group, f"{error.code.name} when the assignment was written")
            return
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, NO_ASSIGNMENT)
        for member in group.members.values():
            if group.respond_to_sync(member, group.sync_response(member)):
                self.extend_session(group, member)
        group.transition_to(GroupState.STABLE)

    def remove_pending_sync_member(self, group: ClassicGroup, member_id: str) -> None:
        """Record that a member has sent SyncGroup. The last one cancels the timeout of the sync phase."""
        group.pending_sync_members.discard(member_id)
        if not group.pending_sync_members:
            group.timers.cancel(group_timers.SYNC)

    # -- sessions

    def begin_sessions(self, group: ClassicGroup) -> None:
        """Begin the sessions of a group that was read from the log. A group larger than group.max.size rebalances.

        Source: GroupMetadataManager.onLoaded, Kafka 4.3.0.
        """
        for member in group.members.values():
            self.extend_session(group, member)
        if len(group.members) > self._settings.members_max:
            self.prepare(group, f"{len(group.members)} members are more than {self._settings.members_max}")

    def extend_session(self, group: ClassicGroup, member: GroupMember) -> None:
        """Restart the member's session timeout."""
        self._schedule_session_end(group, member.member_id, member.session_timeout_ms)

    def add_pending_member(self, group: ClassicGroup, member_id: str, session_timeout_ms: int) -> None:
        """Add a member id that was sent with MEMBER_ID_REQUIRED. It expires after session_timeout_ms."""
        group.pending_join_members.add(member_id)
        self._schedule_session_end(group, member_id, session_timeout_ms)

    def remove_leaving_member(self, group: ClassicGroup, member_id: str) -> None:
        """Remove a member or a pending member. The caller must start the rebalance."""
        group.timers.cancel(group_timers.heartbeat_of(member_id))
        member = group.members.get(member_id)
        if member is not None:
            group.respond_to_join(member, join_error(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member_id)

    def _schedule_session_end(self, group: ClassicGroup, member_id: str, delay_ms: int) -> None:
        group.timers.schedule(
            group_timers.heartbeat_of(member_id), delay_ms, lambda: self._end_session(group, member_id), member_id
        )

    def _end_session(self, group: ClassicGroup, member_id: str) -> None:
        member = group.members.get(member_id)
        if member_id in group.pending_join_members:
            group.remove(member_id)
            if group.state is GroupState.PREPARING_REBALANCE and group.has_all_members_joined:
                self.complete_join(group)
        elif member is not None and not member.has_satisfied_heartbeat():
            self._remove_expired_member(group, member)

    def _remove_expired_member(self, group: ClassicGroup, member: GroupMember) -> None:
        # UNKNOWN_MEMBER_ID makes a client that still runs join again with a new id.
        group.respond_to_join(member, join_error(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member.member_id)
        group.timers.note_removed(group.group_id, member.member_id)
        if group.can_rebalance and not group.is_empty:
            self.prepare(group, f"the session of member {member.member_id} has expired")
        elif group.state is GroupState.PREPARING_REBALANCE and group.has_all_members_joined:
            self.complete_join(group)

    # -- timers and responses

    def _schedule_end_of_join(self, group: ClassicGroup) -> None:
        group.timers.schedule(
            group_timers.JOIN, group.rebalance_timeout_ms, lambda: self.complete_join(group), ANY_MEMBER
        )

    def _schedule_end_of_first_delay(self, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
        group.timers.schedule(
            group_timers.FIRST_DELAY, delay_ms, lambda: self._end_first_delay(group, delay_ms, remaining_ms)
        )

    def _end_first_delay(self, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
        """Extend the delay if a member joined during it, up to the rebalance timeout in all."""
        if not group.new_member_added or remaining_ms == 0:
            self.complete_join(group)
            return
        group.new_member_added = False
        next_delay_ms = min(self._settings.initial_rebalance_delay_ms, remaining_ms)
        self._schedule_end_of_first_delay(group, next_delay_ms, max(remaining_ms - delay_ms, 0))

    def _remove_absent_members(self, group: ClassicGroup) -> None:
        """Remove dynamic members that have not rejoined. Static members stay until their session ends."""
        absent = [m.member_id for m in group.members.values() if m.awaiting_join is None and not m.is_static]
        self._remove_late_members(group, absent)
        if absent:
            logger.info("group %s: removed members that did not rejoin: %s", group.group_id, ", ".join(absent))

    def _respond_to_joined_members(self, group: ClassicGroup) -> None:
        for member in group.members.values():
            group.respond_to_join(member, group.join_response(member.member_id))
            self.extend_session(group, member)
            member.is_new = False
            group.pending_sync_members.add(member.member_id)
        generation_id = group.generation_id
        group.timers.schedule(
            group_timers.SYNC, group.rebalance_timeout_ms, lambda: self._end_sync(group, generation_id), ANY_MEMBER
        )

    def _end_sync(self, group: ClassicGroup, generation_id: int) -> None:
        if generation_id != group.generation_id or not group.pending_sync_members:
            return
        if group.state not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
            return
        late = sorted(group.pending_sync_members)
        self._remove_late_members(group, late)
        self.prepare(group, f"no SyncGroup from {', '.join(late)} within the rebalance timeout")

    def _remove_late_members(self, group: ClassicGroup, member_ids: Sequence[str]) -> None:
        for member_id in member_ids:
            group.remove(member_id)
            group.timers.cancel(group_timers.heartbeat_of(member_id))
            group.timers.note_removed(group.group_id, member_id)

    def _reset_assignments(self, group: ClassicGroup, error_code: ErrorCode) -> None:
        """Delete the assignments, and respond with the error code to the pending SyncGroup requests."""
        for member in group.members.values():
            member.assignment = NO_ASSIGNMENT
            if group.respond_to_sync(member, sync_error(error_code)):
                self.extend_session(group, member)
