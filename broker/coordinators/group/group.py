"""What every kind of group can do for the registry, for committed offsets and for administration.

Source: Group, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..coordinator_log import StateRecord
    from .offset_store import CommittedOffset


class GroupType(Enum):
    """The kinds of groups, by the names that ListGroups shows."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitter:
    """Who commits offsets, in the words of OffsetCommit and TxnOffsetCommit.

    generation_id: of a classic group; of others the member's epoch. Below 0: of somebody who is in no group.
    api_version: of OffsetCommit; what a client can be told depends on it.
    """

    group_id: str
    member_id: str = ""
    group_instance_id: str | None = None
    generation_id: int = -1
    api_version: int
    is_transactional: bool = False


# Is told topic name, topic id and partition of each offset; raises KafkaError, and then none of them is committed.
CheckOffset = Callable[[str, bytes, int], None]


def every_offset(topic_name: str, topic_id: bytes, partition: int) -> None:
    """Let every offset pass."""


class Group(Protocol):
    """A group, of whatever kind."""

    group_id: str

    @property
    def group_type(self) -> GroupType:
        """Which kind of group it is."""
        ...

    @property
    def state_name(self) -> str:
        """Its state, by the name that ListGroups shows."""
        ...

    @property
    def listed_protocol_type(self) -> str:
        """What its members do ("consumer"), as ListGroups shows it."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        ...

    def is_subscribed_to(self, topic_name: str) -> bool:
        """Whether a member consumes the topic, or may do so."""
        ...

    def check_offset_commit(self, committer: OffsetCommitter) -> CheckOffset:
        """Check who commits offsets, and return what each of them has to pass; raises KafkaError."""
        ...

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Check who asks for offsets; raises KafkaError."""
        ...

    def check_offset_delete(self) -> None:
        """Check that offsets may be deleted; raises KafkaError."""
        ...

    def check_delete(self) -> None:
        """Check that the group may be deleted; raises KafkaError."""
        ...

    def retention_base_ms(self, committed: CommittedOffset) -> int | None:
        """Return from when on the retention of an offset counts; None while it does not expire."""
        ...

    def tombstones(self) -> Sequence[StateRecord]:
        """Return the records that say that there is no such group any more."""
        ...

    def close(self) -> None:
        """Be nothing any more: no timer runs, and nothing is asked of it."""
        ...

    def refuse_waiting(self) -> None:
        """Answer NOT_COORDINATOR to whoever waits for the group, once finish_step is called."""
        ...

    def finish_step(self) -> None:
        """Send the answers that were put off until a step was done."""
        ...
