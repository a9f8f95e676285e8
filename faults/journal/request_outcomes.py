"""What became known of requests after they were put into the journal: what was answered in the end, by which fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from .journal_record import RawRecord

# Requests of which something became known later are remembered as long as the journal keeps requests, and at least so
# many of them: a verdict tells which fault was behind what it finds.
OUTCOMES_MIN = 10_000
# Faults that are told of one request: rules that only observe never end the search for another.
FAULTS_MAX = 100

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class AppliedFault:
    """A fault that acted on a request."""

    rule_id: int
    point: str
    kind: str


@dataclass(frozen=True, slots=True)
class ReplacedResponse:
    """An answer with an error in place of what was decided; for all partitions where none is named."""

    partitions: frozenset[tuple[str, int]]
    error_code: int

    def covers(self, topic: str, partition: int) -> bool:
        """Whether it was told of this partition."""
        return not self.partitions or (topic, partition) in self.partitions


class RequestOutcomes:
    """By the id of the request."""

    __slots__ = ("_acts", "_are_answered", "_handled", "_outcomes_max", "_replaced")

    def __init__(self, outcomes_max: int) -> None:
        """Start without any; the oldest are forgotten where there are more than outcomes_max of a kind."""
        self._outcomes_max = outcomes_max
        self._are_answered: dict[int, bool] = {}
        self._replaced: dict[int, ReplacedResponse] = {}
        self._acts: dict[int, list[AppliedFault]] = {}
        self._handled: dict[int, RawRecord] = {}

    def answered(self, request_id: int) -> None:
        """Note that there was an answer."""
        self._put(self._are_answered, request_id, True)

    def unanswered(self, request_id: int) -> None:
        """Note that there was none, or not a whole one."""
        self._put(self._are_answered, request_id, False)

    def response_replaced(self, request_id: int, partitions: frozenset[tuple[str, int]], error_code: int) -> None:
        """Note that the answer was not the truth."""
        self._put(self._replaced, request_id, ReplacedResponse(partitions, error_code))

    def fault_acted(self, request_id: int, rule_id: int, point: str, kind: str) -> None:
        """Note what a fault did."""
        acts = self._acts.get(request_id)
        if acts is None:
            acts = list[AppliedFault]()
            self._put(self._acts, request_id, acts)
        if len(acts) < FAULTS_MAX:
            acts.append(AppliedFault(rule_id, point, kind))

    def handled_later(self, request_id: int, raw: RawRecord) -> None:
        """Note what is known of a request that was kept back at first."""
        self._put(self._handled, request_id, raw)
        self._are_answered.pop(request_id, None)

    def find_handled(self, request_id: int) -> RawRecord | None:
        """Return what is known of a request that was kept back at first and then handled."""
        return self._handled.get(request_id)

    def is_answered(self, request_id: int) -> bool | None:
        """Whether there was an answer; None if that was known when the request was put into the journal."""
        return self._are_answered.get(request_id)

    def find_replaced(self, request_id: int) -> ReplacedResponse | None:
        """Return how the answer was not the truth."""
        return self._replaced.get(request_id)

    def faults_on(self, request_id: int) -> list[AppliedFault]:
        """Return the faults that acted on the request, in their order."""
        return self._acts.get(request_id, [])

    def clear(self) -> None:
        """Forget all."""
        for outcomes in (self._are_answered, self._replaced, self._acts, self._handled):
            outcomes.clear()

    def _put(self, outcomes: dict[int, V], request_id: int, outcome: V) -> None:
        if request_id not in outcomes and len(outcomes) >= self._outcomes_max:
            del outcomes[next(iter(outcomes))]
        outcomes[request_id] = outcome
