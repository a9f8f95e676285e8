"""Timers that remove members of consumer, share and streams groups: of sessions, and of what a member must do in time.

Source: GroupMetadataManager.scheduleConsumerGroupSessionTimeout and the methods next to it, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from ....protocol.error_codes import KafkaError
from .group_timers import GroupTimers
from .member_group import GroupMember

logger = logging.getLogger(__name__)

# The delay before another attempt to remove a member, after a failed write.
# Source: CoordinatorTimerImpl, Kafka 4.3.0.
RETRY_MS = 500


def session_timer(member_id: str) -> str:
    """Return the name of a member's session timer."""
    return f"session {member_id}"


def rebalance_timer(member_id: str) -> str:
    """Return the name of the timer that limits the time in which a member revokes what it must."""
    return f"rebalance {member_id}"


class TimedGroup(Protocol):
    """A group whose members have timeouts."""

    group_id: str
    timers: GroupTimers

    @property
    def members(self) -> Mapping[str, GroupMember]:
        """The members by id."""
        ...


class Removal(NamedTuple):
    """A member to remove, and why, for the log. is_late: whether the reason still holds when its time has come."""

    member_id: str
    reason: str
    is_late: Callable[[], bool] = lambda: True


G = TypeVar("G", bound=TimedGroup)


class MemberTimeouts(Generic[G]):
    """Schedules the removal of members."""

    __slots__ = ("_remove",)

    def __init__(self, remove: Callable[[G, str], None]) -> None:
        """remove: removes a member by its id. It may raise KafkaError, and is called again then."""
        self._remove = remove

    def schedule_session(self, group: G, member_id: str, timeout_ms: int) -> None:
        """Remove the member after the timeout, unless it is scheduled again before."""
        self.schedule(group, session_timer(member_id), timeout_ms, Removal(member_id, "its session expired"))

    def schedule_rebalance(self, group: G, member: GroupMember, timeout_ms: int, what: str) -> None:
        """Remove the member if it still has this epoch after the timeout. what: it has to revoke, for the log."""
        epoch, member_id = member.member_epoch, member.member_id
        removal = Removal(
            member_id,
            f"it did not revoke its {what} of epoch {epoch} within its rebalance timeout",
            lambda: group.members[member_id].member_epoch == epoch,
        )
        self.schedule(group, rebalance_timer(member_id), timeout_ms, removal)

    def schedule(self, group: G, name: str, delay_ms: int, removal: Removal) -> None:
        """Remove the member after the delay, if it is late then. name: of the timer."""
        member_id = removal.member_id

        def run() -> None:
            if member_id not in group.members or not removal.is_late():
                return
            logger.info("group %s: member %s is removed: %s", group.group_id, member_id, removal.reason)
            try:
                self._remove(group, member_id)
                group.timers.note_removed(group.group_id, member_id)
            except KafkaError as error:
                logger.warning(
                    "group %s: cannot write the removal of member %s: %s", group.group_id, member_id, error.message
                )
                group.timers.schedule(name, RETRY_MS, run)

        group.timers.schedule(name, delay_ms, run, member_id)
