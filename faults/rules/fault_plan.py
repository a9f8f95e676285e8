"""The rules in force, in order, and what they decide at each point that a request passes.

Rules are asked in order; the first that hits acts and ends the search, so those behind it neither match nor count that
request. One that observes counts and never ends it. Without msgspec, which only those load who have a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .rule_list import RuleList

if TYPE_CHECKING:
    from ..fault import Fault
    from ..request_view import ConnectionView, MatchedRequest
    from .armed_rule import ArmedRule
    from .fault_rules import FaultRule


class FaultPlan(RuleList["FaultRule", "ArmedRule"]):
    """The rules of one broker.

    is_armed: whether any rule is for requests. is_accepting_armed: whether any is for connections as they come.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Start without rules; now_ms: the broker's clock."""
        super().__init__()
        self.is_armed = False
        self.is_accepting_armed = False
        self._now_ms = now_ms
        self._accepted: tuple[ArmedRule, ...] = ()
        self._received: tuple[ArmedRule, ...] = ()
        self._applied: tuple[ArmedRule, ...] = ()
        self._answering: tuple[ArmedRule, ...] = ()

    def _arm(self, rule_id: int, rule: FaultRule) -> ArmedRule:
        # Loaded with the first rule: a broker that starts has none.
        from .armed_rule import ArmedRule
        from .rule_checks import check_rule

        check_rule(rule)
        return ArmedRule(rule_id, rule, self._now_ms)

    def accepted(self, connection: ConnectionView) -> Fault | None:
        """Return what is done to a connection that came."""
        for armed in self._accepted:
            fault = armed.evaluate_connection(connection)
            if fault is not None and not armed.is_observer:
                return fault
        return None

    def received(self, request: MatchedRequest) -> Fault | None:
        """Return what is done to a request of which nothing is applied. Raises FrameError, as its facts do."""
        return _decide(self._received, request)

    def applied(self, request: MatchedRequest) -> Fault | None:
        """Return what is done to a request that was applied and is not answered."""
        return _decide(self._applied, request)

    def answering(self, request: MatchedRequest) -> Fault | None:
        """Return what is done to the bytes of a request's answer."""
        return _decide(self._answering, request)

    def _changed(self) -> None:
        """Sort the rules by point."""
        self._accepted = self._at("accepted")
        self._received = self._at("received")
        self._applied = self._at("applied")
        self._answering = self._at("answering")
        self.is_armed = bool(self._received or self._applied or self._answering)
        self.is_accepting_armed = bool(self._accepted)

    def _at(self, point: str) -> tuple[ArmedRule, ...]:
        return tuple(armed for armed in self.rules if armed.rule.point == point)


def _decide(rules: tuple[ArmedRule, ...], request: MatchedRequest) -> Fault | None:
    for armed in rules:
        fault = armed.evaluate(request)
        if fault is not None and not armed.is_observer:
            return fault
    return None
