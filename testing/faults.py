"""What goes wrong with requests, connections and files: rules by recipe, as data, as the JSON of the admin API."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, cast

from ..faults import strict_json
from ..faults.files.file_rules import FileRule
from ..faults.rules import recipes
from ..faults.rules.fault_rules import FaultRule
from .calls import Call
from .rule import ArmedHandle, AsyncRule, Rule

if TYPE_CHECKING:
    from .rule import Armed

Parameters = ParamSpec("Parameters")
AnyRule = TypeVar("AnyRule", bound=ArmedHandle)
Data = TypeVar("Data", bound=FaultRule | FileRule)
Rule_contra = TypeVar("Rule_contra", contravariant=True)
MakeHandle = Callable[["Armed", Callable[[int], None], Call], AnyRule]


class Plan(Protocol[Rule_contra]):
    """The rules of one kind that are in force; see RuleList."""

    def add(self, rule: Rule_contra, /) -> Armed:
        """Put a rule behind those in force."""
        ...

    @property
    def rules(self) -> Sequence[Armed]:
        """Those in force."""
        ...

    def find(self, rule_id: int, /) -> Armed | None:
        """Return one by its id."""
        ...

    def remove(self, rule_id: int, /) -> Armed:
        """Lift one."""
        ...

    def clear(self) -> None:
        """Lift all."""
        ...


class ArmedRecipe(Generic[Parameters]):
    """A recipe as a method: what it returns is armed at once."""

    def __init__(self, recipe: Callable[Parameters, FaultRule]) -> None:
        """See fauxka.faults.rules.recipes for what each does and takes."""
        self._recipe = recipe
        self.__doc__ = recipe.__doc__

    def __get__(self, faults: ArmedFaults[AnyRule], owner: object = None) -> Callable[Parameters, AnyRule]:
        """Return the method."""

        def arm(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> AnyRule:
            return faults.add(self._recipe(*arguments, **keywords))

        return arm


class Rules(ABC, Generic[AnyRule, Data]):
    """The rules of one kind, as data of type Data."""

    def __init__(self, plan: Plan[Data], data_type: type[Data], call: Call, make: MakeHandle[AnyRule]) -> None:
        """plan: of the broker. call: runs a function on its thread. make: of an armed rule what a test gets."""
        self._plan = plan
        self._data_type = data_type
        self._call = call
        self._make = make
        self._watched: list[AnyRule] | None = None

    def add(self, rule: Data | Mapping[str, object] | None = None, /, **fields: object) -> AnyRule:
        """Arm a rule behind those in force: as data, as the admin API takes it, or by its fields.

        Raises RuleError for a rule that cannot be.
        """
        given = rule if isinstance(rule, self._data_type) else self._read(rule, fields)
        handle = self._handle_of(self._call(lambda: self._plan.add(given)))
        if self._watched is not None:
            self._watched.append(handle)
        return handle

    @property
    def rules(self) -> list[AnyRule]:
        """The rules in force, in the order in which they are asked."""
        return [self._handle_of(armed) for armed in self._call(lambda: self._plan.rules)]

    def clear(self) -> None:
        """Lift all; what they hold or hang stays as it is, until it is released or the broker is reset."""
        self._call(self._plan.clear)

    def watch(self) -> None:
        """Remember from now on which rules are armed; see unfired."""
        self._watched = []

    def unfired(self, allowed: Collection[str] = ()) -> list[str]:
        """Return lines on those that were armed since watch and never acted, but for those of an allowed name."""
        rules = [rule for rule in self._watched or () if rule.hits == 0 and rule.name not in allowed]
        return [line for rule in rules for line in rule.told()]

    def _read(self, rule: object, fields: Mapping[str, object]) -> Data:
        given = {**cast("Mapping[str, object]", rule or {}), **fields}
        return strict_json.convert(given, self._data_type)

    def _handle_of(self, armed: Armed) -> AnyRule:
        return self._make(armed, self._lift, self._call)

    def _lift(self, rule_id: int) -> None:
        if self._plan.find(rule_id) is not None:
            self._plan.remove(rule_id)


class ArmedFiles(Rules[AnyRule, FileRule]):
    """What goes wrong with the files of a broker, in memory or on a disk.

    files.add(action="disk_full", path={"regex": "orders-0/.*"}) arms a rule; it is used like one for requests.
    """


class ArmedFaults(Rules[AnyRule, FaultRule]):
    """What goes wrong with requests and connections; the rules are the same that the admin API lists.

    faults.lost_ack(topic="orders", times=2) arms a recipe of fauxka.faults.rules.recipes, and faults.add any rule:
    faults.add(match={"api": "Fetch"}, point="received", action={"kind": "delay", "ms": 100})
    Both return the armed rule: it counts, can be waited for, and is lifted at the end of a `with` block.
    """

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
    refused_connections = ArmedRecipe(recipes.refused_connections)
    hanging_connections = ArmedRecipe(recipes.hanging_connections)
    crash_after_append = ArmedRecipe(recipes.crash_after_append)
    crash_before_append = ArmedRecipe(recipes.crash_before_append)
    observed = ArmedRecipe(recipes.observed)


# As a test names them: those of a Broker, and those of an AsyncBroker.
Faults: TypeAlias = ArmedFaults[Rule]
Files: TypeAlias = ArmedFiles[Rule]
AsyncFaults: TypeAlias = ArmedFaults[AsyncRule]
AsyncFiles: TypeAlias = ArmedFiles[AsyncRule]
