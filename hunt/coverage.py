"""How much of what can be done to the requests of a program was tried.

A combination is an API that the program has used, a point of its requests and an action that is possible there. An
action that only observes is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..faults.actions import kind_of
from ..faults.rules.rule_checks import ACTIONS_AT
from .result import Tried

_OBSERVE = "observe"
# The point of connections, at which there is no request.
_ACCEPTED = "accepted"


class Coverage(NamedTuple):
    """The number of combinations that were tried, of those that are possible."""

    tried: int
    possible: int


def coverage_of(apis: Iterable[str], tried: Iterable[Tried]) -> Coverage:
    """Return the coverage of trials. apis: those that the program has used without faults."""
    possible = {
        (api, point, kind)
        for api in apis
        for point, kinds in ACTIONS_AT.items()
        for kind in kinds
        if kind != _OBSERVE and point != _ACCEPTED
    }
    done = {(target.api, fault.point, kind_of(fault.action)) for each in tried for fault, target in each.trial.faults}
    return Coverage(len(possible & done), len(possible))
