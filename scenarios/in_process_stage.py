"""A broker in a thread of this process, with its logs in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..broker.producer_faults import ProducerChange, change_producer
from ..testing import Broker
from ..testing.rule import Rule
from .seen_requests import SeenRequest, seen_requests
from .stage import AWAIT_MS_MAX, StageFailed


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

    def await_hits(self, rule_id: int, hits: int) -> None:
        """See Stage."""
        try:
            self._rules[rule_id].await_hits(hits, AWAIT_MS_MAX)
        except TimeoutError as error:
            raise StageFailed(f"a rule did not act: {' '.join(str(error).split())}") from error

    def release_held(self) -> None:
        """See Stage."""
        broker = self._broker

        def release() -> None:
            held = broker.control.held
            held.release([request.held_id for request in held.items()])

        broker.call(release)

    def journal(self) -> list[SeenRequest]:
        """See Stage."""
        broker = self._broker
        return seen_requests(broker.call(lambda: broker.control.journal.entries()))

    def verdict(self, topic: str) -> dict[str, Any]:
        """See Stage."""
        return {}

    def advance(self, ms: int) -> None:
        """See Stage."""
        broker = self._broker
        broker.call(lambda: broker.control.clock.advance(ms))

    def evict_cache(self, topic: str, partition: int, producer_id: int) -> None:
        """See Stage."""
        self._change(ProducerChange.EVICT_CACHE, topic, partition, producer_id)

    def forget_producer(self, topic: str, partition: int, producer_id: int) -> None:
        """See Stage."""
        self._change(ProducerChange.FORGET, topic, partition, producer_id)

    def _change(self, change: ProducerChange, topic: str, partition: int, producer_id: int) -> None:
        cluster = self._broker.cluster
        self._broker.call(
            lambda: change_producer(cluster, change, topic=topic, partition=partition, producer_id=producer_id)
        )

    def kill(self, topic: str, torn_bytes: int) -> None:
        """A thread cannot be killed."""
        raise StageFailed("only a broker in a process of its own can be killed")

    def close(self) -> None:
        """See Stage."""
        self._broker.stop()
