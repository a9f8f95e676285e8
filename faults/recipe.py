"""Recipes: methods that make the most frequent fault rules, named for their effect.

A recipe is declared once, in declared_recipes.Recipes. Its method returns a point and an action. Whoever uses the
recipe gets what its own class makes of them (`use_recipe`): a rule, or the handle of an armed rule. The recipes of
Python, the commands of the command line and the buttons of the page are these methods.

Every recipe takes the fields of Match, `times` and `skip` of When, and `name` and `enabled` of the rule, in addition to
its own arguments.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, wraps
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypedDict, TypeVar, cast, get_args, get_type_hints

from .action_declaration import DeclaredAction
from .docstrings import effect_of
from .match_values import AnyBytes, AnyHeader, AnyInteger, AnyName, AnyNatural, AnyText
from .points import Point

Parameters = ParamSpec("Parameters")
Handle = TypeVar("Handle")

# Where a recipe acts, and how.
At = tuple[Point, DeclaredAction]
# The parameter of each recipe for the fields of Match, When and the rule.
CHOSEN = "chosen"
# The argument that the name of the rule has, too.
ERROR = "error"


class MatchFields(TypedDict, total=False):
    """The fields of Match as arguments. key: text or bytes."""

    api: AnyName
    api_version: AnyNatural
    node: AnyNatural
    listener: AnyText
    connection: AnyNatural
    client_id: AnyText
    mechanism: AnyName
    principal: AnyText
    transactional_id: AnyText
    group_id: AnyText
    topic: AnyText
    partition: AnyNatural
    producer_id: AnyInteger
    producer_epoch: AnyInteger
    base_sequence: AnyInteger
    record_count: AnyNatural
    key: AnyBytes
    header: AnyHeader


class RequestSelection(MatchFields, total=False):
    """The requests that a recipe applies to.

    times: the number of hits, 1 by default; None for no limit. skip: the number of matches to skip first.
    name: of the rule, by default that of the recipe. enabled: False adds the rule disabled.
    """

    times: int | None
    skip: int
    name: str
    enabled: bool


class ConnectionSelection(TypedDict, total=False):
    """The new connections that a recipe applies to. times, skip, name, enabled: as in RequestSelection."""

    node: AnyNatural
    listener: AnyText
    connection: AnyNatural
    times: int | None
    skip: int
    name: str
    enabled: bool


class Group(Enum):
    """A heading of recipes on the page."""

    LOSSES = "Lost responses and requests"
    ORDER = "Duplicates and order"
    DELAYS = "Delays"
    ERRORS = "Errors and false responses"
    CRASHES = "Crashes"
    BYTES = "Bytes of the response"
    CONNECTIONS = "Connections and counts"


class RecipeUser(ABC, Generic[Handle]):
    """What has the recipes as methods."""

    @abstractmethod
    def use_recipe(self, recipe: Recipe[...], arguments: tuple[object, ...], keywords: Mapping[str, object]) -> Handle:
        """Return what the recipe makes of these arguments: a rule, or the handle of an armed one."""


@dataclass(frozen=True)
class Recipe(Generic[Parameters]):
    """A recipe, as a descriptor: the method of a RecipeUser that uses it.

    group, label: of the button on the page. api, api_version: those of the rule, unless others are chosen.
    times: of the rule.
    shown: the values on the page for arguments without a default.
    """

    declare: Callable[Concatenate[Any, Parameters], At]
    group: Group
    label: str
    api: str | None = None
    api_version: int | None = None
    times: int | None = 1
    shown: Mapping[str, object] = field(default_factory=dict[str, object])

    def __get__(self, user: RecipeUser[Handle], owner: object = None) -> Callable[Parameters, Handle]:
        """Return the method of the user."""

        @wraps(self.declare)
        def use(user: RecipeUser[Handle], *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Handle:
            return user.use_recipe(self, arguments, keywords)

        return cast("Callable[Parameters, Handle]", MethodType(use, user))

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.declare.__name__

    @property
    def match(self) -> dict[str, object]:
        """The fields of Match that the rule has unless others are chosen."""
        fields = {"api": self.api, "api_version": self.api_version}
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def effect(self) -> str:
        """The effect in one sentence."""
        return effect_of(self.declare)

    @cached_property
    def own(self) -> list[inspect.Parameter]:
        """The arguments of the recipe itself."""
        _, *parameters = inspect.signature(self.declare).parameters.values()
        return [each for each in parameters if each.name != CHOSEN]

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of the arguments."""
        return get_type_hints(self.declare, include_extras=True)

    @property
    def selection(self) -> type:
        """The fields that can be chosen: RequestSelection or ConnectionSelection."""
        (selection,) = get_args(self.hints[CHOSEN])
        return cast(type, selection)

    def rule_name(self, values: Mapping[str, object]) -> str:
        """Return the name of the rule. values: of the own arguments. Rules of a chosen error are named for it."""
        words = self.name.replace("_", " ")
        return f"{words.removesuffix(' error')} {values[ERROR]}" if ERROR in values else words


def recipe(
    group: Group,
    label: str,
    *,
    api: str | None = None,
    api_version: int | None = None,
    times: int | None = 1,
    **shown: object,
) -> Callable[[Callable[Concatenate[Any, Parameters], At]], Recipe[Parameters]]:
    """Make a recipe of a function from its arguments to a point and an action. See Recipe."""
    return lambda declare: Recipe(declare, group, label, api, api_version, times, shown)
