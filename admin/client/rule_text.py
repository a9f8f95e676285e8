"""Fault rules as text, from the JSON of the admin API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...faults import strict_json
from ...faults.rules.near_misses import NearMiss, describe_misses


def rule_lines(rule: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line with the rule and its hits; without hits also a line for each of the nearest misses."""
    yield rule_line(rule)
    if rule["hits"]:
        return
    noun = "connection" if rule["point"] == "accepted" else "request"
    misses = strict_json.convert(rule["near_misses"], list[NearMiss])
    yield from (f"    {line}" for line in describe_misses(misses, noun))


def rule_line(rule: Mapping[str, Any]) -> str:
    """Return a rule and its hits as a line."""
    name = f" {rule['name']!r}" if rule["name"] else ""
    state = "" if rule.get("enabled", True) else ", disabled"
    return (
        f"rule {rule['id']}{name}{state}: {_action(rule['action'])} at {rule['point']}, {_match(rule)}; {_hits(rule)}"
    )


def _action(action: Mapping[str, Any]) -> str:
    given = {name: value for name, value in action.items() if name != "kind" and value not in (None, False)}
    # The action `error` has a parameter of the same name.
    named = (
        f"{_shown(value)}" if name == action["kind"] else f"{name}={_shown(value)}" for name, value in given.items()
    )
    return " ".join([str(action["kind"]), *named])


def _match(rule: Mapping[str, Any]) -> str:
    conditions = [f"{name} {_shown(value)}" for name, value in rule["match"].items() if value is not None]
    everything = "all connections" if rule["point"] == "accepted" else "all requests"
    return ", ".join(conditions) or everything


def _hits(rule: Mapping[str, Any]) -> str:
    hits, remaining = rule["hits"], rule["remaining"]
    return f"{hits} hits, no limit" if remaining is None else f"{hits} of {hits + remaining} hits"


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
