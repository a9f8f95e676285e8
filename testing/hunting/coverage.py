"""How much of what can be done to the requests of a program was tried.

- A combination is an API that the program has used, a point of its requests and an action that is possible there.
- observe does nothing, throttle lets a program only wait, and to be delivered twice changes nothing for a request that
  only asks: they are no combinations.
- A combination was tried if the program has met it. It is equivalent to one that was tried if the program and the log
  cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...faults.actions import kind_of
from ...faults.rules.rule_checks import ACTIONS_AT
from .plan import CHANGING
from .result import Tried

_HARMLESS = ("observe", "throttle")
_HARMLESS_TO_ASKING = (*_HARMLESS, "deliver_twice")
# The point of connections, at which there is no request.
_ACCEPTED = "accepted"

# A point, and the kind of an action there.
_Combination = tuple[str, str]
# To the program and the log, each combination is the same as the one on its right. A response that comes late, whole or
# in pieces, is one that does not come: the program has given up by then, or it has only waited.
_SAME: dict[_Combination, _Combination] = {
    ("received", "reset"): ("received", "close"),
    ("received", "hold"): ("received", "delay"),
    ("applied", "delay"): ("applied", "hang"),
    ("applied", "hold"): ("applied", "hang"),
    ("answering", "close"): ("applied", "close"),
    ("answering", "reset"): ("applied", "reset"),
    ("answering", "delay"): ("applied", "hang"),
    ("answering", "drip"): ("applied", "hang"),
    ("answering", "truncate"): ("applied", "close"),
}
# The same for requests that only ask: nothing is applied, so it does not matter when they are lost.
_SAME_OF_ASKING: dict[_Combination, _Combination] = {
    **_SAME,
    ("received", "delay"): ("applied", "hang"),
    ("received", "hang"): ("applied", "hang"),
    ("applied", "drop"): ("received", "drop"),
    ("applied", "crash"): ("received", "crash"),
    ("applied", "error"): ("received", "error"),
}


class Coverage(NamedTuple):
    """The number of combinations that were tried, of others that are the same as one of them, and of all."""

    tried: int
    equivalent: int
    possible: int


def coverage_of(apis: Iterable[str], tried: Iterable[Tried]) -> Coverage:
    """Return the coverage of trials. apis: those that the program has used without faults."""
    possible = {(api, each) for api in apis for each in _possible(api)}
    done = {(target.api, (fault.point, kind_of(fault.action))) for each in tried for fault, target in each.met}
    equivalent = {
        (api, each) for api, each in possible - done if any((api, other) in done for other in _same_as(api, each))
    }
    return Coverage(len(possible & done), len(equivalent), len(possible))


def _possible(api: str) -> Iterator[_Combination]:
    harmless = _HARMLESS if api in CHANGING else _HARMLESS_TO_ASKING
    for point, kinds in ACTIONS_AT.items():
        if point != _ACCEPTED:
            yield from ((point, kind) for kind in kinds if kind not in harmless)


def _same_as(api: str, combination: _Combination) -> Iterator[_Combination]:
    same = _SAME if api in CHANGING else _SAME_OF_ASKING
    while combination in same:
        combination = same[combination]
        yield combination
