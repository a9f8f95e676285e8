"""The module of the page with what actions declare: their families and recipes. It is made when it is asked for.

A module of the page imports it like any file of its folder: `import { RECIPES } from "./declared.js"`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from inspect import Parameter
from typing import Literal, get_args, get_origin

from msgspec import Struct, structs, to_builtins

from ..faults.action_declaration import DeclaredAction, Response
from ..faults.actions import ACTION_TYPES, kind_of
from ..faults.declared_recipes import RECIPES
from ..faults.family import Family
from ..faults.files.file_action_declaration import FileRecipe
from ..faults.files.file_actions import FILE_ACTIONS, FileAction
from ..faults.journal.journal_entries import LEFT_APIS
from ..faults.recipe import ConnectionSelection, Group, Recipe
from ..faults.rules import recipes
from ..faults.rules.fault_rules import FaultRule, When

MODULE = "declared.js"

Json = dict[str, object]


@cache
def declared_module() -> str:
    """Return the text of the module."""
    constants: Json = {
        # The family of each kind of action, which decides its colour.
        "FAMILIES": {kind_of(each): each.family.value for each in ACTION_TYPES},
        # The kinds after which a response that did not come may still come.
        "WAITED_FOR": [kind_of(each) for each in ACTION_TYPES if _is_waited_for(each)],
        # The requests whose response a client that closes its connection does not wait for.
        "LEFT_APIS": sorted(LEFT_APIS),
        # The fields that the API fills in: of `when`, and of each kind of action.
        "DEFAULTS": {"when": to_builtins(When()), "action": {kind_of(each): _defaults(each) for each in ACTION_TYPES}},
        # The recipes by their group.
        "RECIPES": [
            {"group": group.value, "recipes": [_recipe(each) for each in RECIPES.values() if each.group is group]}
            for group in Group
        ],
        # The same of the actions of files.
        "FILE_FAMILIES": {each.name: each.family.value for each in FILE_ACTIONS},
        "FILE_RECIPES": [_file_recipe(action, each) for action in FILE_ACTIONS for each in action.recipes],
    }
    return "".join(f"export const {name} = {json.dumps(value)};\n" for name, value in constants.items())


def _is_waited_for(action: type[DeclaredAction]) -> bool:
    return action.response is Response.LATER or (action.response is Response.NONE and action.family is Family.SLOW)


def _defaults(model: type[Struct]) -> Json:
    return {field.name: field.default for field in structs.fields(model) if not field.required}


def _recipe(recipe: Recipe[...]) -> Json:
    """Return a recipe with the rule that it makes of its defaults and of the values that the page shows.

    match: the conditions of the recipe itself, null for one of connections. times: the hits, null for no limit.
    fields: the arguments; those that are None by default are left out.
    """
    rule: FaultRule = getattr(recipes, recipe.name)(**recipe.shown)
    action, defaults = structs.asdict(rule.action), _defaults(type(rule.action))
    given = {name: value for name, value in action.items() if name not in defaults or value != defaults[name]}
    return {
        "name": recipe.name,
        "label": recipe.label,
        "effect": recipe.effect,
        "match": None if recipe.selection is ConnectionSelection else to_builtins(rule.match),
        "point": rule.point,
        "action": {"kind": kind_of(rule.action), **given},
        "times": rule.when.times,
        "fields": list(_fields(recipe, list(action))),
    }


def _file_recipe(action: type[FileAction], recipe: FileRecipe) -> Json:
    family = recipe.family or action.family
    rule = {"action": action.name, **recipe.fields}
    return {"label": recipe.label, "effect": recipe.effect, "family": family.value, "rule": rule}


def _fields(recipe: Recipe[...], action_fields: list[str]) -> Iterator[Json]:
    """Yield the arguments. as: what an argument sets: "point", "kind", or a field of the action."""
    names = {each.name for each in recipe.own}
    others = [name for name in action_fields if name not in names]
    for argument in recipe.own:
        target = argument.name
        if target not in (*action_fields, "point"):
            target = others.pop(0) if others else "kind"
        if argument.default is not None:
            label = {"point": "at", "kind": argument.name}.get(target, target).replace("_", " ")
            yield {"name": argument.name, "label": label, "as": target, **_value(recipe, argument)}


def _value(recipe: Recipe[...], argument: Parameter) -> Json:
    """Return the value of an argument that the page begins with: its default, or one that must be given."""
    hint = recipe.hints[argument.name]
    if get_origin(hint) is Literal:
        others = [choice for choice in get_args(hint) if choice != argument.default]
        return {"options": [argument.default, *others]}
    if argument.default is Parameter.empty:
        return {"value": recipe.shown[argument.name], "isRequired": True}
    return {"value": argument.default}
