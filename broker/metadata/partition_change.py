"""How a change of its replicas or brokers changes a partition: ISR, ELR, leader and leader epoch.

- A leader that may stay stays. Else the first replica of the ISR that is alive leads, or one of the ELR if the ISR is
  empty. Without an ELR, the ISR keeps its last members.
- Without any of them, the last known leader may lead again, once it is back (KIP-966), or any replica that is alive
  where the topic allows unclean elections. The ISR is that leader alone then.
- The ELR has the replicas that left the ISR while it had fewer members than min.insync.replicas. They have every record
  below the high watermark, which does not move then. One that was killed may have lost records, and leaves it.
- The leader epoch rises with a new leader or none, and with each replica that is removed.
Source: PartitionChangeBuilder and PartitionReassignmentReplicas, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from .metadata_image import NO_LEADER, PartitionRegistration


class Election(Enum):
    """Who may become leader: the preferred replica if it can, an in-sync replica, or any replica."""

    PREFERRED = "preferred"
    ONLINE = "online"
    UNCLEAN = "unclean"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionRules:
    """What an election depends on.

    can_lead: whether the broker of that id may lead, because it is alive. min_isr: min.insync.replicas of the topic.
    is_elr_enabled: whether the cluster has eligible leader replicas.
    """

    can_lead: Callable[[int], bool]
    min_isr: int
    is_elr_enabled: bool
    election: Election = Election.ONLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """A requested change; None leaves as it is. killed: the replicas whose broker did not stop cleanly."""

    isr: Sequence[int] | None = None
    replicas: Sequence[int] | None = None
    adding: Sequence[int] | None = None
    removing: Sequence[int] | None = None
    killed: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class _Elected:
    leader_id: int
    is_unclean: bool = False


def change_partition(
    before: PartitionRegistration, change: PartitionChange, rules: ElectionRules
) -> PartitionRegistration | None:
    """Return the partition after the change and the election it causes; None if nothing changes."""
    after = replace(
        before,
        isr=list(before.isr if change.isr is None else change.isr),
        replicas=list(before.replicas if change.replicas is None else change.replicas),
        adding=list(before.adding if change.adding is None else change.adding),
        removing=list(before.removing if change.removing is None else change.removing),
    )
    _complete_reassignment(after)
    _update_elr(before, after, change.killed, rules)
    elected = _elect(after, rules)
    if elected.leader_id != before.leader_id:
        _lead(before, after, elected, rules)
    elif not set(after.replicas) >= set(before.replicas):
        after.leader_epoch += 1
    if after.has_leader or not rules.is_elr_enabled:
        after.last_known_elr = []
    if not after.isr and not rules.is_elr_enabled:
        after.isr = list(before.isr)
    if after == before:
        return None
    after.partition_epoch += 1
    return after


def _complete_reassignment(after: PartitionRegistration) -> None:
    """End the reassignment if all replicas that it leaves are in sync, and all that it adds.

    One that adds and removes a replica, because another reassignment was in progress, does not end.
    """
    if not after.adding and not after.removing:
        return
    replicas = [node_id for node_id in after.replicas if node_id not in after.removing]
    isr = [node_id for node_id in after.isr if node_id not in after.removing]
    if set(isr) >= {*replicas, *after.adding}:
        after.isr = isr
        after.replicas, after.adding, after.removing = replicas, [], []


def _update_elr(
    before: PartitionRegistration, after: PartitionRegistration, killed: Collection[int], rules: ElectionRules
) -> None:
    if not rules.is_elr_enabled or len(after.isr) >= min(rules.min_isr, len(after.replicas)):
        after.elr = []
        return
    candidates = {*before.elr, *before.isr}.difference(after.isr, killed).intersection(after.replicas)
    after.elr = sorted(candidates)


def _elect(after: PartitionRegistration, rules: ElectionRules) -> _Elected:
    """Return the leader: that of before if it may stay."""

    in_sync = after.isr or after.elr

    def is_eligible(node_id: int) -> bool:
        return node_id in in_sync and rules.can_lead(node_id)

    preferred = after.replicas[:1] if rules.election is Election.PREFERRED else []
    for node_id in (*preferred, after.leader_id, *after.replicas):
        if is_eligible(node_id):
            return _Elected(node_id)
    has_nobody = rules.is_elr_enabled and not after.isr and not after.elr
    last_resorts = after.last_known_elr[:1] if has_nobody else []
    if rules.election is Election.UNCLEAN:
        last_resorts += after.replicas
    for node_id in last_resorts:
        if rules.can_lead(node_id):
            return _Elected(node_id, is_unclean=True)
    return _Elected(NO_LEADER)


def _lead(before: PartitionRegistration, after: PartitionRegistration, elected: _Elected, rules: ElectionRules) -> None:
    """Make the elected replica the leader, in the next epoch."""
    after.leader_id, after.leader_epoch = elected.leader_id, before.leader_epoch + 1
    if elected.is_unclean:
        after.isr, after.elr = [elected.leader_id], []
    elif elected.leader_id in after.elr:
        after.isr = [elected.leader_id]
        is_under_min_isr = min(rules.min_isr, len(after.replicas)) > 1
        # Else the high watermark moves on, and the others soon lack records. Kafka clears the ELR with the next change.
        after.elr = [node_id for node_id in after.elr if node_id != elected.leader_id and is_under_min_isr]
    elif elected.leader_id == NO_LEADER and not after.isr:
        after.last_known_elr = [before.leader_id]
