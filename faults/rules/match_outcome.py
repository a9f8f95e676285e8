"""What a match says of one request or connection."""

from __future__ import annotations

from dataclasses import dataclass

Got = int | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Matched:
    """What of a request matched; empty where the match asks for no part of it."""

    partitions: frozenset[tuple[str, int]] = frozenset()
    topics: frozenset[str] = frozenset()


@dataclass(slots=True)
class Mismatch:
    """The first field that did not hold, and what stood there instead; None where the request names nothing.

    depth: how many fields a match may have in front of it.
    """

    field: str
    got: Got
    depth: int
