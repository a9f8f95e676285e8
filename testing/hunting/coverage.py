"""How much of what can be done to the requests of a program was tried.

- A combination is an API that the program has used, a point of its requests and an action that is possible there.
- Actions that leave the request and its response as they are, such as observe, are no combinations.
- The errors of Kafka are in api_errors.py: those that were not tried have a reason.
- A combination was tried if the program has met it. It is equivalent to one that was tried if the program and the log
  cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...faults.action_declaration import Applied, Response
from ...faults.actions import ACTION_TYPES, kind_of
from ...faults.hunted_faults import Requests
from ...faults.journal.journal_entries import JournalEntry
from ...protocol.api_keys import APIS
from .api_errors import left_out
from .finding import Tried
from .plan import CHANGING

# A point, and the kind of an action there.
_Combination = tuple[str, str]
# For each combination the ones that are the same to a program and the log, of all requests and of those that only ask.
_SAME: dict[tuple[_Combination, bool], _Combination] = {
    ((same.point, kind_of(each)), is_asking): (same.other, same.kind)
    for each in ACTION_TYPES
    for same in each.equivalents
    for is_asking in (False, True)
    if is_asking or same.requests is Requests.ANY
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


def errors_left_out(requests: Sequence[JournalEntry], tried: Iterable[Tried]) -> dict[str, dict[str, str]]:
    """Return the reasons why errors that Kafka lists were not tried, by API and error.

    requests: those of the program without faults.
    """
    versions: dict[str, int] = {}
    for entry in requests:
        versions[entry.api] = min(entry.api_version, versions.get(entry.api, entry.api_version))
    done = {(target.api, fault.name) for each in tried for fault, target in each.trial.faults}
    found = {
        api: {
            error.name: reason
            for error, reason in left_out(api, version, versions.keys()).items()
            if (api, error.name) not in done
        }
        for api, version in versions.items()
    }
    return {api: reasons for api, reasons in found.items() if reasons}


def _possible(api: str) -> Iterator[_Combination]:
    is_changing = api in CHANGING
    for each in ACTION_TYPES:
        if each.only_for and api not in {APIS[key].name for key in each.only_for}:
            continue
        if each.response is not Response.WHOLE or (is_changing and each.applied is not Applied.ONCE):
            # At accepted there is no request.
            yield from ((point, kind_of(each)) for point in each.points.possible if point != "accepted")


def _same_as(api: str, combination: _Combination) -> Iterator[_Combination]:
    while (combination, api not in CHANGING) in _SAME:
        combination = _SAME[combination, api not in CHANGING]
        yield combination
