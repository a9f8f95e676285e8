"""The fault rules in force, and the fault that they choose at each point of a request.

Points: `accepted` (a connection, before its first request), `received` (before the handler), `applied` (after the
handler) and `answering` (the bytes of the response, before they are sent).

Order: at each point the rules of that point are evaluated in order. The first that hits ends the search: later rules
neither match nor count that request. An Observe rule only counts and never ends the search.

Match, then count: all fields of `match` must hold (match.py). A match adds to `matched`. `when` then decides whether it
is a hit: the window from after_ms to until_ms, then `skip`, `every` and `probability`, until `times` hits. A match
outside the window, or after the last hit, does not count for `skip` and `every`. The random generator belongs to the
rule and starts at `seed`, so the same rules and requests give the same hits.

Scope: an Error without a scope applies to the partitions that matched if the match has a field of a partition or
batch, else to the topics that matched, else to the whole request. Other actions apply to the whole request.

A disabled rule is not evaluated and counts nothing.

Cost: without enabled rules a request costs one attribute test (`is_armed`). With a rule for any point but `accepted`,
the broker copies every request and evaluates the rules of each point, cheapest field first: fields of the header and
connection, then the decoded body (`facts`), then records. A rule that fails on its `api` does not decode the body, and
only `key` and `header` decode records. A long body is decoded and matched in a thread (`match_ahead`), before the
points are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...protocol.batches.record_batch import HEADER_SIZE, parse_header
from .. import rules
from .rule_list import RuleList

if TYPE_CHECKING:
    from ..fault import Fault
    from ..request_view import ConnectionView, EvaluatedRequest
    from .armed_rule import ArmedRule
    from .fault_rules import FaultRule


class FaultPlan(RuleList["FaultRule", "ArmedRule"]):
    """The fault rules of one broker.

    is_armed: whether there is an enabled rule for requests. is_accepting_armed: the same for connections.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Start without rules. now_ms: the broker's clock."""
        super().__init__()
        self.is_armed = False
        self.is_accepting_armed = False
        self._now_ms = now_ms
        self._accepted: tuple[ArmedRule, ...] = ()
        self._received: tuple[ArmedRule, ...] = ()
        self._applied: tuple[ArmedRule, ...] = ()
        self._answering: tuple[ArmedRule, ...] = ()

    def _arm(self, rule_id: int, rule: FaultRule) -> ArmedRule:
        rules.rule_checks.check_rule(rule)
        return rules.armed_rule.ArmedRule(rule_id, rule, self._now_ms)

    def accepted(self, connection: ConnectionView) -> Fault | None:
        """Return the fault for a new connection."""
        for armed in self._accepted:
            fault = armed.evaluate_connection(connection)
            if fault is not None and not armed.is_observer:
                return fault
        return None

    def is_matched_ahead(self, request: EvaluatedRequest) -> bool:
        """Return whether to match the request in a thread, because a rule decodes a long body or compressed records.

        Raises FrameError if the body does not decode.
        """
        readers = [armed for armed in self._of_requests() if armed.matcher.reads_body(request)]
        if not readers:
            return False
        if request.is_long:
            return True
        return any(armed.matcher.reads_records for armed in readers) and any(
            len(batch.records) >= HEADER_SIZE and parse_header(batch.records).is_compressed
            for batch in request.facts.batches
        )

    def match_ahead(self, request: EvaluatedRequest) -> None:
        """Match all rules, for the points to come. Counts nothing, so it may run in a thread.

        Raises FrameError if the body does not decode.
        """
        for armed in self._of_requests():
            request.matched_ahead[armed.matcher] = armed.matcher.match(request)

    def _of_requests(self) -> tuple[ArmedRule, ...]:
        return self._received + self._applied + self._answering

    def received(self, request: EvaluatedRequest) -> Fault | None:
        """Return the fault for a request that is not handled yet. Raises FrameError if its body does not decode."""
        return _decide(self._received, request)

    def applied(self, request: EvaluatedRequest) -> Fault | None:
        """Return the fault for a request that was handled and has no response yet."""
        return _decide(self._applied, request)

    def answering(self, request: EvaluatedRequest) -> Fault | None:
        """Return the fault for the bytes of a response."""
        return _decide(self._answering, request)

    def _changed(self) -> None:
        """Group the rules by point."""
        self._accepted = self._at("accepted")
        self._received = self._at("received")
        self._applied = self._at("applied")
        self._answering = self._at("answering")
        self.is_armed = bool(self._received or self._applied or self._answering)
        self.is_accepting_armed = bool(self._accepted)

    def _at(self, point: str) -> tuple[ArmedRule, ...]:
        return tuple(armed for armed in self.enabled_rules if armed.rule.point == point)


def _decide(rules: tuple[ArmedRule, ...], request: EvaluatedRequest) -> Fault | None:
    for armed in rules:
        fault = armed.evaluate(request)
        if fault is not None and not armed.is_observer:
            return fault
    return None
