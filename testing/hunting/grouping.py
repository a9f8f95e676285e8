"""Which trials show the same defect of a program: one defect is one finding, with the faults that show it.

- Two trials show the same defect if they have broken the program in the same way at the same place of its requests, or
  with the same damage: the event that is missing after one fault is missing after the other.
- What a trial is shrunk to counts as the trial does. So a pair of which one fault suffices belongs to that fault.
- A trial that shows the same as two groups of trials makes them one.
- Of a group, a few trials are repeated, until one breaks the program each time. It represents the group; among several,
  a single fault does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from .finding import Finding, Tried
from .plan import Trial

# Of the trials that show the same defect, how many are repeated to find one that always does.
CANDIDATES_MAX = 3


@dataclass(slots=True, eq=False)
class Alike:
    """Trials that show the same defect. repeated: those that were repeated, with what was found.

    marks: what a trial has in common with the others, see marks_of.
    """

    tried: list[Tried] = field(default_factory=list[Tried])
    repeated: list[tuple[Tried, Finding]] = field(default_factory=list[tuple[Tried, Finding]])
    marks: set[object] = field(default_factory=set[object])

    @property
    def next_to_repeat(self) -> Tried | None:
        """The first trial that is to be repeated, because those before it depend on timing; None if none is."""
        if len(self.repeated) >= CANDIDATES_MAX or any(finding.is_certain for _, finding in self.repeated):
            return None
        done = [tried for tried, _ in self.repeated]
        return next((each for each in self.tried if each not in done), None)

    @property
    def finding(self) -> Finding:
        """What was found, with the other trials."""
        first = min(self.tried, key=lambda tried: len(tried.trial.faults))
        not_repeated = first, Finding(first.trial, first.judgement, first.timeout_seconds, 0, 0)
        found, best = min(self.repeated, key=lambda each: _rank(each[1]), default=not_repeated)
        trials = [*best.others, *(each.trial for each in self.tried if each is not found)]
        others = {str(trial): trial for trial in trials if str(trial) != str(best.trial)}
        return replace(best, others=list(others.values()))


class Groups:
    """All groups of the trials that broke the program, in the order in which they were found."""

    def __init__(self) -> None:
        """Start without trials."""
        self._groups: list[Alike] = []

    @property
    def findings(self) -> list[Finding]:
        """One finding for each group: those that are sure first, and last what was not seen again."""
        return sorted((group.finding for group in self._groups), key=lambda finding: finding.doubt)

    def add(self, tried: Tried) -> Alike:
        """Return the group of the trial, in which it is."""
        group = self._joined(set(marks_of(tried.trial, tried)))
        if tried not in group.tried:
            group.tried.append(tried)
        return group

    def add_repeated(self, tried: Tried, finding: Finding) -> None:
        """Keep what was found when a trial was repeated."""
        group = self._joined(set(marks_of(tried.trial, tried)) | set(marks_of(finding.trial, tried)))
        group.repeated.append((tried, finding))

    def remove(self, tried: Tried) -> None:
        """Remove a trial that shows no defect."""
        for group in self._groups:
            group.tried = [each for each in group.tried if each is not tried]
        self._groups = [group for group in self._groups if group.tried]

    def not_repeated(self) -> list[Tried]:
        """Return the first trial of each group of which none was repeated."""
        return [group.tried[0] for group in self._groups if not group.repeated]

    def _joined(self, marks: set[object]) -> Alike:
        """Return the group with any of these marks, made of all that have one; a new one if there is none."""
        same = [group for group in self._groups if not group.marks.isdisjoint(marks)]
        first = same[0] if same else Alike()
        for other in same[1:]:
            first.tried += other.tried
            first.repeated += other.repeated
            first.marks |= other.marks
        first.marks |= marks
        # In the order of the first of each.
        self._groups = [group for group in self._groups if group not in same[1:]] + ([] if same else [first])
        return first


def marks_of(trial: Trial, tried: Tried) -> Iterator[object]:
    """Yield what is equal for trials that show the same defect: one of these is enough.

    trial: what was tried, or what that was shrunk to.
    """
    outcome = tried.judgement.outcome
    places = frozenset(target.place for _, target in trial.faults)
    for kind in tried.judgement.kinds or {""}:
        yield outcome, kind, places
    for damage in tried.judgement.damage:
        yield from ((damage.kind, mark) for mark in damage.marks)


def _rank(finding: Finding) -> tuple[int, int, int]:
    return finding.doubt, len(finding.trial.faults), -finding.confirmed
