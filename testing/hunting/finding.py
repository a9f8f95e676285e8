"""What a hunt has done and found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

from ...admin.methods.rule_text import json_of
from .judgement import Judgement
from .plan import Fault, Target, Trial
from .run import Run

if TYPE_CHECKING:
    from .options import Options
    from .program import Program


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial with its judgement. timeout_seconds: what its run had."""

    trial: Trial
    judgement: Judgement
    timeout_seconds: float

    @property
    def met(self) -> list[tuple[Fault, Target]]:
        """The faults that the program met, at their requests."""
        return list(compress(self.trial.faults, self.judgement.hits))


@dataclass(frozen=True, slots=True)
class Finding:
    """A trial after which the program did not do what it promises.

    confirmed: how many of `runs` more runs said so too. others: trials that show the same defect, see grouping.
    timeline: of one of these runs, as HTML; "" if there is none.
    found_seconds: from the begin of the hunt until it was repeated; None if it was not.
    """

    trial: Trial
    judgement: Judgement
    timeout_seconds: float
    confirmed: int
    runs: int
    others: Sequence[Trial] = ()
    timeline: str = ""
    found_seconds: float | None = None

    @property
    def rules(self) -> list[dict[str, object]]:
        """The fault rules, as JSON."""
        return [json_of(rule) for rule in self.trial.rules]

    @property
    def sentence(self) -> str:
        """What is wrong, and after which faults, in one line."""
        damage = [each.words for each in self.judgement.damage] or self.judgement.reasons[:1]
        return f"{'; '.join(damage)}, after {self.trial}"

    @property
    def is_certain(self) -> bool:
        """Whether it was repeated, and every run broke the program."""
        return self.confirmed == self.runs > 0

    @property
    def is_seen_once(self) -> bool:
        """Whether it was repeated, and no run broke the program again."""
        return self.confirmed == 0 < self.runs

    @property
    def doubt(self) -> int:
        """How doubtful it is: 0 if each run broke the program, then some did, it was not repeated, and none did."""
        if self.is_certain:
            return 0
        if self.confirmed:
            return 1
        return 3 if self.is_seen_once else 2


@dataclass(frozen=True, slots=True)
class Hunted:
    """What a hunt has done and found.

    program, options: what was hunted, and how.
    planned: the number of trials, with those that the budget did not allow. is_stopped: whether a person ended it.
    """

    program: Program
    options: Options
    faultless: Run
    planned: int
    tried: Sequence[Tried]
    findings: Sequence[Finding]
    seconds: float
    is_stopped: bool = False
