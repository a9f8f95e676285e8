"""The interface of every type of group to the registry, the committed offsets and the administration APIs.

Source: Group, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..coordinator_log import CoordinatorRecord
    from .group_timers import GroupTimers
    from .offset_store import CommittedOffset


class GroupType(Enum):
    """The types of groups, by the names that ListGroups returns."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


# The versions of OffsetCommit and TxnOffsetCommit from which their responses have the errors of groups and members.
MEMBER_ERRORS_SINCE = 9
TRANSACTIONAL_MEMBER_ERRORS_SINCE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitter:
    """The client that commits offsets, as OffsetCommit and TxnOffsetCommit describe it.

    generation_id: the generation of a classic group, or the member's epoch; negative if the client is not a member.
    api_version: the version of OffsetCommit, or of TxnOffsetCommit if is_transactional.
    """

    group_id: str
    member_id: str = ""
    group_instance_id: str | None = None
    generation_id: int = -1
    api_version: int
    is_transactional: bool = False

    @property
    def has_member_errors(self) -> bool:
        """Whether responses have GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH, in place of ILLEGAL_GENERATION."""
        since = TRANSACTIONAL_MEMBER_ERRORS_SINCE if self.is_transactional else MEMBER_ERRORS_SINCE
        return self.api_version >= since


# Checks one offset: topic name, topic id, partition. If it raises KafkaError, no offset of the request is committed.
CheckOffset = Callable[[str, bytes, int], None]


def accept_any_offset(topic_name: str, topic_id: bytes, partition: int) -> None:
    """Accept the offset."""


class Group(Protocol):
    """A group of any type."""

    group_id: str
    timers: GroupTimers

    @property
    def group_type(self) -> GroupType:
        """The type of the group."""
        ...

    @property
    def state_name(self) -> str:
        """The state by the name that ListGroups returns."""
        ...

    @property
    def listed_protocol_type(self) -> str:
        """The protocol type that ListGroups returns ("consumer")."""
        ...

    @property
    def members(self) -> Mapping[str, object]:
        """The members by id."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether the group has no members."""
        ...

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member consumes the topic, or may do so."""
        ...

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Check the client of a commit, and return the check of each offset. Raises KafkaError."""
        ...

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Check the client of an OffsetFetch. Raises KafkaError."""
        ...

    def check_offset_delete(self) -> None:
        """Check that offsets may be deleted. Raises KafkaError."""
        ...

    def check_delete(self) -> None:
        """Check that the group may be deleted. Raises KafkaError."""
        ...

    def retention_base_ms(self, committed: CommittedOffset) -> int | None:
        """Return the time from which the retention of an offset counts; None while the offset does not expire."""
        ...

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """Return the tombstones that delete the group."""
        ...

    def close(self) -> None:
        """Cancel all timers. The group must not be used after."""
        ...

    def fail_pending_requests(self) -> None:
        """Respond NOT_COORDINATOR to the pending requests of members, when the step is done."""
        ...
