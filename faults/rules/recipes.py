"""The recipes of declared_recipes.Recipes as methods that add a rule, and as functions of this module that return it.

`recipes.lost_ack(topic="orders")` is a FaultRule.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from inspect import Signature
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack, get_args, get_origin

from msgspec import structs

from ...protocol.similar_names import suggestion
from .. import strict_json
from ..actions import kind_of
from ..declared_recipes import RECIPES, Recipes
from ..recipe import ConnectionSelection as ConnectionSelection
from ..recipe import MatchFields as MatchFields
from ..recipe import Recipe
from ..recipe import RequestSelection as RequestSelection
from ..rule_error import RuleError
from .fault_rules import FaultRule
from .match import Match

Handle = TypeVar("Handle")

_WHEN_FIELDS = frozenset({"times", "skip"})
_RULE_FIELDS = frozenset({"name", "enabled"})


class RecipeMethods(Recipes[Handle]):
    """A method for each recipe; it takes the recipe's arguments and returns the handle of the rule."""

    @abstractmethod
    def add(self, rule: FaultRule, /) -> Handle:
        """Arm a rule and return its handle."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Raise AttributeError with the recipe of a similar name."""
            message = f"there is no recipe {name}{suggestion(name, RECIPES)}"
            raise AttributeError(message, name=name, obj=self)

    def use_recipe(self, recipe: Recipe[...], arguments: tuple[object, ...], keywords: Mapping[str, object]) -> Handle:
        """Add the rule of a recipe. Raises RuleError for an unknown, a missing, a surplus and an invalid argument."""
        own = _own_arguments(recipe, arguments, keywords)
        point, action = recipe.declare(self, **own)
        fields = {"kind": kind_of(action), **structs.asdict(action)}
        match = dict(recipe.match)
        when: dict[str, object] = {"times": recipe.times}
        rule: dict[str, object] = {"name": recipe.rule_name(own), "point": point, "action": fields}
        for field, value in keywords.items():
            if field not in own:
                (when if field in _WHEN_FIELDS else rule if field in _RULE_FIELDS else match)[field] = value
        return self.add(strict_json.convert({**rule, "match": match, "when": when}, FaultRule))


class _Rules(RecipeMethods[FaultRule]):
    def add(self, rule: FaultRule, /) -> FaultRule:
        """Return the rule."""
        return rule


_RULES = _Rules()


def __getattr__(name: str) -> Callable[..., FaultRule]:
    """Return the function of a recipe. Raises AttributeError for any other name."""
    if name not in RECIPES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return RECIPES[name].__get__(_RULES)


def match_of(**fields: Unpack[MatchFields]) -> Match:
    """Return a Match. Raises RuleError for an unknown field and an invalid value."""
    return strict_json.convert(dict(fields), Match)


def _own_arguments(
    recipe: Recipe[...], arguments: tuple[object, ...], keywords: Mapping[str, object]
) -> dict[str, object]:
    """Return the arguments of the recipe itself, with its defaults. Raises RuleError."""
    names = [each.name for each in recipe.own]
    _check_argument_names(recipe, keywords, [*names, *RequestSelection.__annotations__])
    own = {name: value for name, value in keywords.items() if name in names}
    try:
        bound = Signature(recipe.own).bind(*arguments, **own)
    except TypeError as error:
        allowed = ", ".join(names) or "only arguments with their names"
        message = f"{recipe.name}(): {error}; its own arguments are {allowed}"
        raise RuleError(recipe.name, None, allowed, message) from None
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        choices = get_args(recipe.hints[name]) if get_origin(recipe.hints[name]) is Literal else ()
        if choices and value not in choices:
            allowed = ", ".join(choices)
            message = f"{name} cannot be {value!r}; allowed: {allowed}{suggestion(value, choices)}"
            raise RuleError(name, value, allowed, message)
    return bound.arguments


def _check_argument_names(recipe: Recipe[...], given: Collection[str], allowed: Collection[str]) -> None:
    for name in given:
        if name not in allowed:
            listed = f"the arguments {', '.join(allowed)}"
            message = f"{recipe.name}() has no argument {name}; allowed: {listed}{suggestion(name, allowed)}"
            raise RuleError(name, None, listed, message)
