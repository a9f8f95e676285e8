"""Outcomes of requests that became known after they were added to the journal: the response, and the faults applied."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import NamedTuple, TypeVar

from .journal_record import RawRecord

# Outcomes kept of each kind: as many as the journal keeps requests, and at least this many. Findings name their fault.
OUTCOMES_MIN = 10_000
# Faults kept for one request. Observe rules never end the search, so there can be many.
FAULTS_MAX = 100

V = TypeVar("V")


class AppliedFault(NamedTuple):
    """A fault that was applied to a request."""

    rule_id: int
    point: str
    kind: str


class ReplacedResponse(NamedTuple):
    """A response with another error code than the log or handler decided. partitions: empty for all."""

    partitions: frozenset[tuple[str, int]]
    error_code: int

    def covers(self, topic: str, partition: int) -> bool:
        """Return whether the error code is the one of this partition."""
        return not self.partitions or (topic, partition) in self.partitions


class RequestOutcomes:
    """Outcomes by request id. The oldest of each kind are deleted beyond outcomes_max."""

    __slots__ = ("_are_answered", "_changed", "_faults", "_handled", "_outcomes_max", "_replaced", "change_count")

    def __init__(self, outcomes_max: int) -> None:
        """Start empty."""
        self._outcomes_max = outcomes_max
        self._are_answered: dict[int, bool] = {}
        self._replaced: dict[int, ReplacedResponse] = {}
        self._faults: dict[int, list[AppliedFault]] = {}
        self._handled: dict[int, RawRecord] = {}
        # How many outcomes were recorded, and the requests of the newest ones.
        self.change_count = 0
        self._changed: deque[int] = deque(maxlen=outcomes_max)

    def answered(self, request_id: int) -> None:
        """Record that the response was written."""
        self._put(self._are_answered, request_id, True)

    def unanswered(self, request_id: int) -> None:
        """Record that the response was not written, or only in part."""
        self._put(self._are_answered, request_id, False)

    def response_replaced(self, request_id: int, partitions: frozenset[tuple[str, int]], error_code: int) -> None:
        """Record the error code that replaced the decided one."""
        self._put(self._replaced, request_id, ReplacedResponse(partitions, error_code))

    def fault_acted(self, request_id: int, rule_id: int, point: str, kind: str) -> None:
        """Record a fault, up to FAULTS_MAX."""
        faults = self._faults.get(request_id)
        if faults is None:
            faults = list[AppliedFault]()
            self._put(self._faults, request_id, faults)
        else:
            self._count_change(request_id)
        if len(faults) < FAULTS_MAX:
            faults.append(AppliedFault(rule_id, point, kind))

    def handled_later(self, request_id: int, raw: RawRecord) -> None:
        """Record the result of a request that a fault withheld first."""
        self._put(self._handled, request_id, raw)
        self._are_answered.pop(request_id, None)

    def find_handled(self, request_id: int) -> RawRecord | None:
        """Return the result of a request that was withheld first and then handled."""
        return self._handled.get(request_id)

    def is_answered(self, request_id: int) -> bool | None:
        """Return whether the response was written; None if the journal's record has the answer."""
        return self._are_answered.get(request_id)

    def find_replaced(self, request_id: int) -> ReplacedResponse | None:
        """Return the replaced error code of the response."""
        return self._replaced.get(request_id)

    def faults_on(self, request_id: int) -> list[AppliedFault]:
        """Return the faults applied to the request, in order."""
        return self._faults.get(request_id, [])

    def changed_since(self, change_count: int) -> list[int]:
        """Return the requests with an outcome recorded after change_count of them; at most the newest outcomes_max."""
        count = min(self.change_count - change_count, len(self._changed))
        return list(dict.fromkeys(islice(self._changed, len(self._changed) - count, None)))

    def clear(self) -> None:
        """Delete all outcomes."""
        for outcomes in (self._are_answered, self._replaced, self._faults, self._handled):
            outcomes.clear()

    def _put(self, outcomes: dict[int, V], request_id: int, outcome: V) -> None:
        if request_id not in outcomes and len(outcomes) >= self._outcomes_max:
            del outcomes[next(iter(outcomes))]
        outcomes[request_id] = outcome
        self._count_change(request_id)

    def _count_change(self, request_id: int) -> None:
        self.change_count += 1
        self._changed.append(request_id)
