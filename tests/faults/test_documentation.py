"""docs/faults.md: its rules are valid, its recipes make them, and it has each action and each recipe."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fauxka.faults.actions import ACTION_TYPES, kind_of
from fauxka.faults.declared_recipes import RECIPES
from fauxka.faults.files.file_actions import FILE_ACTIONS
from fauxka.faults.files.file_rules import FileRule, check_file_rule
from fauxka.faults.rules import recipes
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.rules.rule_checks import check_rule
from fauxka.faults.strict_json import convert

PAGE = (Path(__file__).parent.parent.parent / "docs" / "faults.md").read_text()
# What is written by hand.
EXPLAINED = re.sub(r"<!-- begin of .*?<!-- end of ", "", PAGE, flags=re.DOTALL)
# A rule in a row, after the recipe that makes it, if there is one.
RULE = re.compile(r'(?:`R\.(?P<call>[^`]+)`[^`|]*?)?`(?P<rule>(?:"match": .*?, )?"point": "\w+",\s"action": [^`]+)`')
FILE_RULES = re.findall(r'^\| `({"action": [^`]+})` \|', EXPLAINED, re.MULTILINE)
SHOWN = [(found["call"], json.loads(f"{{{found['rule']}}}")) for found in RULE.finditer(EXPLAINED)]


@pytest.mark.parametrize(("call", "rule"), SHOWN, ids=[str(call or rule["action"]) for call, rule in SHOWN])
def test_rule_is_valid_and_is_that_of_its_recipe(call: str | None, rule: dict[str, Any]) -> None:
    shown = convert(rule, FaultRule)

    check_rule(shown)
    if call is not None:
        made: FaultRule = eval(f"recipes.{call}", {"recipes": recipes})
        assert (made.point, made.action) == (shown.point, shown.action)


@pytest.mark.parametrize("rule", FILE_RULES)
def test_file_rule_is_valid(rule: str) -> None:
    check_file_rule(convert(json.loads(rule), FileRule))


def test_each_action_is_explained() -> None:
    # An observing rule has its effect in the table of the actions.
    kinds = {kind_of(action) for action in ACTION_TYPES} - {"observe"}

    assert {kind for kind in kinds if f"`{kind}`" not in EXPLAINED and f'"kind": "{kind}"' not in EXPLAINED} == set()
    assert [each.name for each in FILE_ACTIONS if f'{{"action": "{each.name}"' not in EXPLAINED] == []


def test_each_recipe_is_listed() -> None:
    assert [name for name in RECIPES if f"| `{name}(" not in PAGE] == []


@pytest.mark.parametrize("heading", re.findall(r"^### .*`.*", EXPLAINED, re.MULTILINE))
def test_heading_names_actions_that_are_possible_at_its_point(heading: str) -> None:
    words = re.findall(r"`(\w+)`", heading)
    by_kind = {kind_of(action): action for action in ACTION_TYPES}
    kinds, points = [word for word in words if word in by_kind], [word for word in words if word not in by_kind]

    assert kinds != []
    assert [(kind, point) for kind in kinds for point in points if point not in by_kind[kind].points.possible] == []
