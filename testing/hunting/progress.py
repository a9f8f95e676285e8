"""How far a hunt is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .budget import Budget
from .finding import Tried


class Learning(NamedTuple):
    """The program runs without faults."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The trials that were done, of those planned so far. last: the newest one.

    found: how many broke the program. waiting: the runs that have not ended before their timeout, and have more time.
    begin: of the hunt, by time.monotonic().
    """

    last: Tried
    done: int
    planned: int
    found: int
    waiting: int
    begin: float
    budget: Budget

    @property
    def seconds(self) -> float:
        """The seconds since the begin of the hunt."""
        return time.monotonic() - self.begin

    @property
    def seconds_left(self) -> float:
        """How long the trials that are left take."""
        return self.budget.seconds_left(self.seconds, self.done, self.planned)


class Confirming(NamedTuple):
    """The hunt repeats what broke the program. trial: in words."""

    trial: str


Stage = Learning | Progress | Confirming
ShowProgress = Callable[[Stage], None]
