"""What kept requests from matching a rule, counted: why a rule that was armed never acted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .match_outcome import Got, Mismatch

# Different (field, got) that are counted for one rule; whoever looks wants the nearest few.
NEAR_MISSES_MAX = 16
# Of a text that came instead of the wanted one.
_GOT_CHARACTERS_MAX = 200


@dataclass(slots=True)
class NearMiss:
    """One way of not matching.

    field: the first that did not hold; those in front of it did. wanted: as the rule has it, in JSON's types.
    got: what the requests had there; None where they name none.
    """

    field: str
    wanted: object
    got: object
    count: int


@dataclass(slots=True)
class _Counted:
    depth: int
    count: int = 0


class NearMisses:
    """The misses of one rule: the nearest ones, where there are too many."""

    def __init__(self, match: object) -> None:
        """Start without any; match: has what each field wants as an attribute."""
        self._match = match
        self._counts: dict[tuple[str, Got], _Counted] = {}

    def add(self, mismatch: Mismatch) -> None:
        """Count one more; where there is no room for a new one, it takes the place of one that was less near."""
        got = mismatch.got
        if isinstance(got, str):
            got = got[:_GOT_CHARACTERS_MAX]
        key = (mismatch.field, got)
        counted = self._counts.get(key)
        if counted is None:
            if len(self._counts) >= NEAR_MISSES_MAX and not self._make_room(mismatch.depth):
                return
            counted = self._counts[key] = _Counted(mismatch.depth)
        counted.count += 1

    def _make_room(self, depth: int) -> bool:
        least = min(self._counts, key=lambda key: (self._counts[key].depth, self._counts[key].count))
        if self._counts[least].depth >= depth:
            return False
        del self._counts[least]
        return True

    def nearest(self) -> list[NearMiss]:
        """Return them, the nearest first, and of those as near the most frequent first."""
        from msgspec import to_builtins

        nearest = sorted(self._counts.items(), key=lambda item: (-item[1].depth, -item[1].count))
        return [
            NearMiss(
                field,
                to_builtins(getattr(self._match, field)),
                list(got) if isinstance(got, tuple) else got,
                counted.count,
            )
            for (field, got), counted in nearest
        ]
