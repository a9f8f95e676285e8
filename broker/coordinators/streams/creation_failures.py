"""Why internal topics could not be created, for the status of later heartbeats.

Source: DefaultAutoTopicCreationManager.ExpiringErrorCache, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...runtime.clock import Clock
    from .settings import StreamsGroupSettings

# Internal topics whose failed creation is kept (docs/limits.md).
CREATION_FAILURES_MAX = 1000


class CreationFailures:
    """The reasons by topic, each for two heartbeats."""

    def __init__(self, clock: Clock, settings: StreamsGroupSettings) -> None:
        """settings: with the heartbeat interval of each group."""
        self._clock = clock
        self._settings = settings
        # The reason, and until when it is known.
        self._failures: dict[str, tuple[str, int]] = {}

    def add(self, group_id: str, topic_name: str, reason: str) -> None:
        """Keep why a topic of a group could not be created."""
        until_ms = self._clock.steady_ms() + 2 * self._settings.heartbeat_interval_ms(group_id)
        self._failures.pop(topic_name, None)
        self._failures[topic_name] = reason, until_ms
        if len(self._failures) > CREATION_FAILURES_MAX:
            del self._failures[next(iter(self._failures))]

    def find(self, topic_names: Iterable[str]) -> dict[str, str]:
        """Return why topics could not be created, where that was tried a short while ago."""
        now_ms = self._clock.steady_ms()
        found = {name: self._failures[name] for name in topic_names if name in self._failures}
        return {name: reason for name, (reason, until_ms) in found.items() if until_ms > now_ms}
