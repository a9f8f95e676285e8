"""How a classic group gets from one generation to the next, and what happens when time runs out.

A rebalance has two phases. Join: every member sends JoinGroup and waits; the phase ends when all have, or when the
longest rebalance timeout is over, and members that did not come back are out. Sync: every member sends SyncGroup and
waits for the leader's assignment; who does not send one within the rebalance timeout is out too. A group's first
rebalance waits a little for more members instead (group.initial.rebalance.delay.ms).

A generation is written when it is stable, before anybody is told its assignment, or when nobody is left in it.
Source: GroupMetadataManager (the classicGroup methods), Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from ....protocol.error_codes import ErrorCode, KafkaError
from . import group_timers
from .classic_group import ClassicGroup, GroupState
from .group_log import GroupLog
from .group_member import GroupMember
from .group_records import group_record
from .group_responses import join_refused, joined, sync_refused, synced
from .group_settings import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupSettings

logger = logging.getLogger(__name__)

NO_ASSIGNMENT = b""


class Rebalance:
    """Moves classic groups from state to state; holds no state of its own."""

    __slots__ = ("_log", "_settings")

    def __init__(self, settings: GroupSettings, log: GroupLog) -> None:
        """Follow settings; generations are written to log."""
        self._settings = settings
        self._log = log

    # -- the join phase

    def prepare_or_complete(self, group: ClassicGroup, reason: str) -> None:
        """Begin a rebalance; where one is under way already, end its join phase if that is possible now."""
        if group.can_rebalance:
            self.prepare(group, reason)
        else:
            self.complete_join_if_possible(group)

    def prepare(self, group: ClassicGroup, reason: str) -> None:
        """Begin a rebalance: members that wait for their assignment are told to join again."""
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._propagate_refusal(group, ErrorCode.REBALANCE_IN_PROGRESS)
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
        """End the join phase if everybody is there; a first rebalance always waits for the end of its delay."""
        if (
            group.state is GroupState.PREPARING_REBALANCE
            and group.previous_state is not GroupState.EMPTY
            and group.has_all_members_joined
        ):
            self.complete_join(group)

    def complete_join(self, group: ClassicGroup) -> None:
        """End the join phase: drop who did not come back, start the next generation, answer those who wait."""
        group.timers.cancel(group_timers.JOIN)
        self._remove_absent_members(group)
        if group.state is GroupState.DEAD:
            return
        if group.members and not group.elect_joined_leader():
            # Only static members are left, and none has come back: their sessions decide, not the rebalance timeout.
            logger.info("group %s: no member has rejoined, the rebalance goes on", group.group_id)
            self._schedule_end_of_join(group)
            return
        group.begin_generation()
        logger.info("group %s: generation %d has %d members", group.group_id, group.generation_id, len(group.members))
        if group.members:
            self._answer_joined_members(group)
        else:
            self._write_empty(group)

    def _write_empty(self, group: ClassicGroup) -> None:
        try:
            self._log.append(group.group_id, [group_record(group, (), None)])
        except KafkaError as error:
            # After a crash the generation before would be there, whose members are gone; their sessions would end.
            logger.warning("group %s: cannot write that it is empty: %s", group.group_id, error.message)

    def add_member(self, group: ClassicGroup, member: GroupMember, reason: str) -> None:
        """Take a new member in, whose JoinGroup waits."""
        if group.state is GroupState.PREPARING_REBALANCE and group.previous_state is GroupState.EMPTY:
            group.new_member_added = True
        member.is_new = True
        group.add(member)
        self._schedule_session_end(group, member.member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self.prepare_or_complete(group, reason)

    # -- the sync phase

    def assign(self, group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
        """Take the leader's assignment: the group is stable, and members that wait for theirs get it.

        Where it cannot be written, they are told so, and the group rebalances again.
        """
        assigned = [
            replace(member, assignment=assignments.get(member.member_id, NO_ASSIGNMENT))
            for member in group.members.values()
        ]
        try:
            self._log.append(group.group_id, [group_record(group, assigned, group.leader_id)])
        except KafkaError as error:
            logger.warning("group %s: cannot write the assignment: %s", group.group_id, error.message)
            self._propagate_refusal(group, error.code)
            self.prepare_or_complete(group, f"{error.code.name} when the assignment was written")
            return
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, NO_ASSIGNMENT)
        for member in group.members.values():
            if group.answer_sync(member, synced(group, member.assignment)):
                self.extend_session(group, member)
        group.transition_to(GroupState.STABLE)

    def note_sync(self, group: ClassicGroup, member_id: str) -> None:
        """Note that a member has asked for its assignment; with the last one the wait is over."""
        group.pending_sync_members.discard(member_id)
        if not group.pending_sync_members:
            group.timers.cancel(group_timers.SYNC)

    # -- sessions

    def begin_sessions(self, group: ClassicGroup) -> None:
        """Begin the sessions of a group that was read; one that is larger than is allowed by now rebalances.

        Source: GroupMetadataManager.onLoaded, Kafka 4.3.0.
        """
        for member in group.members.values():
            self.extend_session(group, member)
        if len(group.members) > self._settings.members_max:
            self.prepare(group, f"{len(group.members)} members are more than {self._settings.members_max}")

    def extend_session(self, group: ClassicGroup, member: GroupMember) -> None:
        """Give the member another session timeout from now on."""
        self._schedule_session_end(group, member.member_id, member.session_timeout_ms)

    def add_pending_member(self, group: ClassicGroup, member_id: str, session_timeout_ms: int) -> None:
        """Expect a member to join under the id it was given, within a session timeout."""
        group.pending_join_members.add(member_id)
        self._schedule_session_end(group, member_id, session_timeout_ms)

    def remove_leaving_member(self, group: ClassicGroup, member_id: str) -> None:
        """Let a member or a pending member go; what follows for the group is the caller's to start."""
        group.timers.cancel(group_timers.heartbeat_of(member_id))
        member = group.members.get(member_id)
        if member is not None:
            group.answer_join(member, join_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member_id)

    def _schedule_session_end(self, group: ClassicGroup, member_id: str, delay_ms: int) -> None:
        group.timers.schedule(
            group_timers.heartbeat_of(member_id), delay_ms, lambda: self._end_session(group, member_id)
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
        # A client that still is there tries again with a new id.
        group.answer_join(member, join_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member.member_id)
        if group.can_rebalance and not group.is_empty:
            self.prepare(group, f"the session of member {member.member_id} has expired")
        elif group.state is GroupState.PREPARING_REBALANCE and group.has_all_members_joined:
            self.complete_join(group)

    # -- timers and answers

    def _schedule_end_of_join(self, group: ClassicGroup) -> None:
        group.timers.schedule(group_timers.JOIN, group.rebalance_timeout_ms, lambda: self.complete_join(group))

    def _schedule_end_of_first_delay(self, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
        group.timers.schedule(group_timers.JOIN, delay_ms, lambda: self._end_first_delay(group, delay_ms, remaining_ms))

    def _end_first_delay(self, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
        """Wait once more if a member came in meanwhile, at most until the rebalance timeout in all."""
        if not group.new_member_added or remaining_ms == 0:
            self.complete_join(group)
            return
        group.new_member_added = False
        next_delay_ms = min(self._settings.initial_rebalance_delay_ms, remaining_ms)
        self._schedule_end_of_first_delay(group, next_delay_ms, max(remaining_ms - delay_ms, 0))

    def _remove_absent_members(self, group: ClassicGroup) -> None:
        """Remove members that have not rejoined; static ones stay until their session ends."""
        absent = [m.member_id for m in group.members.values() if m.awaiting_join is None and not m.is_static]
        for member_id in absent:
            group.remove(member_id)
            group.timers.cancel(group_timers.heartbeat_of(member_id))
        if absent:
            logger.info("group %s: removed members that did not rejoin: %s", group.group_id, ", ".join(absent))

    def _answer_joined_members(self, group: ClassicGroup) -> None:
        for member in group.members.values():
            group.answer_join(member, joined(group, member.member_id))
            self.extend_session(group, member)
            member.is_new = False
            group.pending_sync_members.add(member.member_id)
        generation_id = group.generation_id
        group.timers.schedule(
            group_timers.SYNC, group.rebalance_timeout_ms, lambda: self._end_sync(group, generation_id)
        )

    def _end_sync(self, group: ClassicGroup, generation_id: int) -> None:
        if generation_id != group.generation_id or not group.pending_sync_members:
            return
        if group.state not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
            return
        late = sorted(group.pending_sync_members)
        for member_id in late:
            group.remove(member_id)
            group.timers.cancel(group_timers.heartbeat_of(member_id))
        self.prepare(group, f"no SyncGroup from {', '.join(late)} within the rebalance timeout")

    def _propagate_refusal(self, group: ClassicGroup, error_code: ErrorCode) -> None:
        for member in group.members.values():
            member.assignment = NO_ASSIGNMENT
            if group.answer_sync(member, sync_refused(error_code)):
                self.extend_session(group, member)
