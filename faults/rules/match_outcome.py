"""The result of matching one request or connection."""

from __future__ import annotations

from dataclasses import dataclass

Got = int | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Matched:
    """The parts of the request that matched; empty if the match has no batch field."""

    partitions: frozenset[tuple[str, int]] = frozenset()
    topics: frozenset[str] = frozenset()


@dataclass(slots=True)
class Mismatch:
    """The first field that did not hold, and the request's value; None if the request has none.

    depth: the position of the field in matching order.
    """

    field: str
    got: Got
    depth: int
