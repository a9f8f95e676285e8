"""The recipes as commands: `fauxka fault add lost_ack --topic orders`.

Arguments and options come from the signatures of declared_recipes.Recipes: an argument of a recipe without a default is
an argument of the command, any other one is an option, and so is each field of the match.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

import click

from ...faults.declared_recipes import RECIPES
from ...faults.rule_error import RuleError
from ...faults.rules import recipes
from ...faults.rules.fault_rules import FaultRule
from .admin_client import BadCall
from .broker_options import JSON_OPTION, calls_broker, json_of, print_response
from .completion import COMPLETIONS
from .http_broker import HttpBroker
from .rule_text import rule_line

Recipe = Callable[..., FaultRule]

# The words for None, of parameters that are integers or None.
UNLIMITED = "unlimited"
NEVER = "never"
# Fields of the match with a form of their own on the command line.
KEY, HEADER = "key", "header"
TIMES = "times"


def recipe_names() -> list[str]:
    """Return the names of the recipes, in the order of declared_recipes.Recipes."""
    return list(RECIPES)


def find_recipe(name: str) -> Recipe | None:
    """Return a recipe. name: words joined by _ or -."""
    words = name.replace("-", "_")
    return getattr(recipes, words) if words in RECIPES else None


def recipe_command(recipe: Recipe) -> click.Command:
    """Return the command that adds the rule of a recipe."""
    parameters = RecipeParameters(recipe)

    @calls_broker()
    @JSON_OPTION
    def add(broker: HttpBroker, *, as_json: bool, **given: object) -> None:
        added = json_of(broker.faults.add(parameters.rule(given)).last_info)
        print_response(added, lambda: [rule_line(added)], as_json=as_json)

    command = click.command(recipe.__name__, help=inspect.getdoc(recipe))(add)
    command.params = [*parameters.options, *command.params]
    return command


@dataclass(frozen=True)
class RecipeParameters:
    """The parameters of a recipe as those of a command."""

    recipe: Recipe

    @cached_property
    def options(self) -> list[click.Parameter]:
        """The parameters: the recipe's own ones first."""
        own = [_own_parameter(parameter, self._hints[parameter.name]) for parameter in self._own]
        return [*own, *(_field_option(name, hint) for name, hint in self._fields.items())]

    def rule(self, given: Mapping[str, Any]) -> FaultRule:
        """Return the rule of the recipe for the values of a command. Raises BadCall."""
        own = [_value_of(parameter.name, given[parameter.name]) for parameter in self._own]
        fields = {name: _field_value(name, given[name]) for name in self._fields if _is_given(given[name])}
        try:
            return self.recipe(*own, **fields)
        except RuleError as error:
            raise BadCall(error.message) from error

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.recipe, include_extras=True)

    @cached_property
    def _own(self) -> list[inspect.Parameter]:
        parameters = inspect.signature(self.recipe).parameters.values()
        return [parameter for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_KEYWORD]

    @cached_property
    def _fields(self) -> dict[str, Any]:
        """The fields that every recipe takes, from the TypedDict of its keyword arguments."""
        (unpacked,) = (name for name, each in self._parameters.items() if each.kind is inspect.Parameter.VAR_KEYWORD)
        (fields,) = get_args(self._hints[unpacked])
        return get_type_hints(fields, include_extras=True)

    @cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.recipe).parameters


def _own_parameter(parameter: inspect.Parameter, hint: Any) -> click.Parameter:
    if parameter.default is inspect.Parameter.empty:
        complete = COMPLETIONS.get(parameter.name)
        return click.Argument([parameter.name], type=_type_of(parameter.name, hint), shell_complete=complete)
    has_word = parameter.default is None and int in _leaves(hint)
    default = _word_of(parameter.name) if has_word else parameter.default
    return click.Option(
        [_option_name(parameter.name)],
        type=_type_of(parameter.name, hint),
        default=default,
        show_default=default is not None,
    )


def _field_option(name: str, hint: Any) -> click.Option:
    leaves = _leaves(hint)
    if leaves == {bool}:
        return click.Option([f"{_option_name(name)}/--{_OPPOSITES[name]}"], default=None, help=_HELP.get(name))
    return click.Option(
        [_option_name(name)],
        type=_type_of(name, hint),
        multiple=list in leaves,
        metavar=_METAVARS.get(name),
        help=_HELP.get(name, "Only requests with this value; repeatable."),
        shell_complete=COMPLETIONS.get(name),
    )


def _word_of(name: str) -> str:
    """Return the word for None of a parameter."""
    return UNLIMITED if name == TIMES else NEVER


def _option_name(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _type_of(name: str, hint: Any) -> Any:
    """Return the type of a parameter, for click."""
    choices = _choices(hint)
    if choices:
        return click.Choice(choices)
    leaves = _leaves(hint)
    if int in leaves and str not in leaves:
        return _integer_or(_word_of(name)) if type(None) in leaves else click.INT
    return click.STRING


def _integer_or(word: str) -> Callable[[object], int | str]:
    """Return a type of click: an integer, or a word."""

    def convert(value: object) -> int | str:
        if value == word:
            return word
        try:
            return int(str(value))
        except ValueError:
            raise click.BadParameter(f"{value!r} is neither an integer nor {word}.") from None

    return convert


def _leaves(hint: Any) -> set[type]:
    """Return the types in a hint, with `list` if it may be a list."""
    if get_origin(hint) is Annotated:
        return _leaves(get_args(hint)[0])
    if get_origin(hint) is Literal:
        return {str}
    if get_origin(hint) is list:
        return {list, *_leaves(get_args(hint)[0])}
    arguments = get_args(hint)
    return {leaf for argument in arguments for leaf in _leaves(argument)} if arguments else {hint}


def _choices(hint: Any) -> list[str]:
    """Return the values of a Literal, if the hint is one or None."""
    literals = [hint, *get_args(hint)] if get_origin(hint) is not Literal else [hint]
    return [str(value) for each in literals if get_origin(each) is Literal for value in get_args(each)]


def _is_given(value: object) -> bool:
    return value is not None and value != ()


def _value_of(name: str, value: Any) -> Any:
    """Return the value of an argument of a recipe."""
    if value == _word_of(name):
        return None
    # Kafka's errors have names and codes.
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() else value


def _field_value(name: str, value: Any) -> Any:
    """Return the value of a field of the match, in the form of its JSON; several values are a list."""
    if not isinstance(value, tuple):
        return None if name == TIMES and value == UNLIMITED else value
    values = [_match_value(name, each) for each in cast(Sequence[Any], value)]
    return values[0] if len(values) == 1 else values


def _match_value(name: str, value: Any) -> Any:
    if name == HEADER:
        header, separator, text = str(value).partition("=")
        return {"name": header, "value": text} if separator else {"name": header}
    return value


# The options that turn a field off.
_OPPOSITES = {"enabled": "disabled"}
_METAVARS = {HEADER: "NAME[=VALUE]", TIMES: f"INTEGER|{UNLIMITED}"}
_HELP = {
    TIMES: "The number of hits.  [default: that of the recipe]",
    "skip": "The number of matches to skip first.",
    "name": "The name of the rule.  [default: that of the recipe]",
    "enabled": "Add the rule enabled, or disabled.  [default: enabled]",
    KEY: "Only batches with a record of this key, as text; repeatable.",
    HEADER: "Only batches with a record of this header; repeatable.",
}
