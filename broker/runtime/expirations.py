"""What timers ended while a clock was advanced: counts, and the first names, by kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# The kinds, in the order of a report. What they count, and their names:
# members ("MEMBER of GROUP"), committed offsets (the group), groups without members, transactions and transactional ids
# (the transactional id), idle producers ("TOPIC-PARTITION"), delegation tokens (the token id), records that a member of
# a share group had locked ("TOPIC-PARTITION of GROUP"), and segments deleted by retention ("TOPIC-PARTITION").
Kind = Literal[
    "members",
    "offsets",
    "groups",
    "transactions",
    "transactional_ids",
    "producers",
    "tokens",
    "share_locks",
    "segments",
]

# Enough to recognise what ended; the count says how many there were.
NAMES_MAX = 20


@dataclass(slots=True)
class Expired:
    """What ended of one kind. names: the first NAMES_MAX different ones."""

    count: int = 0
    names: list[str] = field(default_factory=list[str])


class Expirations:
    """What one advance ended."""

    __slots__ = ("_by_kind",)

    def __init__(self) -> None:
        """Start without any."""
        self._by_kind: dict[Kind, Expired] = {}

    def note(self, kind: Kind, name: str, count: int = 1) -> None:
        """Add something that ended. Notes of the same name add up."""
        expired = self._by_kind.setdefault(kind, Expired())
        expired.count += count
        if len(expired.names) < NAMES_MAX and name not in expired.names:
            expired.names.append(name)

    @property
    def by_kind(self) -> Mapping[Kind, Expired]:
        """The kinds of which something ended."""
        return self._by_kind
