"""JoinGroup of a classic group: checks the member, gives it an id, and starts a rebalance if the group changes.

- A new dynamic member first gets an id with MEMBER_ID_REQUIRED, and joins with it (KIP-394).
- A static member that joins without an id replaces the member of its group.instance.id under a new id. In a stable
  group with an unchanged protocol this needs no rebalance (KIP-345, KIP-814).
- A member that rejoins unchanged gets the response of the current generation. A leader that does so starts a rebalance.
Source: GroupMetadataManager.classicGroupJoinToClassicGroup and what it calls, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ...runtime.deferred import Deferred
from ..coordinator_log import CoordinatorLog
from .classic_group import ClassicGroup, GroupState
from .group_member import GroupMember, MemberProtocol, join_error, select_protocol
from .group_records import group_record
from .group_settings import GroupSettings
from .member_clients import ClientConnection, MemberClients
from .rebalance import Rebalance


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinAttempt:
    """A JoinGroup request with its client, the features of its version, and its response.

    requires_known_member_id: a new member gets its id before it joins, so that a lost response leaves no member behind
    (KIP-394, version 4).
    can_skip_assignment: a static leader that rejoins can be sent skip_assignment (KIP-814, version 9).
    """

    request: JoinGroupRequest
    client_id: str
    connection: ClientConnection
    requires_known_member_id: bool
    can_skip_assignment: bool
    deferred: Deferred[JoinGroupResponse]

    @property
    def member_id(self) -> str:
        """The member id; empty if the client has none yet."""
        return self.request.member_id

    @property
    def protocols(self) -> list[MemberProtocol]:
        """The member's protocols in the order of its preference; for a repeated name, the first."""
        by_name: dict[str, MemberProtocol] = {}
        for protocol in self.request.protocols:
            by_name.setdefault(protocol.name, MemberProtocol(protocol.name, protocol.metadata))
        return list(by_name.values())

    @property
    def reason(self) -> str:
        """The client's reason to join, for the log."""
        return self.request.reason or "not provided"

    def reject(self, error_code: ErrorCode, member_id: str = "") -> None:
        """Respond with an error."""
        self.deferred.complete(join_error(error_code, member_id))


