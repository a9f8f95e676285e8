"""Which members have a client that is connected: an advance of the clock that keeps members spares their timers.

- A member's client is connected while the connection is open over which the last request came that named the member.
- A member that was read from the log counts as connected until it is heard: an advance leaves its client no time to
  find this node. If the client is gone, the session ends in real time.
- Whether the client still sends heartbeats shows in real time: one that has stopped is a member until its session ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

# Names all members of a group. No member has an empty id.
ANY_MEMBER = ""
# Ids of former members are dropped when there are more than this beside the members.
_FORMER_MEMBERS_MAX = 16


class ClientConnection(Protocol):
    """The connection of a client. client_host: its address, in digits. is_closed: also if the client has closed it."""

    client_host: str
    is_closed: bool


class _ExpectedConnection:
    """The connection of a client that has not found this node yet."""

    client_host = ""
    is_closed = False


_EXPECTED: ClientConnection = _ExpectedConnection()


class MemberClients:
    """The connections of the members of a coordinator's groups, of every type."""

    __slots__ = ("_connections", "_members_of")

    def __init__(self, members_of: Callable[[str], Mapping[str, object]]) -> None:
        """members_of: returns the members of a group by id; none for a group that does not exist."""
        self._members_of = members_of
        self._connections: dict[str, dict[str, ClientConnection]] = {}

    def heard(self, group_id: str, member_id: str, connection: ClientConnection) -> None:
        """Note that a member has sent a request. No effect for others than members."""
        members = self._members_of(group_id)
        if member_id not in members:
            return
        connections = self._connections.setdefault(group_id, {})
        connections[member_id] = connection
        if len(connections) > len(members) + _FORMER_MEMBERS_MAX:
            self._connections[group_id] = {each: connections[each] for each in members if each in connections}

    def expect(self, group_id: str) -> None:
        """Note that the members of a group were read from the log."""
        self._connections[group_id] = dict.fromkeys(self._members_of(group_id), _EXPECTED)

    def gone(self, group_id: str, member_id: str) -> None:
        """Note that a member has said that it sends no requests for now."""
        self._connections.get(group_id, {}).pop(member_id, None)

    def forget_group(self, group_id: str) -> None:
        """Drop the connections of a deleted group."""
        self._connections.pop(group_id, None)

    def is_connected(self, group_id: str, member_id: str) -> bool:
        """Whether the client of the member is connected; for ANY_MEMBER, that of at least one member."""
        members, connections = self._members_of(group_id), self._connections.get(group_id, {})
        asked = members if member_id == ANY_MEMBER else (member_id,)
        return any(
            each in members and (connection := connections.get(each)) is not None and not connection.is_closed
            for each in asked
        )
