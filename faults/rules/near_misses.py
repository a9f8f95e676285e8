"""Counts why requests did not match a rule: the explanation of a rule that never hit."""

from __future__ import annotations

from dataclasses import dataclass

# Distinct (field, got) counted for one rule.
NEAR_MISSES_MAX = 16
# A longer text is cut.
_GOT_CHARACTERS_MAX = 200

Got = int | str | tuple[str, ...] | None


@dataclass(slots=True)
class Mismatch:
    """The first field that did not hold, and the request's value; None if the request has none.

    depth: the position of the field in matching order.
    """

    field: str
    got: Got
    depth: int


@dataclass(slots=True)
class NearMiss:
    """Requests that failed on the same field with the same value.

    field: the first field that did not hold. wanted: the rule's value, in JSON's types.
    got: the requests' value; None if they have none.
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
    """The near misses of one rule, the nearest NEAR_MISSES_MAX of them."""

    def __init__(self, match: object) -> None:
        """Start empty. match: has the wanted value of each field as an attribute."""
        self._match = match
        self._counts: dict[tuple[str, Got], _Counted] = {}

    def add(self, mismatch: Mismatch) -> None:
        """Count a mismatch. If there is no room, it replaces one that failed on an earlier field."""
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
        """Return the near misses: the latest field first, then the most frequent."""
        # Lazy: RuleCounts and plans are imported without msgspec.
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
