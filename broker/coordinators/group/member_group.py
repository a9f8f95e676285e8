"""What consumer, share and streams groups have in common: members by id, static ones by instance id, and their epochs.

Source: ModernGroup and GroupMetadataManager.throwIf..., Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from ....protocol.error_codes import ErrorCode, KafkaError

if TYPE_CHECKING:
    from .group_timers import GroupTimers
    from .offset_store import CommittedOffset

# Special epochs of a request. A static member that leaves with -2 keeps its place until its session expires.
JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2


# The number that stands for a state of a newer Kafka.
UNKNOWN_STATE = 127


class NumberedState(IntEnum):
    """The states of a member, by their numbers in the log. Each protocol has its own, and UNKNOWN_STATE."""

    @classmethod
    def of(cls, number: int) -> Self:
        """Return the state of a number, that of UNKNOWN_STATE if there is none."""
        return cls(number) if number in list(cls) else cls(UNKNOWN_STATE)


class GroupMember(Protocol):
    """A member of a group."""

    @property
    def member_id(self) -> str:
        """The member id."""
        ...

    @property
    def member_epoch(self) -> int:
        """The epoch of the member's assignment."""
        ...

    @property
    def previous_member_epoch(self) -> int:
        """The epoch before that."""
        ...


M = TypeVar("M", bound=GroupMember)


class MemberGroup(Generic[M]):
    """The members of one group. Has the methods of Group that are the same for all three protocols."""

    __slots__ = ("assignment_timestamp_ms", "group_id", "members", "static_members", "timers")

    def __init__(self, group_id: str, timers: GroupTimers) -> None:
        """Create a group without members."""
        self.group_id = group_id
        self.timers = timers
        self.members: dict[str, M] = {}
        # group.instance.id to the current member id.
        self.static_members: dict[str, str] = {}
        # 0: never assigned, so that the next assignment need not wait for the assignment interval.
        self.assignment_timestamp_ms = 0

    @property
    def is_empty(self) -> bool:
        """Whether the group has no members."""
        return not self.members

    def member_of(self, member_id: str) -> M:
        """Return the member. Raises KafkaError UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    def static_member(self, instance_id: str | None) -> M | None:
        """Return the member with a group.instance.id, or None."""
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def known_static_member(self, member_id: str, instance_id: str) -> M:
        """Return the static member.

        Raises KafkaError: UNKNOWN_MEMBER_ID, and FENCED_INSTANCE_ID if it has another member id.
        """
        known = self.static_member(instance_id)
        if known is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if known.member_id != member_id:
            raise KafkaError(
                ErrorCode.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member {known.member_id}.",
            )
        return known

    def may_assign(self, interval_ms: int) -> bool:
        """Whether enough time has passed since the last target assignment."""
        last_ms = self.assignment_timestamp_ms
        return last_ms == 0 or interval_ms == 0 or self.timers.now_ms() >= last_ms + interval_ms

    def check_offset_delete(self) -> None:
        """Accept the deletion. The caller checks is_subscribed_to for each topic."""

    def check_delete(self) -> None:
        """Raise KafkaError NON_EMPTY_GROUP if the group has members."""
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")

    def retention_base_ms(self, committed: CommittedOffset) -> int | None:
        """Return the time of the commit."""
        return committed.commit_timestamp_ms

    def close(self) -> None:
        """Cancel all timers."""
        self.timers.cancel_all()

    def fail_pending_requests(self) -> None:
        """Do nothing: every response is sent within its step."""


def unreleased_instance(owner: GroupMember, member_id: str, instance_id: str) -> KafkaError:
    """Return the error of a member whose instance id another one has that did not leave temporarily."""
    return KafkaError(
        ErrorCode.UNRELEASED_INSTANCE_ID,
        f"Static member {member_id} with instance id {instance_id} cannot join the group because the instance id is "
        f"owned by {owner.member_id} member.",
    )


def check_member_epoch(member: GroupMember, received: int, protocol: str, has_all: Callable[[], bool]) -> None:
    """Raise KafkaError FENCED_MEMBER_EPOCH unless a heartbeat has the member's epoch, or its previous one.

    protocol: for the message. has_all: whether the member has all that the heartbeat says it owns. With the previous
    epoch it must, and the response to the heartbeat before was lost then.
    """
    if received in (JOIN_EPOCH, member.member_epoch):
        return
    if received == member.previous_member_epoch and received < member.member_epoch and has_all():
        return
    word = "greater" if received > member.member_epoch else "smaller"
    raise KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The {protocol} group member has a {word} member epoch ({received}) than the one known by the group "
        f"coordinator ({member.member_epoch}). The member must abandon all its partitions and rejoin.",
    )
