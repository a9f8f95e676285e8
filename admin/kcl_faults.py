"""Fault rules in the format of `kcl fake`: each is translated to a FaultRule.

A kcl fault responds with an error instead of applying the request, for the named partitions, topics or groups. Rules
that are added together share an id. Source: commands/fake/fault.go of twmb/kcl, 2026-09.
Differences: `resource` and `top_level` are not supported. If several rules of one set match a request, the first one
applies; in kcl each applies to its own partitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from msgspec import Meta, Struct, structs

from ..faults.actions import Action, Error, Observe
from ..faults.json_bytes import TEXT_CHARACTERS_MAX
from ..faults.match_values import ANY_OF_MAX
from ..faults.numbers import Natural
from ..faults.rule_error import RuleError
from ..faults.rules.armed_rule import ArmedRule
from ..faults.rules.fault_rules import FaultRule, When
from ..faults.rules.match import Match
from ..faults.rules.near_misses import NearMiss
from ..protocol.api_keys import APIS
from ..protocol.error_codes import ErrorCode
from ..protocol.kafka_uuid import parse_uuid
from ..protocol.similar_names import suggestion

if TYPE_CHECKING:
    from ..broker.cluster import Cluster
    from ..faults.rules.fault_plan import FaultPlan

# More are a mistake of the caller.
RULES_AT_ONCE_MAX = 100
UNTIL_REMOVED = -1
DEFAULT_ERROR = ErrorCode.UNKNOWN_SERVER_ERROR.name
# The names before Kafka 2.6, which kcl still uses.
FORMER_NAMES = {"NOT_LEADER_FOR_PARTITION": ErrorCode.NOT_LEADER_OR_FOLLOWER}

Text = Annotated[str, Meta(max_length=TEXT_CHARACTERS_MAX)]
Numbers = Annotated[list[Natural], Meta(max_length=ANY_OF_MAX)]


class KclRule(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A rule in kcl's format; all given conditions must hold.

    keys: API names in any case, or API keys as text. nodes: the nodes that received the request.
    error: a name or a code, as text. count: the number of hits, 1 by default; -1 until the rule is removed.
    observe: only count.
    """

    keys: Annotated[list[Text], Meta(max_length=ANY_OF_MAX)] = []
    nodes: Numbers = []
    topic: Text = ""
    topic_id: Text = ""
    partitions: Numbers = []
    group: Text = ""
    txn_id: Text = ""
    error: Text = ""
    count: Annotated[int, Meta(ge=UNTIL_REMOVED, le=2**31 - 1)] = 0
    observe: bool = False


class KclRules(Struct, kw_only=True, forbid_unknown_fields=True):
    """Rules to add under one id."""

    rules: Annotated[list[KclRule], Meta(min_length=1, max_length=RULES_AT_ONCE_MAX)]


@dataclass(slots=True, eq=False)
class KclFault:
    """Rules that were added together, as given and as in force."""

    fault_id: int
    rules: list[KclRule]
    armed: list[ArmedRule]

    @property
    def hits(self) -> int:
        """The hits of all rules."""
        return sum(armed.hits for armed in self.armed)

    @property
    def left(self) -> int:
        """The remaining hits of all rules; -1 if one of them has no limit."""
        remaining = [armed.remaining for armed in self.armed]
        return sum(left for left in remaining if left is not None) if None not in remaining else UNTIL_REMOVED

    @property
    def near_misses(self) -> list[NearMiss]:
        """Why requests did not match the rules, rule by rule."""
        return [miss for armed in self.armed for miss in armed.near_misses]

    @property
    def matched_noun(self) -> str:
        """What the rules match: "request"."""
        return "request"

    def when_hits(self, count: int, reached: Callable[[], None]) -> Callable[[], None]:
        """Call reached when the rules have count hits together; return a function that cancels this."""
        cancels: list[Callable[[], None]] = []

        def cancel() -> None:
            while cancels:
                cancels.pop()()

        def check() -> None:
            cancel()
            if self.hits >= count:
                reached()
            else:
                cancels.extend(armed.when_hits(armed.hits + 1, check) for armed in self.armed)

        check()
        return cancel


