"""Which operations on files go wrong, and how: rules as data, and the plan that counts and decides.

A rule matches by folder, by how the file's name ends and by the kind of operation; it lets the first `skip` of what it
matches pass and hits the next `times`. Rules are asked in the order in which they were added; the first that hits wins.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from fauxka.faults.files.operation_kind import CHANGES, GROWTHS, SYNCS, OperationKind

_TORN = frozenset({OperationKind.WRITE, OperationKind.REPLACE})


@dataclass(frozen=True, slots=True)
class Fail:
    """Nothing of the operation is done, and it raises OSError with this number."""

    error_number: int = errno.EIO


@dataclass(frozen=True, slots=True)
class Stop:
    """The machine stops there, before the operation or right after it: nothing more is done, not even cleaning up."""

    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Tear:
    """Only the first size bytes of a write land, or all but one if it has no more; then the rest of it."""

    size: int
    then: Fail | Stop = Fail(errno.ENOSPC)


@dataclass(frozen=True, slots=True)
class LoseSync:
    """The sync is said to be done, and nothing has become safe."""


Effect = Fail | Stop | Tear | LoseSync


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFaultRule:
    """What goes wrong with which operations.

    folder: only in this folder, "" for the top one; None for any. A folder that is renamed or deleted is in the
        top one.
    suffix: only where the file's name, before a rename, ends like this.
    skip: how many operations that match pass first. times: how many are hit then; None is all until it is removed.
    Raises ValueError for an effect that no operation of these kinds can have.
    """

    effect: Effect
    kinds: frozenset[OperationKind] = CHANGES
    folder: str | None = None
    suffix: str = ""
    skip: int = 0
    times: int | None = 1

    def __post_init__(self) -> None:
        """Refuse a torn sync and a lost write."""
        possible = CHANGES | {OperationKind.READ}
        if isinstance(self.effect, Tear):
            possible = _TORN
        elif isinstance(self.effect, LoseSync):
            possible = SYNCS
        if not self.kinds <= possible:
            wrong = ", ".join(sorted(kind.value for kind in self.kinds - possible))
            raise ValueError(f"{self.effect} cannot happen to: {wrong}")

    def matches(self, kind: OperationKind, path: str) -> bool:
        """Whether the rule counts the operation."""
        if kind not in self.kinds or not path.endswith(self.suffix):
            return False
        return self.folder is None or self.folder == path.rpartition("/")[0]


def disk_full() -> FileFaultRule:
    """Return the rule of a disk that is full until the rule is removed."""
    return FileFaultRule(effect=Fail(errno.ENOSPC), kinds=GROWTHS, times=None)


def read_only() -> FileFaultRule:
    """Return the rule of files that cannot be changed until the rule is removed."""
    return FileFaultRule(effect=Fail(errno.EROFS), kinds=CHANGES - SYNCS, times=None)


class FileFaultPlan:
    """The rules in force, and how often each has matched and hit."""

    def __init__(self) -> None:
        """Start without rules: nothing goes wrong."""
        self._rules: list[FileFaultRule] = []
        self._match_counts: list[int] = []

    def add(self, rule: FileFaultRule) -> FileFaultRule:
        """Put the rule behind those in force, and return it."""
        self._rules.append(rule)
        self._match_counts.append(0)
        return rule

    def remove(self, rule: FileFaultRule) -> None:
        """Lift the rule, the oldest of equal ones, if it is in force."""
        if rule in self._rules:
            index = self._rules.index(rule)
            del self._rules[index], self._match_counts[index]

    def clear(self) -> None:
        """Lift all rules."""
        self._rules.clear()
        self._match_counts.clear()

    @property
    def rules(self) -> tuple[FileFaultRule, ...]:
        """The rules in force, in the order in which they are asked."""
        return tuple(self._rules)

    @property
    def has_rules(self) -> bool:
        """Whether anything can go wrong."""
        return bool(self._rules)

    def hit_count(self, rule: FileFaultRule) -> int:
        """Return how many operations the rule has made go wrong; 0 if it is not in force."""
        if rule not in self._rules:
            return 0
        hits = max(0, self._match_counts[self._rules.index(rule)] - rule.skip)
        return hits if rule.times is None else min(hits, rule.times)

    def decide(self, kind: OperationKind, path: str) -> Effect | None:
        """Count the operation with every rule that matches it, and return what the first that hits does to it."""
        effect: Effect | None = None
        for index, rule in enumerate(self._rules):
            if not rule.matches(kind, path):
                continue
            number = self._match_counts[index]
            self._match_counts[index] = number + 1
            is_hit = number >= rule.skip and (rule.times is None or number < rule.skip + rule.times)
            if is_hit and effect is None:
                effect = rule.effect
        return effect
