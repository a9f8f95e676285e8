"""Pairs of faults: which are tried, and in which order.

- Two faults tell something new only if the program survives each of them.
- First come pairs at two requests of a client that were in flight together without faults: what becomes of one depends
  on how the other ends. A client that loses its connection sends all of them again, in their order, so faults that
  leave it open come first.
- Which requests they are decides, too, so faults that come first are tried at several pairs of requests before the
  later ones are tried at all.
- The other pairs are drawn by the seed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from ...faults.action_declaration import Response
from ...faults.actions import Action, Drop, Error
from ...faults.journal.journal_entries import JournalEntry
from .changes import change_of
from .finding import Tried
from .judgement import Outcome
from .plan import CHANGING, Fault, Target, Trial, requests_at

_SURVIVED = (Outcome.HELD, Outcome.ERROR)
# At how many pairs of requests two faults are tried before those of the next rank.
_ROUNDS = 2
# How many requests after a request may be in flight with it.
_NEXT_MAX = 20

TwoTargets = tuple[Target, Target]


def pairs_of(tried: Sequence[Tried], in_flight: Sequence[TwoTargets], most: int, seed: int) -> list[Trial]:
    """Return pairs of faults at different requests that the program has survived alone, at most so many.

    in_flight: requests that were in flight together, as two_in_flight returns them.
    """
    singles = [each for each in tried if len(each.trial.faults) == 1]
    survived = [each.trial for each in singles if each.judgement.outcome in _SURVIVED and _is_paired(each.trial)]
    first = _at_requests_in_flight(survived, in_flight)[:most]
    pairs = {frozenset(pair.faults): pair for pair in first}
    count = len(survived)
    chosen = random.Random(seed)
    # Of few faults there may be fewer pairs than wanted.
    for _ in range(4 * most):
        if len(pairs) == most or count < 2:
            break
        faults = [survived[number].faults[0] for number in sorted(chosen.sample(range(count), 2))]
        if len({target for _, target in faults}) == len(faults):
            pairs.setdefault(frozenset(faults), Trial(faults))
    return list(pairs.values())


def two_in_flight(requests: Sequence[JournalEntry], targets: Sequence[Target]) -> list[TwoTargets]:
    """Return pairs of targets whose requests were in flight together, those with many such requests after them first.

    requests: of a run whose responses were late, so that a request arrives long before the response to another one is
    written if the client did not wait for it.
    """
    changing = [entry for entry in requests if entry.api in CHANGING]
    following = {
        entry.id: [
            other
            for other in changing[number + 1 : number + 1 + _NEXT_MAX]
            if other.client_id == entry.client_id and other.at_ms - entry.at_ms < (entry.took_ms or 0) / 2
        ]
        for number, entry in enumerate(changing)
    }
    targets_at = requests_at(changing, targets)
    found = {
        (target, other): -len(following[entry.id]) - len(following[later.id])
        for entry in changing
        for later in following[entry.id]
        for target in targets_at.get(entry.id, ())
        for other in targets_at.get(later.id, ())
    }
    # Requests to one partition come last: their broker refuses the second of them if it has not got the first.
    return sorted(found, key=lambda pair: (pair[0].match == pair[1].match, found[pair]))


def _at_requests_in_flight(survived: Sequence[Trial], in_flight: Sequence[TwoTargets]) -> list[Trial]:
    faults: dict[Target, list[Fault]] = {}
    for trial in survived:
        for fault, target in trial.faults:
            faults.setdefault(target, []).append(fault)
    rounds: Counter[tuple[str, ...]] = Counter()
    found: list[tuple[int, int, Trial]] = []
    for first, second in in_flight:
        for fault in faults.get(first, ()):
            for other in faults.get(second, ()):
                kind = (fault.name, first.api, other.name, second.api)
                rank = _rank(fault.action) + _rank(other.action)
                found.append((rounds[kind], rank, Trial([(fault, first), (other, second)])))
                rounds[kind] += 1
    return [trial for *_, trial in sorted(found, key=lambda each: (each[0] + _ROUNDS * each[1], each[1]))]


def _rank(action: Action) -> int:
    """Return how early a pair with the action is tried: the lower, the earlier."""
    if isinstance(action, Drop):
        return 0
    if isinstance(action, Error):
        return 1
    return 3 if action.response is Response.END else 2


def _is_paired(trial: Trial) -> bool:
    """Whether another fault tells something beside these: after one that stays, it would not."""
    if trial.stays:
        return False
    changes = [change_of(rule) for rule in trial.rules]
    return all(change is None or change.is_paired for change in changes)