class KclFaults:
    """The sets of rules in kcl's format. A set is deleted when all its rules are removed."""

    def __init__(self, plan: FaultPlan, cluster: Cluster) -> None:
        """Start without rules."""
        self._plan = plan
        self._cluster = cluster
        self._last_id = 0
        self._faults: dict[int, KclFault] = {}

    def add(self, rules: list[KclRule]) -> KclFault:
        """Add rules under one id. Raises RuleError; then no rule is added."""
        translated = [self._translated(f"rules[{index}]", rule) for index, rule in enumerate(rules)]
        armed: list[ArmedRule] = []
        try:
            for rule in translated:
                armed.append(self._plan.add(rule))
        except RuleError:
            for added in armed:
                self._plan.remove(added.id)
            raise
        self._last_id += 1
        fault = self._faults[self._last_id] = KclFault(self._last_id, [_filled_in(rule) for rule in rules], armed)
        return fault

    def items(self) -> list[KclFault]:
        """Return the sets in force, sorted by id."""
        self._faults = {fault_id: fault for fault_id, fault in self._faults.items() if self._is_in_force(fault)}
        return list(self._faults.values())

    def find(self, fault_id: int) -> KclFault | None:
        """Return the set with this id, or None."""
        return next((fault for fault in self.items() if fault.fault_id == fault_id), None)

    def remove(self, fault: KclFault) -> None:
        """Remove the rules of a set."""
        for armed in fault.armed:
            if self._plan.find(armed.id) is armed:
                self._plan.remove(armed.id)

    def _is_in_force(self, fault: KclFault) -> bool:
        return any(self._plan.find(armed.id) is armed for armed in fault.armed)

    def _translated(self, path: str, rule: KclRule) -> FaultRule:
        if rule.observe and rule.error:
            raise RuleError(
                f"{path}.error", rule.error, "nothing beside observe", "observe and error exclude each other"
            )
        action: Action = Observe() if rule.observe else Error(error=_error_code(f"{path}.error", rule.error))
        match = Match(
            api=[_api_name(f"{path}.keys[{index}]", key) for index, key in enumerate(rule.keys)] or None,
            node=[*rule.nodes] or None,
            topic=self._topic(path, rule) or None,
            partition=[*rule.partitions] or None,
            group_id=rule.group or None,
            transactional_id=rule.txn_id or None,
        )
        times = None if rule.count == UNTIL_REMOVED else rule.count or 1
        return FaultRule(name="of /faults", match=match, when=When(times=times), point="received", action=action)

    def _topic(self, path: str, rule: KclRule) -> str:
        """Return the topic name. A topic id has precedence over a name, as in kcl."""
        if not rule.topic_id:
            return rule.topic
        topic = self._cluster.image.find_topic_by_id(_topic_id(f"{path}.topic_id", rule.topic_id))
        if topic is None:
            raise RuleError(f"{path}.topic_id", rule.topic_id, "the id of a topic", f"no topic has id {rule.topic_id}")
        return topic.name


def _filled_in(rule: KclRule) -> KclRule:
    """Return the rule with its defaults, so that a list shows what is in force."""
    error = rule.error or ("" if rule.observe else DEFAULT_ERROR)
    return structs.replace(rule, error=error, count=rule.count or 1)


def _api_name(path: str, key: str) -> str:
    for api in APIS.values():
        if key.lower() == api.name.lower() or key == str(int(api.key)):
            return api.name
    hint = suggestion(key, (api.name for api in APIS.values()))
    raise RuleError(path, key, "an API name or key", f"there is no API {key!r}{hint}")


def _topic_id(path: str, text: str) -> bytes:
    """Return the bytes of a topic id in Kafka's base64 form or in hexadecimal digits."""
    with suppress(ValueError):
        return parse_uuid(text)
    with suppress(ValueError):
        return UUID(hex=text).bytes
    raise RuleError(path, text, "the id of a topic", f"{text!r} is not the id of a topic")


def _error_code(path: str, name: str) -> int:
    upper = (name or DEFAULT_ERROR).upper()
    former = FORMER_NAMES.get(upper)
    if former is not None:
        return former
    for code in ErrorCode:
        if upper in (code.name, str(int(code))):
            return int(code)
    hint = suggestion(name, ErrorCode.__members__)
    raise RuleError(path, name, "the name or code of a Kafka error", f"there is no error {name!r}{hint}")


# The format of Go's time.ParseDuration.
_DURATION = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)")
_UNIT_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}


def duration_ms(text: str, *, ms_max: int) -> int:
    """Return a duration such as "1m30s" in ms. Raises RuleError."""
    parts = _DURATION.findall(text)
    allowed = f"a duration such as 30s or 500ms, at most {ms_max} ms"
    if "".join(parts) != text or not parts:
        raise RuleError("timeout", text, allowed, f"timeout cannot be {text!r}")
    milliseconds = 0.0
    for part in parts:
        number = part.rstrip("nuµmsh")
        milliseconds += float(number) * _UNIT_MS[part[len(number) :]]
    if milliseconds > ms_max:
        raise RuleError("timeout", text, allowed, f"timeout cannot be {text!r}")
    return int(milliseconds)
