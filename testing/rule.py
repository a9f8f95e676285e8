"""Handles of armed fault rules: their counts, waiting for hits, removal."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, cast

from msgspec import Struct, to_builtins

from ..faults.actions import kind_of
from ..faults.numbers import Natural
from ..faults.rules.fault_rules import When
from ..faults.rules.near_misses import describe_misses
from ..faults.strict_json import convert
from .calls import AWAIT_TIMEOUT_MS, Call
from .errors import BrokerStateError, WaitTimeoutError

if TYPE_CHECKING:
    from ..faults.files.armed_file_rule import ArmedFileRule
    from ..faults.files.file_rules import FileRule
    from ..faults.rules.armed_rule import ArmedRule
    from ..faults.rules.fault_rules import FaultRule
    from ..faults.rules.near_misses import NearMiss

    Armed = ArmedRule | ArmedFileRule


class ArmedList(Protocol):
    """The rules of one kind."""

    def look_up(self, address: int | str, /) -> Armed:
        """Return the rule with this id or name. Raises UnknownRuleError, AmbiguousRuleError."""
        ...

    def find(self, rule_id: int, /) -> Armed | None:
        """Return a rule by its id."""
        ...

    def set_enabled(self, rule_id: int, is_enabled: bool, /) -> Armed:
        """Enable or disable a rule."""
        ...

    def remove(self, rule_id: int, /) -> Armed:
        """Remove a rule."""
        ...


class ArmedHandle:
    """The handle of an armed rule; its counts stay readable after the removal.

    `with faults.lost_ack(topic="orders") as rule:` removes the rule at the end of the block.
    """

    def __init__(self, armed: Armed, list_of_rules: ArmedList, call: Call) -> None:
        """list_of_rules: the rules of the broker of the kind of armed."""
        self._armed = armed
        self._list = list_of_rules
        self._call = call

    @property
    def id(self) -> int:
        """The id of the rule, counted from 1, the same as in the admin API."""
        return self._armed.id

    @property
    def armed(self) -> Armed:
        """The rule with its counts, as the broker has it; to be read on the broker's thread."""
        return self._armed

    @property
    def rule(self) -> FaultRule | FileRule:
        """The rule as an object."""
        return self._armed.rule

    @property
    def name(self) -> str:
        """The name of the rule; "" without one."""
        return self._armed.rule.name

    @property
    def hits(self) -> int:
        """The number of requests, connections or file operations that the rule acted on."""
        return self._armed.hits

    @property
    def matched(self) -> int:
        """The number of matches, including those skipped by `skip`, `every` or `probability`."""
        return self._armed.matched

    @property
    def remaining(self) -> int | None:
        """The number of remaining hits; None without a limit."""
        return self._armed.remaining

    @property
    def last_hit_ms(self) -> int | None:
        """The time of the last hit on the broker's clock; None before the first hit."""
        return self._armed.last_hit_ms

    @property
    def near_misses(self) -> list[NearMiss]:
        """Why others did not match, the nearest first."""
        return self._call(lambda: self._armed.near_misses)

    @property
    def is_enabled(self) -> bool:
        """Whether the rule is evaluated; False after disable()."""
        return self._armed.is_enabled

    def disable(self) -> None:
        """Disable the rule: it neither matches nor counts, and keeps its place and its counts.

        Raises UnknownRuleError if it was removed.
        """
        self._set_enabled(False)

    def enable(self) -> None:
        """Enable the rule again. Raises UnknownRuleError if it was removed."""
        self._set_enabled(True)

    def _set_enabled(self, is_enabled: bool) -> None:
        self._call(lambda: self._list.set_enabled(self._list.look_up(self._armed.id).id, is_enabled))

    def remove(self) -> None:
        """Remove the rule, if it is armed; held requests and hanging connections stay."""
        self._call(self._remove)

    def _remove(self) -> None:
        if self._list.find(self._armed.id) is not None:
            self._list.remove(self._armed.id)

    def __enter__(self) -> Self:
        """Return the handle."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the rule. A stopped broker has none."""
        with suppress(BrokerStateError):
            self.remove()

    def __repr__(self) -> str:
        """Return id, name, action, state and counts in one line."""
        state = "" if self.is_enabled else ", disabled"
        return (
            f"<rule {self.id} {self.name!r}: {action_text(self.rule)}{state}, {self.hits} hits, {self.matched} matched>"
        )

    def describe(self) -> list[str]:
        """Return a line with the rule and its counts, and a line for each of the nearest misses."""
        given = json.dumps(without_defaults(to_builtins(self.rule)))
        return [
            f"rule {self.id} {self.name!r}: {self.hits} hits, {self.matched} matched: {given}",
            *(f"    {line}" for line in describe_misses(self.near_misses, self._armed.matched_noun)),
        ]

    def _timeout_error(self, count: int, timeout_ms: int) -> WaitTimeoutError:
        lines = [f"{self.hits} of {count} hits after {timeout_ms} ms", *self.describe()]
        return WaitTimeoutError("\n".join(lines), self.hits, self.near_misses)


class _Wait(Struct):
    count: Natural
    timeout_ms: Natural


class Rule(ArmedHandle):
    """The handle of a rule of Broker."""

    def await_hits(self, count: int = 1, timeout_ms: int = AWAIT_TIMEOUT_MS) -> int:
        """Wait for at least count hits and return their number; raises WaitTimeoutError with the near misses.

        timeout_ms: in real time, even with a manual clock. Raises RuleError for a negative number.
        """
        convert({"count": count, "timeout_ms": timeout_ms}, _Wait)
        reached = threading.Event()
        cancel = self._call(lambda: self._armed.when_hits(count, reached.set))
        if not reached.wait(timeout_ms / 1000):
            self._call(cancel)
            raise self._timeout_error(count, timeout_ms)
        return self.hits


class AsyncRule(ArmedHandle):
    """The handle of a rule of AsyncBroker."""

    async def await_hits(self, count: int = 1, timeout_ms: int = AWAIT_TIMEOUT_MS) -> int:
        """Wait for at least count hits and return their number; raises WaitTimeoutError with the near misses.

        Raises RuleError for a negative number.
        """
        convert({"count": count, "timeout_ms": timeout_ms}, _Wait)
        reached = asyncio.Event()
        cancel = self._armed.when_hits(count, reached.set)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await reached.wait()
        except TimeoutError:
            raise self._timeout_error(count, timeout_ms) from None
        finally:
            cancel()
        return self.hits


def action_text(rule: FaultRule | FileRule) -> str:
    """Return what a rule does: "close at applied" of a FaultRule, "tear" of a FileRule."""
    if isinstance(rule.action, str):
        return rule.action
    point = getattr(rule, "point", "")
    return f"{kind_of(rule.action)} at {point}"


def without_defaults(rule: object) -> dict[str, object]:
    """Return the JSON fields of a rule without default values."""
    fields = cast("dict[str, object]", rule)
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", {}, DEFAULT_WHEN) and not (name == "enabled" and value)
    }


DEFAULT_WHEN: dict[str, object] = to_builtins(When())
