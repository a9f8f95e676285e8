"""Any change of any partition: the controller's rules and the model agree, and what the rules promise holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.metadata.metadata_image import NO_LEADER, PartitionRegistration
from fauxka.broker.metadata.partition_change import Election, ElectionRules, PartitionChange, change_partition

from .partition_change_model import PartitionModel, RulesModel, changed

NODES: tuple[int, ...] = (1, 2, 3, 4)
replica_lists: st.SearchStrategy[list[int]] = st.permutations(NODES).flatmap(
    lambda order: st.integers(1, 4).map(lambda count: list(order[:count]))
)


@st.composite
def partitions(draw: st.DrawFn, *, has_elr: bool) -> PartitionRegistration:
    """Return a partition that can be: its leader is in sync, and the ELR is outside the ISR."""
    replicas = draw(replica_lists)
    isr = draw(st.lists(st.sampled_from(replicas), unique=True))
    leader_id = draw(st.sampled_from([*isr, NO_LEADER])) if isr else NO_LEADER
    outside = [each for each in replicas if each not in isr]
    elr = sorted(draw(st.lists(st.sampled_from(outside), unique=True))) if outside and has_elr else []
    last_known = (
        draw(st.sampled_from([[], *([each] for each in replicas)])) if leader_id == NO_LEADER and has_elr else []
    )
    removing = sorted(draw(st.lists(st.sampled_from(replicas), unique=True, max_size=len(replicas) - 1)))
    kept = [each for each in replicas if each not in removing]
    adding = sorted(draw(st.lists(st.sampled_from(kept), unique=True)))
    epoch = draw(st.integers(0, 5))
    return PartitionRegistration(0, leader_id, epoch, replicas, isr, elr, last_known, adding, removing, epoch)


@st.composite
def changes(draw: st.DrawFn, before: PartitionRegistration) -> PartitionChange:
    """Return a change as the controller requests them."""
    match draw(st.sampled_from(["none", "shrink", "expand", "killed", "reassign", "cancel"])):
        case "shrink" if before.isr:
            gone = draw(st.sampled_from(before.isr))
            return PartitionChange(isr=[each for each in before.isr if each != gone])
        case "expand" if before.leader_id != NO_LEADER:
            return PartitionChange(isr=sorted({*before.isr, draw(st.sampled_from(before.replicas))}))
        case "killed" if before.elr:
            return PartitionChange(killed=[draw(st.sampled_from(before.elr))])
        case "reassign":
            target = draw(replica_lists)
            removing = sorted(set(before.replicas).difference(target))
            adding = sorted(set(target).difference(before.replicas))
            return PartitionChange(replicas=[*target, *removing], adding=adding, removing=removing)
        case "cancel" if set(before.replicas) - set(before.adding):
            kept = [each for each in before.replicas if each not in before.adding]
            isr = [each for each in before.isr if each in kept]
            # The controller refuses it without a replica in sync.
            return PartitionChange(replicas=kept, isr=isr or kept[:1], adding=[], removing=[])
        case _:
            return PartitionChange()


@st.composite
def situations(
    draw: st.DrawFn, has_elr: bool | None = None
) -> tuple[PartitionRegistration, PartitionChange, ElectionRules]:
    is_enabled = draw(st.booleans()) if has_elr is None else has_elr
    before = draw(partitions(has_elr=is_enabled))
    change = draw(changes(before))
    alive = draw(st.frozensets(st.sampled_from(NODES)))
    # A leader leaves the ISR only with its death.
    gone = set(before.isr).difference(change.isr) if change.isr is not None and change.replicas is None else set[int]()
    rules = ElectionRules(
        can_lead=alive.difference(gone & {before.leader_id}).__contains__,
        min_isr=draw(st.integers(1, 3)),
        is_elr_enabled=is_enabled,
        election=draw(st.sampled_from(Election)),
    )
    return before, change, rules


def model_of(partition: PartitionRegistration) -> PartitionModel:
    return PartitionModel(
        partition.leader_id,
        partition.leader_epoch,
        *(
            tuple(ids)
            for ids in (
                *(partition.replicas, partition.isr, partition.elr),
                *(partition.last_known_elr, partition.adding, partition.removing),
            )
        ),
    )


def requested(before: PartitionRegistration, change: PartitionChange) -> PartitionModel:
    return replace(
        model_of(before),
        isr=tuple(before.isr if change.isr is None else change.isr),
        replicas=tuple(before.replicas if change.replicas is None else change.replicas),
        adding=tuple(before.adding if change.adding is None else change.adding),
        removing=tuple(before.removing if change.removing is None else change.removing),
    )


@given(situations())
def test_a_change_is_that_of_the_model(
    situation: tuple[PartitionRegistration, PartitionChange, ElectionRules],
) -> None:
    before, change, rules = situation
    alive = frozenset(each for each in NODES if rules.can_lead(each))
    in_model = RulesModel(alive, rules.min_isr, rules.is_elr_enabled, rules.election.value)

    after = change_partition(before, change, rules)

    expected = changed(model_of(before), requested(before, change), change.killed, in_model)
    assert model_of(after or before) == expected
    assert after is None or after.partition_epoch == before.partition_epoch + 1


@given(situations())
def test_a_leader_is_alive_and_in_sync(situation: tuple[PartitionRegistration, PartitionChange, ElectionRules]) -> None:
    before, change, rules = situation

    after = change_partition(before, change, rules) or before

    assert after.leader_id == NO_LEADER or (after.leader_id in after.isr and rules.can_lead(after.leader_id))
    assert set(after.isr).isdisjoint(after.elr)


@given(situations())
def test_without_an_unclean_election_a_new_leader_was_in_sync_or_eligible(
    situation: tuple[PartitionRegistration, PartitionChange, ElectionRules],
) -> None:
    before, change, rules = situation
    clean = ElectionRules(can_lead=rules.can_lead, min_isr=rules.min_isr, is_elr_enabled=rules.is_elr_enabled)

    after = change_partition(before, change, clean)

    if after is not None and after.has_leader and after.leader_id != before.leader_id:
        assert after.leader_id in {*before.isr, *(change.isr or ()), *before.elr, *before.last_known_elr}


def partition(leader_id: int, isr: list[int], elr: list[int] | None = None) -> PartitionRegistration:
    return PartitionRegistration(0, leader_id, 4, [1, 2, 3], isr, elr or [])


def rules_of(*alive: int, min_isr: int = 1, is_elr_enabled: bool = True) -> ElectionRules:
    return ElectionRules(can_lead=alive.__contains__, min_isr=min_isr, is_elr_enabled=is_elr_enabled)


def test_a_member_of_the_elr_leads_only_once_the_isr_is_empty() -> None:
    before = partition(2, [2], [1])
    preferred = replace(rules_of(1, 2, min_isr=2), election=Election.PREFERRED)

    assert change_partition(before, PartitionChange(), preferred) is None

    after = change_partition(before, PartitionChange(isr=[]), rules_of(1, min_isr=2))
    assert after is not None
    assert (after.leader_id, after.leader_epoch, after.isr, after.elr) == (1, 5, [1], [2])


def test_without_an_elr_the_isr_keeps_its_last_member_when_it_is_removed_again() -> None:
    rules = rules_of(is_elr_enabled=False)
    stopping = change_partition(partition(1, [1]), PartitionChange(isr=[]), rules)
    assert stopping is not None

    assert (stopping.leader_id, stopping.isr) == (NO_LEADER, [1])
    assert change_partition(stopping, PartitionChange(isr=[]), rules) is None


def test_a_reassignment_ends_when_all_replicas_that_it_leaves_are_in_sync() -> None:
    before = replace(partition(1, [1, 3]), adding=[3], removing=[1])
    rules = rules_of(1, 2, 3)

    assert change_partition(before, PartitionChange(), rules) is None

    after = change_partition(before, PartitionChange(isr=[1, 2, 3]), rules)
    assert after is not None
    assert (after.leader_id, after.leader_epoch) == (2, 5)
    assert (after.replicas, after.isr, after.adding, after.removing) == ([2, 3], [2, 3], [], [])


@pytest.mark.parametrize("min_isr", [1, 2, 3])
def test_the_elr_has_who_left_the_isr_below_min_insync_replicas(min_isr: int) -> None:
    after = change_partition(partition(1, [1, 2]), PartitionChange(isr=[1]), rules_of(1, 2, 3, min_isr=min_isr))

    assert after is not None
    assert after.elr == ([2] if min_isr > 1 else [])
