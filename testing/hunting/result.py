"""What a hunt has done and found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from .judgement import Judgement
from .plan import Fault, Target, Trial
from .run import Run


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

    confirmed: how many of `runs` more runs said so too. others: trials that broke it in the same way, at the same API.
    timeline: of one of these runs, as HTML; "" if there is none.
    """

    trial: Trial
    judgement: Judgement
    timeout_seconds: float
    confirmed: int
    runs: int
    others: Sequence[Trial] = ()
    timeline: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether it was repeated, and every run broke the program."""
        return self.confirmed == self.runs > 0


@dataclass(frozen=True, slots=True)
class Result:
    """What a hunt found.

    planned: the number of trials, with those that the budget did not allow. is_stopped: whether a person ended it.
    """

    faultless: Run
    planned: int
    tried: Sequence[Tried]
    findings: Sequence[Finding]
    seconds: float
    is_stopped: bool = False