class GroupJoin:
    """Handles JoinGroup requests to classic groups."""

    __slots__ = ("_clients", "_log", "_new_member_suffix", "_rebalance", "_settings")

    def __init__(
        self,
        settings: GroupSettings,
        rebalance: Rebalance,
        log: CoordinatorLog,
        clients: MemberClients,
        new_member_suffix: Callable[[], str],
    ) -> None:
        """new_member_suffix: returns the unique part of a new member id, for example a UUID."""
        self._clients = clients
        self._settings = settings
        self._rebalance = rebalance
        self._log = log
        self._new_member_suffix = new_member_suffix

    def join(self, group: ClassicGroup, attempt: JoinAttempt) -> None:
        """Respond now, or at the end of the join phase."""
        request = attempt.request
        if not self._has_room_for(group, attempt.member_id):
            group.remove(attempt.member_id)
            attempt.reject(ErrorCode.GROUP_MAX_SIZE_REACHED)
        elif not group.supports_protocols(request.protocol_type, [protocol.name for protocol in request.protocols]):
            attempt.reject(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, attempt.member_id)
        elif attempt.member_id:
            self._join_known(group, attempt)
        elif request.group_instance_id is not None:
            self._join_new_static(group, attempt, request.group_instance_id)
        else:
            self._join_new_dynamic(group, attempt)

    def _has_room_for(self, group: ClassicGroup, member_id: str) -> bool:
        """Return whether group.max.size allows the member.

        A join phase counts only the members that have joined. A group can be larger than a limit that was lowered; then
        the last members to rejoin are rejected.
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
            attempt.reject(ErrorCode.MEMBER_ID_REQUIRED, member_id)
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
            client_host=f"/{attempt.connection.client_host}",
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=attempt.protocols,
        )
        member.await_join(attempt.deferred)
        self._rebalance.add_member(group, member, f"member {member_id} joins: {attempt.reason}")
        self._clients.heard(group.group_id, member_id, attempt.connection)

    def _replace_static(
        self, group: ClassicGroup, attempt: JoinAttempt, group_instance_id: str, member_id: str
    ) -> None:
        """Give the restarted client of a static member its place in the group, under a new member id."""
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
        is_still_stable = group.state is GroupState.STABLE and select_protocol(members) == group.protocol_name
        if is_still_stable:
            leader_id = member_id if leader_before == before.member_id else leader_before
            try:
                self._log.append(group.group_id, [group_record(group, members, leader_id)])
            except KafkaError as error:
                self._rebalance.extend_session(group, before)
                # The group still has the old member id.
                response = JoinGroupResponse(
                    error_code=error.code,
                    generation_id=group.generation_id,
                    protocol_type=group.protocol_type,
                    protocol_name=group.protocol_name,
                    leader=group.leader_id or "",
                )
                group.delay_join_response(attempt.deferred, response)
                return
        member = group.replace_static_member(group_instance_id, member_id)
        self._clients.heard(group.group_id, member_id, attempt.connection)
        self._rebalance.extend_session(group, member)
        _update(member, attempt)
        if is_still_stable:
            group.respond_to_join(member, _resumed(group, member_id, attempt, leader_before))
        elif group.state is GroupState.COMPLETING_REBALANCE:
            # The leader may already assign partitions to the old id. The new id would then have none.
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
                # Static members get no id in advance. Kafka fails with an internal error here.
                attempt.reject(ErrorCode.UNKNOWN_SERVER_ERROR)
                return
            self._add(group, attempt, attempt.member_id)
            return
        try:
            group.check_member(attempt.member_id, request.group_instance_id)
        except KafkaError as error:
            attempt.reject(error.code, attempt.member_id)
            return
        self._rejoin(group, attempt, group.members[attempt.member_id])

    def _rejoin(self, group: ClassicGroup, attempt: JoinAttempt, member: GroupMember) -> None:
        """Rebalance if the member changes the group, else repeat the response of the current generation."""
        is_unchanged = list(member.protocols) == attempt.protocols
        match group.state:
            case GroupState.COMPLETING_REBALANCE if is_unchanged:
                attempt.deferred.complete(group.join_response(member.member_id))
            case GroupState.STABLE if is_unchanged and not group.is_leader(member.member_id):
                attempt.deferred.complete(group.join_response(member.member_id))
            case GroupState.PREPARING_REBALANCE | GroupState.COMPLETING_REBALANCE | GroupState.STABLE:
                # A leader rejoins unchanged if it has found new partitions, for example.
                _update(member, attempt)
                self._rebalance.prepare_or_complete(group, f"member {member.member_id} rejoins: {attempt.reason}")
            case GroupState.EMPTY | GroupState.DEAD:
                attempt.reject(ErrorCode.UNKNOWN_MEMBER_ID, member.member_id)


def _update(member: GroupMember, attempt: JoinAttempt) -> None:
    member.protocols = attempt.protocols
    member.rebalance_timeout_ms = attempt.request.rebalance_timeout_ms
    member.session_timeout_ms = attempt.request.session_timeout_ms
    member.await_join(attempt.deferred)


def _resumed(group: ClassicGroup, member_id: str, attempt: JoinAttempt, leader_before: str | None) -> JoinGroupResponse:
    """Return the response to a static member that rejoins a stable group without a rebalance.

    Versions without skip_assignment get the old member id as the leader, so that the client does not assign.
    """
    response = group.join_response(member_id)
    if attempt.can_skip_assignment:
        response.skip_assignment = group.is_leader(member_id)
    else:
        response.members = []
        response.leader = leader_before or ""
    return response
