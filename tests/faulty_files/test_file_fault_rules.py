import pytest

from fauxka.faults.files.operation_kind import OperationKind

from .file_fault_rules import (
    Fail,
    FileFaultPlan,
    FileFaultRule,
    LoseSync,
    Stop,
    Tear,
    disk_full,
    read_only,
)

WRITES = frozenset({OperationKind.WRITE})


def test_rule_hits_the_nth_operation_that_it_matches_and_no_other() -> None:
    plan = FileFaultPlan()
    rule = plan.add(FileFaultRule(effect=Fail(), kinds=WRITES, folder="topic-0", suffix=".log", skip=1))

    plan.decide(OperationKind.WRITE, "topic-1/a.log")
    plan.decide(OperationKind.WRITE, "topic-0/a.index")
    plan.decide(OperationKind.DELETE, "topic-0/a.log")
    decided = [plan.decide(OperationKind.WRITE, "topic-0/a.log") for _ in range(3)]

    assert decided == [None, Fail(), None]
    assert plan.hit_count(rule) == 1


def test_first_of_several_rules_decides_and_all_of_them_count() -> None:
    plan = FileFaultPlan()
    plan.add(FileFaultRule(effect=Stop(), kinds=WRITES))
    second = plan.add(FileFaultRule(effect=Fail(), kinds=WRITES, skip=1))

    decided = [plan.decide(OperationKind.WRITE, "a") for _ in range(2)]

    assert decided == [Stop(), Fail()]
    assert plan.hit_count(second) == 1


def test_rule_without_an_end_hits_until_it_is_removed() -> None:
    plan = FileFaultPlan()
    rule = plan.add(disk_full())

    during = [plan.decide(OperationKind.WRITE, "a") for _ in range(3)]
    plan.remove(rule)

    assert None not in during
    assert plan.decide(OperationKind.WRITE, "a") is None


def test_read_only_files_can_be_read_and_synced() -> None:
    plan = FileFaultPlan()
    plan.add(read_only())

    assert plan.decide(OperationKind.READ, "a") is None
    assert plan.decide(OperationKind.SYNC, "a") is None
    assert plan.decide(OperationKind.DELETE, "a") is not None


@pytest.mark.parametrize("effect", [Tear(3), LoseSync()])
def test_effect_that_cannot_happen_to_a_delete_is_refused(effect: Tear | LoseSync) -> None:
    with pytest.raises(ValueError, match="cannot happen to: delete"):
        FileFaultRule(effect=effect, kinds=frozenset({OperationKind.DELETE}))
