"""Knows when a batch has come to the broker: a rule for each that only counts."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ..clients.client import BATCH_HEADER
from ..stages.stage import Stage, StageFailed

# How long a batch may need to come to the broker if it does not wait within its client.
ARRIVAL_MS = 150


class Arrivals:
    """The batches of one topic that are sent."""

    def __init__(self, stage: Stage, topic: str, names: Iterable[str]) -> None:
        """Arm a rule for each of the names."""
        self._stage = stage
        self._topic = topic
        self._names = list(dict.fromkeys(names))
        self._rules: dict[str, int] = {}
        self._sent: dict[str, int] = {}
        self.begin()

    def begin(self) -> None:
        """Arm the rules, at first and after the broker's process was another one: rules end with it."""
        self._sent.clear()
        for name in self._names:
            rule = {
                "name": f"sees {name}",
                "match": {"api": "Produce", "topic": self._topic, "header": batch_header(name)},
                "when": {"times": None},
                "point": "received",
                "action": {"kind": "observe"},
            }
            self._rules[name] = self._stage.arm(rule)

    def await_batch(self, name: str, *, waits_in_client: bool) -> None:
        """Return when the batch has come as often as this was called. Raises StageFailed.

        waits_in_client: it may be kept back for the answer to another one, which may never come: it has a moment only.
        """
        sent = self._sent[name] = self._sent.get(name, 0) + 1
        if not waits_in_client:
            self._stage.await_hits(self._rules[name], sent)
            return
        with suppress(StageFailed):
            self._stage.await_hits(self._rules[name], sent, ARRIVAL_MS)


def batch_header(name: str) -> dict[str, Any]:
    """Return what matches the header of a batch's events."""
    return {"name": BATCH_HEADER, "value": {"text": name}}
