"""The time that members have: for their next heartbeat, to give partitions up, and to join and sync again.

Who lets it pass is no member any more; the group goes into a new epoch then.
Source: GroupMetadataManager.scheduleConsumerGroupSessionTimeout and what stands beside it, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....protocol.error_codes import KafkaError
from .member import MemberState

if TYPE_CHECKING:
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings

logger = logging.getLogger(__name__)

# After so long a timer tries again whose outcome could not be written.
# Source: CoordinatorTimerImpl, Kafka 4.3.0.
RETRY_MS = 500

# Lets a member go. Raises KafkaError.
Fence = Callable[["ConsumerGroup", "ConsumerMember"], None]


def session_of(member_id: str) -> str:
    """Return the name of the timer that ends a member's session."""
    return f"session {member_id}"


def rebalance_of(member_id: str) -> str:
    """Return the name of the timer by which a member has to have given up what it was told to."""
    return f"rebalance {member_id}"


def join_of(member_id: str) -> str:
    """Return the name of the timer by which a classic member has to join again."""
    return f"join {member_id}"


def sync_of(member_id: str) -> str:
    """Return the name of the timer by which a classic member has to ask for its assignment."""
    return f"sync {member_id}"


class MemberSessions:
    """Starts and stops the timers of members."""

    __slots__ = ("_fence", "_settings")

    def __init__(self, settings: ConsumerGroupSettings, fence: Fence) -> None:
        """Have fence called for members that let their time pass."""
        self._settings = settings
        self._fence = fence

    def begin(self, group: ConsumerGroup) -> None:
        """Begin the sessions of a group that was read.

        Source: GroupMetadataManager.onLoaded, Kafka 4.3.0.
        """
        for member in group.members.values():
            self.extend(group, member.member_id)
            if member.state is MemberState.UNREVOKED_PARTITIONS:
                self.limit_revocation(group, member)

    def extend(self, group: ConsumerGroup, member_id: str) -> None:
        """Give the member another session timeout from now on."""
        member = group.members.get(member_id)
        classic = None if member is None else member.classic
        timeout_ms = (
            self._settings.session_timeout_ms(group.group_id) if classic is None else classic.session_timeout_ms
        )
        self._schedule(group, session_of(member_id), timeout_ms, member_id, "its session has expired")

    def follow(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Have a member that is to give partitions up do so within its rebalance timeout; a classic one has others."""
        if member.uses_classic_protocol:
            return
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            self.limit_revocation(group, member)
        else:
            group.timers.cancel(rebalance_of(member.member_id))

    def limit_revocation(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Let the member go that still is in this epoch after its rebalance timeout."""
        epoch = member.member_epoch

        def is_late() -> bool:
            return group.members[member.member_id].member_epoch == epoch

        self._schedule(
            group,
            rebalance_of(member.member_id),
            member.rebalance_timeout_ms,
            member.member_id,
            f"it did not leave epoch {epoch} in time",
            is_late,
        )

    def expect_join(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Have a classic member that was told to join again do so within its rebalance timeout."""
        name = join_of(member.member_id)
        if name not in group.timers.names():
            self._schedule(
                group, name, member.rebalance_timeout_ms, member.member_id, "it did not join within its timeout"
            )

    def end_join(self, group: ConsumerGroup, member_id: str) -> None:
        """Note that a classic member has joined."""
        group.timers.cancel(join_of(member_id))

    def expect_sync(self, group: ConsumerGroup, member_id: str, timeout_ms: int) -> None:
        """Have a classic member that has joined ask for its assignment in time."""
        self._schedule(group, sync_of(member_id), timeout_ms, member_id, "it did not sync within its timeout")

    def end_sync(self, group: ConsumerGroup, member_id: str) -> None:
        """Note that a classic member has asked for its assignment."""
        group.timers.cancel(sync_of(member_id))

    def end(self, group: ConsumerGroup, member_id: str) -> None:
        """Stop all timers of a member that is gone."""
        for name_of in (session_of, rebalance_of, join_of, sync_of):
            group.timers.cancel(name_of(member_id))

    def _schedule(
        self,
        group: ConsumerGroup,
        name: str,
        delay_ms: int,
        member_id: str,
        reason: str,
        is_late: Callable[[], bool] = lambda: True,
    ) -> None:
        def run() -> None:
            member = group.members.get(member_id)
            if member is None or not is_late():
                return
            logger.info("group %s: member %s is let go: %s", group.group_id, member_id, reason)
            try:
                self._fence(group, member)
            except KafkaError as error:
                logger.warning("group %s: cannot write that %s is gone: %s", group.group_id, member_id, error.message)
                group.timers.schedule(name, RETRY_MS, run)

        group.timers.schedule(name, delay_ms, run)
