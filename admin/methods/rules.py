"""The fault rules of a broker, for requests and connections and for files, and the handles of rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct

from ...faults import strict_json
from ...faults.files.file_rules import FileRule
from ...faults.numbers import Natural
from ...faults.rule_error import RuleError
from ...faults.rules.fault_rules import FaultRule
from ...faults.rules.near_misses import NearMiss
from ...faults.rules.recipes import RecipeMethods
from ..errors import BrokerStateError, CallError, Unreachable, WaitTimeoutError
from ..operations import file_operations, rule_operations
from ..operations.rule_models import AwaitQuery, AwaitTimeout, Hits, RuleAddress, RuleChange, RuleQuery
from ..paging import NumberPage
from .base import AnyOperation, Methods, Page, Send
from .rule_text import (
    CONFLICT,
    NOT_FOUND,
    AnyInfo,
    address_of,
    description_of,
    lookup_errors,
    read_rule,
    rule_of,
    shown,
)
from .twins import arms, blocking_only

Given = TypeVar("Given", bound=FaultRule | FileRule)

# The default wait of a test. Events that happen at all happen within milliseconds.
AWAIT_TIMEOUT_MS = 5_000
# There is no broker, and so none of its rules.
GONE = (BrokerStateError, Unreachable)


@dataclass(frozen=True)
class RuleKind(Generic[Given]):
    """The operations on rules of one kind, and the class of its rules."""

    rule_type: type[Given]
    add: AnyOperation
    list: Callable[..., Page[Any]]
    get: AnyOperation
    replace: AnyOperation
    change: AnyOperation
    remove: AnyOperation
    clear: AnyOperation
    wait: AnyOperation


OF_REQUESTS = RuleKind(
    FaultRule,
    rule_operations.add_rule,
    rule_operations.list_rules,
    rule_operations.get_rule,
    rule_operations.replace_rule,
    rule_operations.change_rule,
    rule_operations.remove_rule,
    rule_operations.remove_rules,
    rule_operations.await_rule,
)
OF_FILES = RuleKind(
    FileRule,
    file_operations.add_file_rule,
    file_operations.list_file_rules,
    file_operations.get_file_rule,
    file_operations.replace_file_rule,
    file_operations.change_file_rule,
    file_operations.remove_file_rule,
    file_operations.remove_file_rules,
    file_operations.await_file_rule,
)


class Wait(Struct):
    """A wait for count hits."""

    error_type = RuleError

    count: Natural
    timeout_ms: AwaitTimeout


class Rule(Methods):
    """The handle of an armed rule; its counts stay readable after the removal.

    `with faults.lost_ack(topic="orders") as rule:` removes the rule at the end of the block.
    """

    def __init__(self, send: Send, kind: RuleKind[Any], info: AnyInfo) -> None:
        """info: the rule as the broker has it."""
        super().__init__(send)
        self._kind = kind
        self._path = RuleAddress(id=str(info.id))
        self._info = info

    @property
    def id(self) -> int:
        """The id of the rule, counted from 1, the same as in the admin API."""
        return self._info.id

    @property
    def name(self) -> str:
        """The name of the rule; "" without one."""
        return self._info.name

    @property
    def rule(self) -> FaultRule | FileRule:
        """The rule as an object."""
        return rule_of(self._info)

    @property
    def last_info(self) -> AnyInfo:
        """The rule with its counts as the broker returned them last: when it was armed, changed, read or removed."""
        return self._info

    def info(self) -> AnyInfo:
        """Return the rule with its counts as they are now; of a removed rule, as they were when it was removed."""
        self._info = self._send(self._kind.get, {"path": self._path, "query": RuleQuery(removed=True)})
        return self._info

    @property
    def hits(self) -> int:
        """The number of requests, connections or file operations that the rule acted on."""
        info = self.info()
        return info.hits

    @property
    def matched(self) -> int:
        """The number of matches, including those skipped by `skip`, `every` or `probability`."""
        info = self.info()
        return info.matched

    @property
    def remaining(self) -> int | None:
        """The number of remaining hits; None without a limit."""
        info = self.info()
        return info.remaining

    @property
    def last_hit_ms(self) -> int | None:
        """The time of the last hit on the broker's clock; None before the first hit."""
        info = self.info()
        return info.last_hit_ms

    @property
    def near_misses(self) -> list[NearMiss]:
        """Why others did not match, the nearest first."""
        info = self.info()
        return info.near_misses

    @property
    def is_enabled(self) -> bool:
        """Whether the rule is evaluated; False after disable()."""
        info = self.info()
        return info.enabled

    def disable(self) -> None:
        """Disable the rule: it neither matches nor counts, and keeps its place and its counts.

        Raises UnknownRuleError if it was removed.
        """
        self._change(enabled=False)

    def enable(self) -> None:
        """Enable the rule again. Raises UnknownRuleError if it was removed."""
        self._change(enabled=True)

    def _change(self, *, enabled: bool) -> None:
        with lookup_errors():
            self._info = self._send(self._kind.change, {"path": self._path, "body": RuleChange(enabled=enabled)})

    def remove(self) -> None:
        """Remove the rule, if it is armed; held requests and hanging connections stay."""
        try:
            self._info = self._send(self._kind.remove, {"path": self._path})
        except CallError as error:
            if error.status != NOT_FOUND:
                raise

    def await_hits(self, count: int = 1, timeout_ms: int = AWAIT_TIMEOUT_MS) -> int:
        """Wait for at least count hits and return their number; raises WaitTimeoutError with the near misses.

        timeout_ms: in real time, even with a manual clock. Raises RuleError for a negative number.
        """
        wait = strict_json.convert({"count": count, "timeout_ms": timeout_ms}, Wait)
        if not wait.count:
            return self.hits
        query = AwaitQuery(hits=wait.count, timeout_ms=wait.timeout_ms, removed=True)
        try:
            reached: Hits = self._send(self._kind.wait, {"path": self._path, "query": query})
        except WaitTimeoutError as error:
            described = self.describe()
            text = "\n".join([f"{error.hits} of {count} hits after {timeout_ms} ms", *described])
            raise WaitTimeoutError(text, error.hits, error.near_misses) from None
        return reached.hits

    def describe(self) -> list[str]:
        """Return a line with the rule and its counts, and a line for each of the nearest misses."""
        info = self.info()
        return description_of(info)

    def __enter__(self) -> Self:
        """Return the handle."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the rule. A stopped broker has none."""
        with suppress(*GONE):
            self.remove()

    @blocking_only
    def __repr__(self) -> str:
        """Return id, name, action, state and counts in one line."""
        try:
            return shown(self.info())
        except (*GONE, CallError):
            return shown(self._info)


