"""What a plan of rules does, the slow way: every decision is worked out anew from all that ever came.

A rule is a dict as JSON has it, with exact values only; a request is a dict by the same names, with a list of parts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

WHOLE = ("api", "node", "client_id")
PARTS = ("topic", "partition", "producer_id", "base_sequence", "record_count", "key")


@dataclass
class ModelRule:
    id: int
    match: dict[str, Any]
    when: dict[str, Any]
    point: str
    kind: str
    added_ms: int
    # When those that matched came.
    came_ms: list[int] = field(default_factory=list[int])
    misses: Counter[tuple[str, Any]] = field(default_factory=Counter[tuple[str, Any]])

    def hits(self) -> list[bool]:
        """Say of each that ever matched whether it was hit."""
        draws = Random(self.when["seed"])
        hits: list[bool] = []
        in_window = 0
        for came_ms in self.came_ms:
            since = came_ms - self.added_ms
            is_open = self.when["after_ms"] <= since and (
                self.when["until_ms"] is None or since < self.when["until_ms"]
            )
            is_spent = self.when["times"] is not None and sum(hits) == self.when["times"]
            if not is_open or is_spent:
                hits.append(False)
                continue
            number, in_window = in_window, in_window + 1
            is_turn = number >= self.when["skip"] and (number - self.when["skip"]) % self.when["every"] == 0
            hits.append(is_turn and (self.when["probability"] == 1 or draws.random() < self.when["probability"]))
        return hits

    def remaining(self) -> int | None:
        return None if self.when["times"] is None else self.when["times"] - sum(self.hits())

    def look_at(self, request: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Return the parts that match, [{}] where none is asked for; None and one more miss if it does not match."""
        for name in WHOLE:
            if name in self.match and request[name] != self.match[name]:
                self.misses[name, request[name]] += 1
                return None
        asked = [name for name in PARTS if name in self.match]
        if not asked:
            return [{}]
        chosen = [part for part in request["parts"] if all(holds(self.match, name, part) for name in asked)]
        if chosen:
            return chosen
        # The one with the longest row of fields that hold, the first of equal ones.
        best = max(request["parts"], key=lambda part: PARTS.index(first_miss(self.match, asked, part)))
        name = first_miss(self.match, asked, best)
        self.misses[name, got_of(name, best)] += 1
        return None


def holds(match: dict[str, Any], name: str, part: dict[str, Any]) -> bool:
    return match[name] in part["keys"] if name == "key" else part[name] == match[name]


def first_miss(match: dict[str, Any], asked: list[str], part: dict[str, Any]) -> str:
    return next(name for name in asked if not holds(match, name, part))


def got_of(name: str, part: dict[str, Any]) -> Any:
    return tuple(dict.fromkeys(part["keys"])) if name == "key" else part[name]


@dataclass
class ModelPlan:
    rules: list[ModelRule] = field(default_factory=list[ModelRule])

    def ask(self, point: str, request: dict[str, Any], now_ms: int) -> tuple[int, set[tuple[str, int]]] | None:
        """Return the rule that acts and the partitions that it matched; None if none acts."""
        for rule in self.rules:
            if rule.point != point:
                continue
            chosen = rule.look_at(request)
            if chosen is None:
                continue
            rule.came_ms.append(now_ms)
            if rule.hits()[-1] and rule.kind != "observe":
                return rule.id, {(part["topic"], part["partition"]) for part in chosen if part}
        return None
