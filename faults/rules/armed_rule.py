"""A rule in force: it looks at requests, counts, and says what it does to those that it hits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .fault import Fault
from .match_outcome import Matched, Mismatch
from .near_misses import NearMiss, NearMisses
from .rule_counts import RuleCounts

if TYPE_CHECKING:
    from ...protocol.request_view import AcceptedConnection, MatchedRequest
    from .fault_rules import FaultRule


class ArmedRule(RuleCounts):
    """A rule with its id and its counts."""

    def __init__(self, rule_id: int, rule: FaultRule, now_ms: Callable[[], int]) -> None:
        """Arm the rule, which has been checked; its times count from now."""
        # Only whoever has a rule has msgspec loaded; the broker's start has not.
        from .fault_template import FaultTemplate
        from .request_matcher import RequestMatcher

        super().__init__(rule.when, now_ms, times=rule.when.times)
        self.id = rule_id
        self.rule = rule
        self.is_observer = rule.action.__struct_config__.tag == "observe"
        self._near_misses = NearMisses(rule.match)
        self._matcher = RequestMatcher(rule.match)
        self._template = FaultTemplate(rule_id, rule)

    @property
    def near_misses(self) -> list[NearMiss]:
        """What kept requests from matching, those that came furthest first."""
        return self._near_misses.told()

    def ask_connection(self, connection: AcceptedConnection) -> Fault | None:
        """Count the connection, and return what the rule does to it if it hits."""
        return self._decide(self._matcher.look_at_connection(connection), "")

    def ask(self, request: MatchedRequest) -> Fault | None:
        """Count the request, and return what the rule does to it if it hits."""
        return self._decide(self._matcher.look_at(request), request.api_name)

    def _decide(self, outcome: Matched | Mismatch, api_name: str) -> Fault | None:
        if isinstance(outcome, Mismatch):
            self._near_misses.add(outcome)
            return None
        if not self.count_match():
            return None
        fault = self._template.fault(outcome, api_name)
        self.tell_waiters()
        return fault
