"""Model of a partition in the controller: what Kafka's rules say of a change, one statement after the other.

It was written from the rules of KIP-966 and of reassignments, not from the controller's code.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

NO_LEADER = -1
ONLINE, PREFERRED, UNCLEAN = "online", "preferred", "unclean"
Ids = tuple[int, ...]


@dataclass(frozen=True)
class PartitionModel:
    """A partition as the controller has it."""

    leader: int
    epoch: int
    replicas: Ids
    isr: Ids
    elr: Ids = ()
    last_known: Ids = ()
    adding: Ids = ()
    removing: Ids = ()


@dataclass(frozen=True)
class RulesModel:
    """alive: the brokers that may lead."""

    alive: frozenset[int]
    min_isr: int
    has_elr: bool
    election: str = ONLINE


def changed(
    before: PartitionModel, after: PartitionModel, killed: Collection[int], rules: RulesModel
) -> PartitionModel:
    """Return the partition after a change. after: with the requested ISR and replicas, and else as before."""
    after = _reassigned(after)
    after = replace(after, elr=_elr(before, after, killed, rules))
    leader, is_unclean = _leader(before, after, rules)
    was_eligible = leader in after.elr
    if is_unclean:
        after = replace(after, isr=(leader,), elr=())
    elif leader != before.leader and was_eligible:
        is_under_min = min(rules.min_isr, len(after.replicas)) > 1
        after = replace(after, isr=(leader,), elr=without(after.elr, [leader]) if is_under_min else ())
    if not after.isr and not rules.has_elr:
        after = replace(after, isr=before.isr)
    return replace(
        after,
        leader=leader,
        last_known=_last_known(before, after, leader, rules),
        epoch=before.epoch + (leader != before.leader or not set(before.replicas) <= set(after.replicas)),
    )


def without(ids: Sequence[int], removed: Collection[int]) -> Ids:
    return tuple(each for each in ids if each not in removed)


def _reassigned(after: PartitionModel) -> PartitionModel:
    """A reassignment ends when all replicas that it leaves, and all that it adds, are in sync."""
    if not after.adding and not after.removing:
        return after
    replicas, isr = without(after.replicas, after.removing), without(after.isr, after.removing)
    if not {*replicas, *after.adding} <= set(isr):
        return after
    return replace(after, replicas=replicas, isr=isr, adding=(), removing=())


def _elr(before: PartitionModel, after: PartitionModel, killed: Collection[int], rules: RulesModel) -> Ids:
    if not rules.has_elr or len(after.isr) >= min(rules.min_isr, len(after.replicas)):
        return ()
    left = {*before.isr, *before.elr} - {*after.isr, *killed}
    return tuple(sorted(left & set(after.replicas)))


def _leader(before: PartitionModel, after: PartitionModel, rules: RulesModel) -> tuple[int, bool]:
    """Return the leader, and whether it may lack records."""
    # The ELR counts only once the ISR is empty.
    candidates = [each for each in (after.isr or after.elr) if each in rules.alive]
    first = after.replicas[:1] if rules.election == PREFERRED else ()
    for each in (*first, before.leader, *after.replicas):
        if each in candidates:
            return each, False
    for each in _last_resorts(before, after, rules):
        if each in rules.alive:
            return each, True
    return NO_LEADER, False


def _last_resorts(before: PartitionModel, after: PartitionModel, rules: RulesModel) -> Ids:
    """Return who may lead without all records."""
    is_last_known_left = rules.has_elr and not after.isr and not after.elr
    last_known = before.last_known if is_last_known_left else ()
    return (*last_known, *after.replicas) if rules.election == UNCLEAN else last_known


def _last_known(before: PartitionModel, after: PartitionModel, leader: int, rules: RulesModel) -> Ids:
    """The last leader is known from when the ISR is empty until there is a leader again."""
    if not rules.has_elr or leader != NO_LEADER:
        return ()
    if not after.isr and before.leader != NO_LEADER:
        return (before.leader,)
    return before.last_known
