"""Timeouts of members: session, rebalance (revocation of partitions), and the join and sync of classic members.

Source: GroupMetadataManager.scheduleConsumerGroupSessionTimeout and the methods next to it, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..group.member_timeouts import MemberTimeouts, Removal, rebalance_timer, session_timer
from .member import MemberState

if TYPE_CHECKING:
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings

# Removes a member. Raises KafkaError.
Fence = Callable[["ConsumerGroup", "ConsumerMember"], None]


def join_timer(member_id: str) -> str:
    """Return the name of the timer that limits the wait for the JoinGroup of a classic member."""
    return f"join {member_id}"


def sync_timer(member_id: str) -> str:
    """Return the name of the timer that limits the wait for the SyncGroup of a classic member."""
    return f"sync {member_id}"


class MemberSessions:
    """Starts and cancels the timers of members."""

    __slots__ = ("_settings", "_timeouts")

    def __init__(self, settings: ConsumerGroupSettings, fence: Fence) -> None:
        """fence: removes a member whose timeout expired."""
        self._settings = settings
        self._timeouts: MemberTimeouts[ConsumerGroup] = MemberTimeouts(
            lambda group, member_id: fence(group, group.members[member_id])
        )

    def start_sessions(self, group: ConsumerGroup) -> None:
        """Start the timers of a group that was loaded.

        Source: GroupMetadataManager.onLoaded, Kafka 4.3.0.
        """
        for member in group.members.values():
            self.extend_session(group, member.member_id)
            if member.state is MemberState.UNREVOKED_PARTITIONS:
                self.start_rebalance_timeout(group, member)

    def extend_session(self, group: ConsumerGroup, member_id: str) -> None:
        """Restart the member's session timer."""
        member = group.members.get(member_id)
        classic = None if member is None else member.classic
        timeout_ms = (
            self._settings.session_timeout_ms(group.group_id) if classic is None else classic.session_timeout_ms
        )
        self._timeouts.schedule_session(group, member_id, timeout_ms)

    def update_rebalance_timeout(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Start the rebalance timer if the member must revoke partitions, else cancel it.

        A classic member has join and sync timers instead.
        """
        if member.uses_classic_protocol:
            return
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            self.start_rebalance_timeout(group, member)
        else:
            group.timers.cancel(rebalance_timer(member.member_id))

    def start_rebalance_timeout(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Remove the member if it still has this epoch after its rebalance timeout."""
        self._timeouts.schedule_rebalance(group, member, member.rebalance_timeout_ms, "partitions")

    def start_join_timeout(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Start the join timer of a classic member that must rejoin, unless it runs already."""
        name = join_timer(member.member_id)
        if not group.timers.is_scheduled(name):
            removal = Removal(member.member_id, "it did not join within its timeout")
            self._timeouts.schedule(group, name, member.rebalance_timeout_ms, removal)

    def cancel_join_timeout(self, group: ConsumerGroup, member_id: str) -> None:
        """Cancel the join timer of a classic member."""
        group.timers.cancel(join_timer(member_id))

    def start_sync_timeout(self, group: ConsumerGroup, member_id: str, timeout_ms: int) -> None:
        """Start the sync timer of a classic member that has joined."""
        removal = Removal(member_id, "it did not sync within its timeout")
        self._timeouts.schedule(group, sync_timer(member_id), timeout_ms, removal)

    def cancel_sync_timeout(self, group: ConsumerGroup, member_id: str) -> None:
        """Cancel the sync timer of a classic member."""
        group.timers.cancel(sync_timer(member_id))

    def cancel_timeouts(self, group: ConsumerGroup, member_id: str) -> None:
        """Cancel all timers of a removed member."""
        for name_of in (session_timer, rebalance_timer, join_timer, sync_timer):
            group.timers.cancel(name_of(member_id))
