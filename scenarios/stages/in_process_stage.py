"""A broker in a thread of this process, with its logs in memory."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import msgspec

from ...testing import Broker
from ...testing.rule import Rule
from ..report.cached_windows import Remembered
from ..report.seen_requests import SeenRequest, remembered_of, seen_requests
from .stage import AWAIT_MS_MAX, EVENT_ID, StageFailed

# The parent of every logger of the broker.
_LOGGER = logging.getLogger(__name__.partition(".")[0])


class InProcessStage:
    """See Stage."""

    def __init__(self, as_version: str) -> None:
        """Start a broker that judges producers as that version does."""
        self._broker = Broker(as_version=as_version).start()
        self._rules: dict[int, Rule] = {}

    @property
    def bootstrap_servers(self) -> str:
        """See Stage."""
        return self._broker.bootstrap_servers

    def arm(self, rule: Mapping[str, Any]) -> int:
        """See Stage."""
        handle = self._broker.faults.add(rule)
        self._rules[handle.id] = handle
        return handle.id

    def await_hits(self, rule_id: int, hits: int, timeout_ms: int = AWAIT_MS_MAX) -> None:
        """See Stage."""
        try:
            self._rules[rule_id].await_hits(hits, timeout_ms)
        except TimeoutError as error:
            raise StageFailed(f"a rule did not act: {' '.join(str(error).split())}") from error

    def lift(self, rule_id: int) -> None:
        """See Stage."""
        self._rules[rule_id].remove()

    def release_held(self) -> None:
        """See Stage."""
        self._broker.held.release()

    def journal(self) -> list[SeenRequest]:
        """See Stage."""
        return seen_requests(self._broker.journal.entries())

    def verdict(self, topic: str) -> dict[str, Any]:
        """See Stage."""
        told: dict[str, Any] = msgspec.to_builtins(self._broker.verdict(topic, EVENT_ID))
        return told

    def remembered(self, topic: str) -> Remembered:
        """See Stage."""
        return remembered_of(msgspec.to_builtins(self._broker.producers.list(topic)))

    def advance(self, ms: int) -> None:
        """See Stage."""
        self._broker.clock.advance(ms)

    def evict_cache(self, topic: str, partition: int, producer_id: int) -> None:
        """See Stage."""
        self._broker.producers.evict_cache(producer_id, topic, partition)

    def forget_producer(self, topic: str, partition: int, producer_id: int) -> None:
        """See Stage."""
        self._broker.producers.forget(producer_id, topic, partition)

    def kill(self, topic: str, torn_bytes: int) -> None:
        """A thread cannot be killed."""
        raise StageFailed("only a broker in a process of its own can be killed")

    def lose_writes(self, topic: str) -> None:
        """Acknowledge from here on what comes for a topic, and lose it with the next crash."""
        rule = {"action": "lose", "operation": "write", "file_kind": "log", "folder": {"regex": f"{topic}-[0-9]+"}}
        self._broker.files.add({**rule, "when": {"times": None}})

    def crash(self) -> None:
        """Die as by SIGKILL, and start again with what the files hold; no rule for files is left."""
        # The report tells of the crash; where nobody has set up logging, it is not said beside it.
        _LOGGER.addHandler(logging.NullHandler())
        self._broker.crash()
        self._broker.files.clear()
        self._broker.restart()

    def close(self) -> None:
        """See Stage."""
        self._broker.stop()
