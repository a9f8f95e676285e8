"""What actions declare fits together: equivalents exist, hunted faults are valid rules, colours are on the page."""

from itertools import chain
from pathlib import Path

import pytest

from fauxka.faults.action_declaration import Family
from fauxka.faults.actions import ACTION_TYPES, Action, kind_of
from fauxka.faults.hunted_faults import HuntedFault
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.rules.rule_checks import ACTIONS_AT, check_rule
from fauxka.faults.strict_json import convert

STYLE = Path(__file__).parent.parent.parent / "admin" / "page" / "style.css"
each_action = pytest.mark.parametrize("action", ACTION_TYPES, ids=kind_of)


@each_action
def test_equivalent_of_an_action_is_possible_at_its_point(action: type[Action]) -> None:
    assert {same.point for same in action.equivalents} <= set(action.points.possible)
    assert [same for same in action.equivalents if same.kind not in ACTIONS_AT[same.other]] == []


@pytest.mark.parametrize(
    ("action", "hunted"),
    [pytest.param(action, hunted, id=hunted.name) for action in ACTION_TYPES for hunted in action.hunted],
)
def test_hunted_fault_is_a_valid_rule(action: type[Action], hunted: HuntedFault) -> None:
    check_rule(FaultRule(point=hunted.point, action=convert(dict(hunted.fields), action)))


def test_names_of_hunted_faults_belong_to_one_action_each() -> None:
    names = list(chain.from_iterable({hunted.name for hunted in action.hunted} for action in ACTION_TYPES))

    assert len(names) == len(set(names))


@pytest.mark.parametrize("family", Family)
def test_each_family_has_a_colour_on_the_page(family: Family) -> None:
    assert f".is-{family.value} {{" in STYLE.read_text()
