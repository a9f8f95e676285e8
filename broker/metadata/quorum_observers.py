"""The brokers that have stopped to fetch the metadata. DescribeQuorum returns them as observers for five minutes more.

Source: LeaderState.getObserverStates and clearInactiveObservers, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import NamedTuple

from .metadata_image import BrokerRegistration
from .raft_voters import ReplicaKey

# LeaderState.OBSERVER_SESSION_TIMEOUT_MS of Kafka 4.3.0.
OBSERVER_SESSION_TIMEOUT_MS = 300_000


class Observer(NamedTuple):
    """A broker with what it had of the metadata log at its last fetch, and the time of that fetch."""

    replica: ReplicaKey
    log_end_offset: int
    last_fetch_ms: int


class LostObservers:
    """The observers that do not fetch any more, by node id."""

    __slots__ = ("_observers",)

    def __init__(self) -> None:
        """Create the container without observers."""
        self._observers: dict[int, Observer] = {}

    def lose(self, broker: BrokerRegistration, log_end_offset: int, now_ms: int) -> None:
        """Keep an observer whose fetches end now. One that is lost already keeps the time of its last fetch."""
        replica = ReplicaKey(broker.node_id, broker.directory_id)
        self._observers.setdefault(broker.node_id, Observer(replica, log_end_offset, now_ms))

    def find_again(self, node_id: int) -> None:
        """Forget an observer that fetches again."""
        self._observers.pop(node_id, None)

    def is_lost(self, node_id: int) -> bool:
        """Whether the broker does not fetch."""
        return node_id in self._observers

    def recent(self, now_ms: int) -> list[Observer]:
        """Return those whose last fetch is less than OBSERVER_SESSION_TIMEOUT_MS ago."""
        return [each for each in self._observers.values() if now_ms - each.last_fetch_ms < OBSERVER_SESSION_TIMEOUT_MS]
