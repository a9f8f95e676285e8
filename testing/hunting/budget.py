"""When a hunt ends before all trials were done."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import BadHuntOption

_UNITS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"([0-9]+)([smh])")


@dataclass(frozen=True, slots=True)
class Budget:
    """The time and the number of trials after which no other starts. None: no limit."""

    seconds: float | None = None
    trials: int | None = None

    def is_spent(self, seconds: float, trials: int) -> bool:
        """Return whether so much time, or so many trials, are the end."""
        return (self.seconds is not None and seconds >= self.seconds) or (
            self.trials is not None and trials >= self.trials
        )

    def seconds_left(self, seconds: float, done: int, planned: int) -> float:
        """Return how long the trials that are left take at the rate of those that were done, within the budget."""
        most = planned if self.trials is None else min(planned, self.trials)
        left = seconds / done * (most - done)
        return left if self.seconds is None else max(0.0, min(left, self.seconds - seconds))


def budget_of(text: str, name: str = "--budget") -> Budget:
    """Return the budget: a duration such as 90s, 5m or 1h, or a number of trials. Raises BadHuntOption."""
    duration = _DURATION.fullmatch(text)
    if duration is not None and int(duration[1]):
        return Budget(seconds=int(duration[1]) * _UNITS[duration[2]])
    if text.isascii() and text.isdigit() and int(text):
        return Budget(trials=int(text))
    raise BadHuntOption(
        f"{name}: {text!r} is no budget; allowed: a duration such as 90s, 5m or 1h, or a number of trials"
    )