class Rules(Methods, Generic[Given]):
    """The armed rules of one kind."""

    _kind: RuleKind[Given]

    def __init__(self, send: Send) -> None:
        """send: performs an operation on the broker."""
        super().__init__(send)
        self._watched: list[Rule] | None = None

    @arms
    def add(self, rule: Given | Mapping[str, object] | None = None, /, **fields: object) -> Rule:
        """Arm a rule after the existing ones, from an object, the JSON of the admin API, or its fields.

        Raises RuleError if the rule is invalid.
        """
        return self._arm(self._kind.add, {"body": read_rule(self._kind.rule_type, rule, fields)})

    @arms
    def replace(
        self, address: int | str, rule: Given | Mapping[str, object] | None = None, /, **fields: object
    ) -> Rule:
        """Replace the rule with this id or name, and return the handle of the new one, which has its id and place.

        The counts start at 0. rule, fields: as in add. Raises RuleError, UnknownRuleError, AmbiguousRuleError.
        """
        body = read_rule(self._kind.rule_type, rule, fields)
        return self._arm(self._kind.replace, {"path": address_of(address), "body": body})

    def _arm(self, operation: AnyOperation, arguments: Mapping[str, object]) -> Rule:
        with lookup_errors():
            info = self._send(operation, arguments)
        rule = Rule(self._send, self._kind, info)
        if self._watched is not None:
            self._watched = [*(each for each in self._watched if each.id != rule.id), rule]
        return rule

    def get(self, address: int | str) -> Rule:
        """Return the armed rule with this id or name.

        Raises UnknownRuleError, and AmbiguousRuleError with the ids if several rules have the name.
        """
        with lookup_errors():
            info = self._send(self._kind.get, {"path": address_of(address), "query": RuleQuery()})
        return Rule(self._send, self._kind, info)

    @property
    def rules(self) -> list[Rule]:
        """The armed rules, in the order of matching."""
        infos = self._all(self._kind.list, NumberPage())
        return [Rule(self._send, self._kind, info) for info in infos]

    def clear(self) -> list[Any]:
        """Remove all rules and return them with their counts.

        Held requests and hanging connections stay until a release or a reset.
        """
        removed: Page[Any] = self._send(self._kind.clear, {})
        return list(removed.items)

    def __getitem__(self, address: int | str) -> Rule:
        """Return the armed rule with this id or name; as get."""
        return self.get(address)

    @blocking_only
    def __iter__(self) -> Iterator[Rule]:
        """Yield the armed rules, in the order of matching."""
        return iter(self.rules)

    @blocking_only
    def __contains__(self, address: object) -> bool:
        """Return whether there is an armed rule with this id or name."""
        return bool(address) and any(address in (rule.id, rule.name) for rule in self.rules)

    def watch(self) -> None:
        """Start recording the armed rules for watched and unfired."""
        self._watched = []

    @property
    def watched(self) -> list[Rule]:
        """The rules armed since watch, removed ones included."""
        return list(self._watched or ())

    def unfired(self, allowed: Collection[str] = ()) -> list[str]:
        """Return descriptions of the rules armed since watch without a hit; allowed: names of rules to leave out."""
        lines: list[str] = []
        rule: Rule
        for rule in self.watched:
            info = rule.info()
            if not info.hits and info.name not in allowed:
                lines += description_of(info)
        return lines

    def infos(self) -> list[Any]:
        """Return the armed rules and those armed since watch with their counts, in the order of their ids."""
        try:
            infos = self._all(self._kind.list, NumberPage())
        except CallError as error:
            # A broker without file faults.
            if error.status != CONFLICT:
                raise
            return []
        by_id: dict[int, AnyInfo] = {info.id: info for info in infos}
        rule: Rule
        for rule in self.watched:
            if rule.id not in by_id:
                by_id[rule.id] = rule.info()
        return [by_id[rule_id] for rule_id in sorted(by_id)]


class Files(Rules[FileRule]):
    """The fault rules for the files of a broker, in memory or on disk.

    files.add(action="disk_full", path={"regex": "orders-0/.*"}) arms a rule and returns its handle.
    """

    _kind = OF_FILES


class Faults(Rules[FaultRule], RecipeMethods[Rule]):
    """The fault rules for requests and connections, the same that the admin API lists.

    faults.lost_ack(topic="orders", times=2) arms a recipe of fauxka.faults.rules.recipes; faults.add arms any rule:
    faults.add(match={"api": "Fetch"}, point="received", action={"kind": "delay", "ms": 100})
    Both return a handle with the counts. It can wait for hits, and as a `with` block removes the rule.
    faults["lost ack"] and faults[1] return the handle of an armed rule.
    """

    _kind = OF_REQUESTS
