"""JoinGroup: who may join a classic group, under which id, and whether that starts a rebalance.

Source: GroupMetadataManager.classicGroupJoinToClassicGroup and what it calls, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ...runtime.deferred import Deferred
from .classic_group import ClassicGroup, GroupState
from .group_log import GroupLog
from .group_member import GroupMember, MemberProtocol
from .group_records import group_record
from .group_responses import NO_LEADER, join_refused, joined
from .group_settings import GroupSettings
from .protocol_vote import select_protocol
from .rebalance import Rebalance


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinAttempt:
    """A JoinGroup request, who sent it, what its version allows, and its answer."""

    request: JoinGroupRequest
    client_id: str
    client_host: str
    # From version 4 on a new member is told its id first, so that a lost answer leaves no member behind (KIP-394).
    requires_known_member_id: bool
    # From version 9 on a leader that came back can be told that the assignment stands (KIP-814).
    can_skip_assignment: bool
    answer: Deferred[JoinGroupResponse]

    @property
    def member_id(self) -> str:
        """The id the member has; empty for one that asks for an id."""
        return self.request.member_id

    @property
    def protocols(self) -> list[MemberProtocol]:
        """The member's protocols in the order of its preference; of a name that comes twice, the first."""
        by_name: dict[str, MemberProtocol] = {}
        for protocol in self.request.protocols:
            by_name.setdefault(protocol.name, MemberProtocol(protocol.name, protocol.metadata))
        return list(by_name.values())

    @property
    def reason(self) -> str:
        """Why the client joins, in its own words."""
        return self.request.reason or "not provided"

    def refuse(self, error_code: ErrorCode, member_id: str = "") -> None:
        """Answer with an error."""
        self.answer.complete(join_refused(error_code, member_id))


