"""A fault rule in force: matches requests, counts them and returns a Fault for each hit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ...protocol.api_keys import APIS
from ...protocol.errors.partial_errors import can_report_error
from ..action_refusals import Scope
from ..actions import Error, Observe
from ..fault import Fault
from .fault_rules import FaultRule
from .match import BATCH_FIELDS
from .near_misses import Mismatch, NearMisses
from .request_matcher import Matched, RequestMatcher
from .rule_in_force import RuleInForce

if TYPE_CHECKING:
    from ..request_view import ConnectionView, EvaluatedRequest

_APIS_BY_NAME = {api.name: api for api in APIS.values()}


class ArmedRule(RuleInForce[FaultRule]):
    """A fault rule with its id and counts."""

    def __init__(self, rule_id: int, rule: FaultRule, now_ms: Callable[[], int]) -> None:
        """Arm a valid rule. Its after_ms and until_ms count from now."""
        super().__init__(rule_id, rule, rule.when, now_ms, times=rule.when.times)
        self._near_misses = NearMisses(rule.match)
        self.is_observer = isinstance(rule.action, Observe)
        self.matcher = RequestMatcher(rule.match)
        self._matches_partitions = any(
            getattr(rule.match, name) is not None for name in BATCH_FIELDS if name != "topic"
        )

    @property
    def matched_noun(self) -> str:
        """What the rule matches: "connection" or "request"."""
        return self.rule.matched_noun

    def evaluate_connection(self, connection: ConnectionView) -> Fault | None:
        """Count the connection and return the fault if it is hit."""
        return self._decide(self.matcher.match_connection(connection), "")

    def evaluate(self, request: EvaluatedRequest) -> Fault | None:
        """Count the request and return the fault if it is hit."""
        ahead = cast("Matched | Mismatch | None", request.matched_ahead.get(self.matcher))
        outcome = ahead or self.matcher.match(request)
        if isinstance(outcome, Matched) and not self.rule.action.can_act_on(request, outcome.partitions):
            return None
        return self._decide(outcome, request.api_name)

    def _decide(self, outcome: Matched | Mismatch, api_name: str) -> Fault | None:
        if isinstance(outcome, Mismatch):
            self._near_misses.add(outcome)
            return None
        if not self.count_match():
            return None
        fault = self._fault(outcome, api_name)
        self.notify_waiters()
        return fault

    def _fault(self, matched: Matched, api_name: str) -> Fault:
        action = self.rule.action
        scope = self._scope_of(action, matched, api_name) if isinstance(action, Error) else "request"
        return Fault(rule_id=self.id, action=action, partitions=matched.partitions, topics=matched.topics, scope=scope)

    def _scope_of(self, action: Error, matched: Matched, api_name: str) -> Scope:
        default: Scope = "topic" if matched.topics else "request"
        if self._matches_partitions and matched.partitions:
            default = "partition"
        scope = action.scope or default
        # A rule without `api` also hits APIs whose responses have only a top-level error.
        return scope if can_report_error(_APIS_BY_NAME[api_name], scope) else "request"
