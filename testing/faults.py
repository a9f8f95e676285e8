"""Fault rules of a test: by recipe, as FaultRule or FileRule, or as the JSON of the admin API."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar, cast

from ..faults import strict_json
from ..faults.files.file_rules import FileRule
from ..faults.rules.fault_rules import FaultRule
from ..faults.rules.recipes import RecipeMethods
from .calls import Call
from .errors import RuleError
from .rule import ArmedHandle, ArmedList, AsyncRule, Rule

if TYPE_CHECKING:
    from .rule import Armed

AnyRule = TypeVar("AnyRule", bound=ArmedHandle)
Data = TypeVar("Data", bound=FaultRule | FileRule)
Rule_contra = TypeVar("Rule_contra", contravariant=True)
MakeHandle = Callable[["Armed", ArmedList, Call], AnyRule]


class Plan(ArmedList, Protocol[Rule_contra]):
    """The armed rules of one kind, and how to change them."""

    def add(self, rule: Rule_contra, /) -> Armed:
        """Arm a rule after the existing ones."""
        ...

    @property
    def rules(self) -> Sequence[Armed]:
        """The armed rules."""
        ...

    def replace(self, rule_id: int, rule: Rule_contra, /) -> Armed:
        """Replace a rule; the new one has its id and place."""
        ...

    def clear(self) -> None:
        """Remove all rules."""
        ...


class Rules(ABC, Generic[AnyRule, Data]):
    """The armed rules of one kind; Data is FaultRule or FileRule."""

    _data_type: type[Data]

    def __init__(self, plan: Plan[Data], call: Call, make: MakeHandle[AnyRule]) -> None:
        """plan: the broker's rules. call: runs a function on its thread. make: returns the handle of an armed rule."""
        self._plan = plan
        self._call = call
        self._make = make
        self._watched: list[AnyRule] | None = None

    def add(self, rule: Data | Mapping[str, object] | None = None, /, **fields: object) -> AnyRule:
        """Arm a rule after the existing ones, from an object, the JSON of the admin API, or its fields.

        Raises RuleError if the rule is invalid.
        """
        given = self._read(rule, fields)
        return self._watch(self._call(lambda: self._plan.add(given)))

    def replace(
        self, address: int | str, rule: Data | Mapping[str, object] | None = None, /, **fields: object
    ) -> AnyRule:
        """Replace the rule with this id or name, and return the handle of the new one, which has its id and place.

        The counts start at 0. rule, fields: as in add. Raises RuleError, UnknownRuleError, AmbiguousRuleError.
        """
        given = self._read(rule, fields)
        armed = self._call(lambda: self._plan.replace(self._plan.look_up(address).id, given))
        if self._watched is not None:
            self._watched = [rule for rule in self._watched if rule.id != armed.id]
        return self._watch(armed)

    def __getitem__(self, address: int | str) -> AnyRule:
        """Return the armed rule with this id or name.

        Raises UnknownRuleError, and AmbiguousRuleError with the ids if several rules have the name.
        """
        return self._handle_of(self._call(lambda: self._plan.look_up(address)))

    def __iter__(self) -> Iterator[AnyRule]:
        """Yield the armed rules, in the order of matching."""
        return iter(self.rules)

    def __contains__(self, address: object) -> bool:
        """Return whether there is an armed rule with this id or name."""
        rules = self._call(lambda: self._plan.rules)
        return bool(address) and any(address in (armed.id, armed.name) for armed in rules)

    @property
    def rules(self) -> list[AnyRule]:
        """The armed rules, in the order of matching."""
        return [self._handle_of(armed) for armed in self._call(lambda: self._plan.rules)]

    def clear(self) -> None:
        """Remove all rules; held requests and hanging connections stay until a release or a reset."""
        self._call(self._plan.clear)

    def watch(self) -> None:
        """Start recording the armed rules for watched and unfired."""
        self._watched = []

    @property
    def watched(self) -> list[AnyRule]:
        """The rules armed since watch, removed ones included."""
        return list(self._watched or ())

    def unfired(self, allowed: Collection[str] = ()) -> list[str]:
        """Return descriptions of the rules armed since watch without a hit; allowed: names of rules to leave out."""
        rules = [rule for rule in self.watched if rule.hits == 0 and rule.name not in allowed]
        return [line for rule in rules for line in rule.describe()]

    def _read(self, rule: object, fields: Mapping[str, object]) -> Data:
        if isinstance(rule, self._data_type):
            return rule
        if not isinstance(rule, Mapping | None):
            allowed = f"a {self._data_type.__name__}, a dict as in the admin API, or fields as arguments"
            raise RuleError("", ascii(rule), allowed, f"cannot add {rule!a}; allowed: {allowed}")
        given = {**cast("Mapping[str, object]", rule or {}), **fields}
        return strict_json.convert(given, self._data_type)

    def _watch(self, armed: Armed) -> AnyRule:
        handle = self._handle_of(armed)
        if self._watched is not None:
            self._watched.append(handle)
        return handle

    def _handle_of(self, armed: Armed) -> AnyRule:
        return self._make(armed, self._plan, self._call)


class ArmedFiles(Rules[AnyRule, FileRule]):
    """The fault rules for the files of a broker, in memory or on disk.

    files.add(action="disk_full", path={"regex": "orders-0/.*"}) arms a rule and returns its handle.
    """

    _data_type = FileRule


class ArmedFaults(Rules[AnyRule, FaultRule], RecipeMethods[AnyRule]):
    """The fault rules for requests and connections, the same that the admin API lists.

    faults.lost_ack(topic="orders", times=2) arms a recipe of fauxka.faults.rules.recipes; faults.add arms any rule:
    faults.add(match={"api": "Fetch"}, point="received", action={"kind": "delay", "ms": 100})
    Both return a handle with the counts of the rule. It can wait for hits, and as a `with` block removes the rule.
    faults["lost ack"] and faults[1] return the handle of an armed rule.
    """

    _data_type = FaultRule


# The types of Broker.faults and .files, and of AsyncBroker.faults and .files.
Faults: TypeAlias = ArmedFaults[Rule]
Files: TypeAlias = ArmedFiles[Rule]
AsyncFaults: TypeAlias = ArmedFaults[AsyncRule]
AsyncFiles: TypeAlias = ArmedFiles[AsyncRule]