class GroupJoin:
    """Judges JoinGroup requests."""

    __slots__ = ("_log", "_new_member_suffix", "_rebalance", "_settings")

    def __init__(
        self, settings: GroupSettings, rebalance: Rebalance, log: GroupLog, new_member_suffix: Callable[[], str]
    ) -> None:
        """new_member_suffix: returns what makes a new member's id unique, for example a UUID."""
        self._settings = settings
        self._rebalance = rebalance
        self._log = log
        self._new_member_suffix = new_member_suffix

    def join(self, group: ClassicGroup, attempt: JoinAttempt) -> None:
        """Answer the attempt now, or when the rebalance that it takes part in is over."""
        request = attempt.request
        if not self._has_room_for(group, attempt.member_id):
            group.remove(attempt.member_id)
            attempt.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED)
        elif not group.supports_protocols(request.protocol_type, [protocol.name for protocol in request.protocols]):
            attempt.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, attempt.member_id)
        elif attempt.member_id:
            self._join_known(group, attempt)
        elif request.group_instance_id is not None:
            self._join_new_static(group, attempt, request.group_instance_id)
        else:
            self._join_new_dynamic(group, attempt)

    def _has_room_for(self, group: ClassicGroup, member_id: str) -> bool:
        """Return whether group.max.size allows the member.

        While members join, those that wait are counted: the group may be larger than a limit that was lowered, and
        then the last ones to rejoin are out.
        """
        member = group.members.get(member_id)
        match group.state:
            case GroupState.EMPTY | GroupState.DEAD:
                return True
            case GroupState.PREPARING_REBALANCE:
                is_waiting = member is not None and member.awaiting_join is not None
                return is_waiting or group.awaiting_join_count < self._settings.members_max
            case GroupState.COMPLETING_REBALANCE | GroupState.STABLE:
                return member is not None or len(group.members) < self._settings.members_max

    # -- members without an id

    def _join_new_dynamic(self, group: ClassicGroup, attempt: JoinAttempt) -> None:
        member_id = f"{attempt.client_id}-{self._new_member_suffix()}"
        if attempt.requires_known_member_id:
            self._rebalance.add_pending_member(group, member_id, attempt.request.session_timeout_ms)
            attempt.refuse(ErrorCode.MEMBER_ID_REQUIRED, member_id)
        else:
            self._add(group, attempt, member_id)

    def _join_new_static(self, group: ClassicGroup, attempt: JoinAttempt, group_instance_id: str) -> None:
        member_id = f"{group_instance_id}-{self._new_member_suffix()}"
        if group_instance_id in group.static_members:
            self._replace_static(group, attempt, group_instance_id, member_id)
        else:
            self._add(group, attempt, member_id)

    def _add(self, group: ClassicGroup, attempt: JoinAttempt, member_id: str) -> None:
        request = attempt.request
        member = GroupMember(
            member_id=member_id,
            group_instance_id=request.group_instance_id,
            client_id=attempt.client_id,
            client_host=f"/{attempt.client_host}",
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=attempt.protocols,
        )
        member.await_join(attempt.answer)
        self._rebalance.add_member(group, member, f"member {member_id} joins: {attempt.reason}")

    def _replace_static(
        self, group: ClassicGroup, attempt: JoinAttempt, group_instance_id: str, member_id: str
    ) -> None:
        """Let a static member that was restarted go on where it was, under a new id."""
        before = group.members[group.static_members[group_instance_id]]
        leader_before = group.leader_id
        after = replace(
            before,
            member_id=member_id,
            protocols=attempt.protocols,
            rebalance_timeout_ms=attempt.request.rebalance_timeout_ms,
            session_timeout_ms=attempt.request.session_timeout_ms,
        )
        members = [member for member in group.members.values() if member is not before] + [after]
        goes_on = group.state is GroupState.STABLE and select_protocol(members) == group.protocol_name
        if goes_on:
            leader_id = member_id if leader_before == before.member_id else leader_before
            try:
                self._log.append(group.group_id, [group_record(group, members, leader_id)])
            except KafkaError as error:
                self._rebalance.extend_session(group, before)
                group.send_join(attempt.answer, _not_resumed(group, error.code))
                return
        member = group.replace_static_member(group_instance_id, member_id)
        self._rebalance.extend_session(group, member)
        _update(member, attempt)
        if goes_on:
            group.answer_join(member, _resumed(group, member_id, attempt, leader_before))
        elif group.state is GroupState.COMPLETING_REBALANCE:
            # The leader may already assign to the old id, which would leave the new one without partitions.
            self._rebalance.prepare(group, f"static member {member_id} joins again: {attempt.reason}")
        elif group.state is GroupState.STABLE:
            self._rebalance.prepare(group, f"static member {member_id} changes the group's protocol")
        else:
            self._rebalance.complete_join_if_possible(group)

    # -- members with an id

    def _join_known(self, group: ClassicGroup, attempt: JoinAttempt) -> None:
        request = attempt.request
        if attempt.member_id in group.pending_join_members:
            if request.group_instance_id is not None:
                # Ids are not handed out in advance to static members; Kafka takes this for a fault of its own.
                attempt.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
                return
            self._add(group, attempt, attempt.member_id)
            return
        try:
            group.check_member(attempt.member_id, request.group_instance_id)
        except KafkaError as error:
            attempt.refuse(error.code, attempt.member_id)
            return
        self._rejoin(group, attempt, group.members[attempt.member_id])

    def _rejoin(self, group: ClassicGroup, attempt: JoinAttempt, member: GroupMember) -> None:
        """Rebalance if the member's return changes something; else repeat what it may have missed."""
        is_unchanged = _is_same(member.protocols, attempt.protocols)
        match group.state:
            case GroupState.COMPLETING_REBALANCE if is_unchanged:
                attempt.answer.complete(joined(group, member.member_id))
            case GroupState.STABLE if is_unchanged and not group.is_leader(member.member_id):
                attempt.answer.complete(joined(group, member.member_id))
            case GroupState.PREPARING_REBALANCE | GroupState.COMPLETING_REBALANCE | GroupState.STABLE:
                # A leader may rejoin unchanged: it has seen something that the metadata does not show (new partitions).
                _update(member, attempt)
                self._rebalance.prepare_or_complete(group, f"member {member.member_id} rejoins: {attempt.reason}")
            case GroupState.EMPTY | GroupState.DEAD:
                attempt.refuse(ErrorCode.UNKNOWN_MEMBER_ID, member.member_id)


def _update(member: GroupMember, attempt: JoinAttempt) -> None:
    member.protocols = attempt.protocols
    member.rebalance_timeout_ms = attempt.request.rebalance_timeout_ms
    member.session_timeout_ms = attempt.request.session_timeout_ms
    member.await_join(attempt.answer)


def _resumed(group: ClassicGroup, member_id: str, attempt: JoinAttempt, leader_before: str | None) -> JoinGroupResponse:
    """Return the answer to a static member that goes on in a stable group, without a rebalance.

    An old version cannot be told to skip the assignment, so it is told that its former self leads, and follows.
    """
    response = joined(group, member_id)
    if attempt.can_skip_assignment:
        response.skip_assignment = group.is_leader(member_id)
    else:
        response.members = []
        response.leader = leader_before or ""
    return response


def _not_resumed(group: ClassicGroup, error_code: ErrorCode) -> JoinGroupResponse:
    """Return the answer to a static member whose new id could not be written; the old one is still in the group."""
    return JoinGroupResponse(
        error_code=error_code,
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or NO_LEADER,
    )


def _is_same(known: Sequence[MemberProtocol], joining: Sequence[MemberProtocol]) -> bool:
    return list(known) == list(joining)
