"""How to hunt."""

from __future__ import annotations

from dataclasses import dataclass, field

from .budget import Budget
from .fault_choice import FaultChoice
from .judgement import Promise
from .run import Setting


@dataclass(frozen=True, slots=True)
class Options:
    """How to hunt.

    jobs: runs at a time. timeout_seconds: of a run with faults; None for one by the run without. pairs: how many pairs
    of faults are tried, at most; None for as many as there are faults. seed: of the choice of pairs.
    faults: which are tried. is_first_wanted: whether the hunt ends with the first finding that is confirmed.
    """

    setting: Setting
    promise: Promise = Promise.EXACTLY_ONCE
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    timeout_seconds: float | None = None
    pairs: int | None = None
    seed: int = 0
    faults: FaultChoice = field(default_factory=FaultChoice)
    is_first_wanted: bool = False
