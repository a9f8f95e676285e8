"""The recipes of fauxka.faults.rules.recipes as methods that add a rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from ..faults.rules import recipes
from ..faults.rules.fault_rules import FaultRule

Parameters = ParamSpec("Parameters")
Handle = TypeVar("Handle")


class ArmedRecipe(Generic[Parameters]):
    """A descriptor that turns a recipe into a method of RecipeMethods, which arms the rule of the recipe."""

    def __init__(self, recipe: Callable[Parameters, FaultRule]) -> None:
        """recipe: a function of fauxka.faults.rules.recipes."""
        self._recipe = recipe
        self.__doc__ = recipe.__doc__

    def __get__(self, faults: RecipeMethods[Handle], owner: object = None) -> Callable[Parameters, Handle]:
        """Return the method of faults."""

        def arm(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Handle:
            return faults.add(self._recipe(*arguments, **keywords))

        return arm


class RecipeMethods(ABC, Generic[Handle]):
    """A method for each recipe; it takes the recipe's arguments and returns the handle of the rule."""

    @abstractmethod
    def add(self, rule: FaultRule, /) -> Handle:
        """Arm a rule and return its handle."""

    lost_ack = ArmedRecipe(recipes.lost_ack)
    lost_request = ArmedRecipe(recipes.lost_request)
    hang = ArmedRecipe(recipes.hang)
    slow_answers = ArmedRecipe(recipes.slow_answers)
    slow_requests = ArmedRecipe(recipes.slow_requests)
    refuse = ArmedRecipe(recipes.refuse)
    false_error = ArmedRecipe(recipes.false_error)
    false_success = ArmedRecipe(recipes.false_success)
    overtaken = ArmedRecipe(recipes.overtaken)
    held = ArmedRecipe(recipes.held)
    delivered_twice = ArmedRecipe(recipes.delivered_twice)
    throttled = ArmedRecipe(recipes.throttled)
    cut_answers = ArmedRecipe(recipes.cut_answers)
    corrupt_answers = ArmedRecipe(recipes.corrupt_answers)
    dripping_answers = ArmedRecipe(recipes.dripping_answers)
    closed_connection = ArmedRecipe(recipes.closed_connection)
    reset_connection = ArmedRecipe(recipes.reset_connection)
    rejected_login = ArmedRecipe(recipes.rejected_login)
    refused_connections = ArmedRecipe(recipes.refused_connections)
    hanging_connections = ArmedRecipe(recipes.hanging_connections)
    crash_after_append = ArmedRecipe(recipes.crash_after_append)
    crash_before_append = ArmedRecipe(recipes.crash_before_append)
    observed = ArmedRecipe(recipes.observed)
