"""How to hunt."""

from __future__ import annotations

from dataclasses import dataclass, field

from .budget import Budget
from .fault_choice import FaultChoice
from .plan import Fault
from .promise import Promise
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

    def has(self, fault: Fault) -> bool:
        """Return whether the fault is tried: one that doubles what a consumer reads only if the promise allows that."""
        is_allowed = not fault.doubles or self.promise.allows_doubles or fault.name in self.faults.only
        return is_allowed and self.faults.has(fault)
