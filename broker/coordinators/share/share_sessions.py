"""The sessions in which members fetch and acknowledge: which partitions, and how far the epochs have come.

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

# Topic id and index.
PartitionKey = tuple[bytes, int]


@dataclass(slots=True)
class ShareSession:
    """A member's session: its partitions in the order in which they came, and the epoch of its next request."""

    group_id: str
    member_id: str
    connection_id: int
    epoch: int = FIRST_EPOCH + 1
    partitions: dict[PartitionKey, None] = field(default_factory=dict[PartitionKey, None])

    def advance(self, epoch: int) -> None:
        """Take a request's epoch; raises KafkaError INVALID_SHARE_SESSION_EPOCH for another than the next."""
        if epoch != self.epoch:
            raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH, f"epoch {epoch}; {self.epoch} is next")
        self.epoch = FIRST_EPOCH + 1 if self.epoch == _EPOCH_MAX else self.epoch + 1


class ShareSessions:
    """All sessions, by group and member."""

    __slots__ = ("_sessions", "_settings")

    def __init__(self, settings: ShareGroupSettings) -> None:
        """Start without any."""
        self._settings = settings
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def begin(self, group_id: str, member_id: str, connection_id: int) -> ShareSession:
        """Return a new session, in place of one that the member has.

        Raises KafkaError SHARE_SESSION_LIMIT_REACHED where there are group.share.max.share.sessions others.
        """
        key = (group_id, member_id)
        self._sessions.pop(key, None)
        if len(self._sessions) >= self._settings.sessions_max:
            raise KafkaError(ErrorCode.SHARE_SESSION_LIMIT_REACHED, f"there are {len(self._sessions)} sessions")
        session = self._sessions[key] = ShareSession(group_id, member_id, connection_id)
        return session

    def continued(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """Return the member's session after a request of that epoch; FINAL_EPOCH ends it, see end.

        Raises KafkaError: SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH.
        """
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise KafkaError(ErrorCode.SHARE_SESSION_NOT_FOUND, f"{member_id} of {group_id} has no session")
        if epoch != FINAL_EPOCH:
            session.advance(epoch)
        return session

    def end(self, session: ShareSession) -> None:
        """Forget the session."""
        if self._sessions.get((session.group_id, session.member_id)) is session:
            del self._sessions[session.group_id, session.member_id]

    def of_connection(self, connection_id: int) -> Iterable[ShareSession]:
        """Return the sessions that were begun over a connection."""
        return [each for each in self._sessions.values() if each.connection_id == connection_id]
