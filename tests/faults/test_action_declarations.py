"""What actions declare fits together: equivalents exist, hunted faults are valid rules, colours are on the page."""

from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from fauxka.faults.actions import ACTION_TYPES, Action, kind_of
from fauxka.faults.family import Family
from fauxka.faults.files.file_action_declaration import FileRecipe
from fauxka.faults.files.file_actions import FILE_ACTIONS, FILE_ACTIONS_BY_NAME, FileAction, FileActionName
from fauxka.faults.files.file_rules import FileRule, check_file_rule
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


def test_each_action_of_files_can_be_named_in_a_rule() -> None:
    assert sorted(FILE_ACTIONS_BY_NAME) == sorted(get_args(FileActionName))


@pytest.mark.parametrize(
    ("action", "recipe"),
    [pytest.param(action, recipe, id=recipe.label) for action in FILE_ACTIONS for recipe in action.recipes],
)
def test_recipe_of_files_is_a_valid_rule(action: type[FileAction], recipe: FileRecipe) -> None:
    check_file_rule(convert({"action": action.name, **recipe.fields}, FileRule))


@pytest.mark.parametrize("family", Family)
def test_each_family_has_a_colour_on_the_page(family: Family) -> None:
    assert f".is-{family.value} {{" in STYLE.read_text()
