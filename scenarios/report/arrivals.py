"""Waits for the arrival of batches at the broker, with one counting rule per batch."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ..brokers.scenario_broker import BrokerFailed, ScenarioBroker
from ..clients.client import BATCH_HEADER

# The time that a batch needs to reach the broker, unless its client keeps it back.
ARRIVAL_MS = 150


class Arrivals:
    """The arrivals of the batches of one topic."""

    def __init__(self, broker: ScenarioBroker, topic: str, names: Iterable[str]) -> None:
        """Arm a rule for each batch name."""
        self._broker = broker
        self._topic = topic
        self._names = list(dict.fromkeys(names))
        self._rules: dict[str, int] = {}
        self._sent: dict[str, int] = {}
        self.arm_rules()

    def arm_rules(self) -> None:
        """Arm the rules; must be repeated after a restart of the broker, which loses its rules."""
        self._sent.clear()
        for name in self._names:
            rule = {
                "name": f"sees {name}",
                "match": {"api": "Produce", "topic": self._topic, "header": batch_header(name)},
                "when": {"times": None},
                "point": "received",
                "action": {"kind": "observe"},
            }
            self._rules[name] = self._broker.arm(rule)

    def await_batch(self, name: str, *, waits_in_client: bool) -> None:
        """Wait until the batch has arrived as often as this was called. Raises BrokerFailed.

        waits_in_client: whether the client may keep the batch until another one is acknowledged; then the wait is short
        and its end is no error.
        """
        sent = self._sent[name] = self._sent.get(name, 0) + 1
        if not waits_in_client:
            self._broker.await_hits(self._rules[name], sent)
            return
        with suppress(BrokerFailed):
            self._broker.await_hits(self._rules[name], sent, ARRIVAL_MS)


def batch_header(name: str) -> dict[str, Any]:
    """Return the match of a rule for the events of a batch, by their header."""
    return {"name": BATCH_HEADER, "value": {"text": name}}
