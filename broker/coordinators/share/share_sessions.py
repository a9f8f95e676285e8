"""Share sessions: the partitions that a member fetches from, and the epoch of its requests.

Source: SharePartitionManager.newContext and acknowledgeSessionUpdate, and ShareSessionCache, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError

if TYPE_CHECKING:
    from .settings import ShareGroupSettings

FIRST_EPOCH = 0
FINAL_EPOCH = -1
_EPOCH_MAX = 2**31 - 1

# Topic id and partition index.
PartitionKey = tuple[bytes, int]


@dataclass(slots=True)
class ShareSession:
    """A member's session: its partitions in the order in which they were added, and the epoch of its next request.

    partitions: whether the next response has the partition even without records: one that is new in the session, or
    had an error.
    """

    group_id: str
    member_id: str
    connection_id: int
    epoch: int = FIRST_EPOCH + 1
    partitions: dict[PartitionKey, bool] = field(default_factory=dict[PartitionKey, bool])

    def fetch_order(self, epoch: int) -> list[PartitionKey]:
        """Return the partitions, from another one on in each request, so that none has to wait for all others.

        epoch: of the request. Source: PartitionRotateStrategy, Kafka 4.3.0.
        """
        keys = list(self.partitions)
        first = epoch % len(keys) if keys else 0
        return keys[first:] + keys[:first]

    def is_sent(self, key: PartitionKey, *, has_records: bool, has_error: bool) -> bool:
        """Whether the response has the partition (CachedSharePartition.maybeUpdateResponseData)."""
        is_sent = has_records or has_error or self.partitions.get(key, False)
        if key in self.partitions:
            self.partitions[key] = has_error
        return is_sent

    def advance(self, epoch: int) -> None:
        """Accept the epoch of a request. Raises KafkaError INVALID_SHARE_SESSION_EPOCH unless it is the next one."""
        if epoch != self.epoch:
            raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH, f"expected epoch {self.epoch}, got {epoch}")
        self.epoch = FIRST_EPOCH + 1 if self.epoch == _EPOCH_MAX else self.epoch + 1


class ShareSessions:
    """All sessions, by group and member."""

    __slots__ = ("_sessions", "_settings")

    def __init__(self, settings: ShareGroupSettings) -> None:
        """Create the container without sessions."""
        self._settings = settings
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def create(self, group_id: str, member_id: str, connection_id: int) -> ShareSession:
        """Create a session in place of the member's earlier one.

        Raises KafkaError SHARE_SESSION_LIMIT_REACHED at group.share.max.share.sessions other sessions.
        """
        key = (group_id, member_id)
        self._sessions.pop(key, None)
        if len(self._sessions) >= self._settings.sessions_max:
            raise KafkaError(ErrorCode.SHARE_SESSION_LIMIT_REACHED, f"there are {len(self._sessions)} sessions")
        session = self._sessions[key] = ShareSession(group_id, member_id, connection_id)
        return session

    def advance(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """Return the member's session, and accept the epoch of a request. The caller ends it after FINAL_EPOCH.

        Raises KafkaError: SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH.
        """
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise KafkaError(ErrorCode.SHARE_SESSION_NOT_FOUND, f"{member_id} of {group_id} has no session")
        if epoch != FINAL_EPOCH:
            session.advance(epoch)
        return session

    def end(self, session: ShareSession) -> None:
        """Remove the session."""
        if self._sessions.get((session.group_id, session.member_id)) is session:
            del self._sessions[session.group_id, session.member_id]

    def of_connection(self, connection_id: int) -> Iterable[ShareSession]:
        """Return the sessions that were created over a connection."""
        return [each for each in self._sessions.values() if each.connection_id == connection_id]
