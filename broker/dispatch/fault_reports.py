"""What the fault injector reports of a request to the journal, if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..runtime.long_work import in_steps

if TYPE_CHECKING:
    from ...faults.fault import Fault
    from ..requests.encoded_response import Response
    from ..requests.fault_ports import RequestObserver
    from ..runtime.buffers import Buffers
    from .owned_request import OwnedRequest

# The points.
ACCEPTED = "accepted"
RECEIVED = "received"
APPLIED = "applied"
ANSWERING = "answering"


def misplaced(fault: Fault, point: str) -> AssertionError:
    """Return the error for an action at a point where it is impossible."""
    return AssertionError(f"{fault.kind} at {point}: rule_checks.ACTIONS_AT does not allow it")


class FaultReports:
    """Reports to an observer. The first report of a request gives it its id."""

    def __init__(self, observer: RequestObserver | None) -> None:
        """observer: the journal, or None."""
        self._observer = observer

    def handled(self, request: OwnedRequest, state: int) -> None:
        """Report that the request, or the rest of it, was handled. state: RESPONDED, PENDING or NO_RESPONSE."""
        observer = self._observer
        if observer is None:
            return
        if request.request_id:
            observer.applied_later(request.request_id, request, request.size, state)
        else:
            request.take_id(observer.handled(request, request.size, state))

    def not_applied(self, request: OwnedRequest, fault: Fault) -> None:
        """Report that a fault at `received` prevents or delays the request, or a part of it."""
        if self._observer is not None:
            request.take_id(self._observer.not_applied(request, fault))
            self.acted(request, fault, RECEIVED)

    def acted(self, request: OwnedRequest, fault: Fault, point: str) -> None:
        """Report that a fault acts on the request."""
        if self._observer is not None:
            self._observer.fault_acted(request.request_id, fault.rule_id, point, fault.kind)

    def replaced(self, request: OwnedRequest, partitions: frozenset[tuple[str, int]], error_code: int) -> None:
        """Report that the response has an error although the request was applied. partitions: none means all."""
        if self._observer is not None:
            self._observer.response_replaced(request.request_id, partitions, error_code)

    async def responded(self, request: OwnedRequest, response: Response, encoded: Buffers) -> None:
        """Report the response. encoded: its frame."""
        if self._observer is not None:
            kept = self._observer.keep_response(request, request.message, response, encoded)
            self._observer.responded(request.request_id, await in_steps(kept))

    def held(self, request: OwnedRequest, held_ns: int) -> None:
        """Report that a fault has held the request, or its response, for held_ns."""
        if self._observer is not None:
            self._observer.held(request.request_id, held_ns)

    def unanswered(self, request: OwnedRequest) -> None:
        """Report that the response is never written, or not as a whole."""
        if self._observer is not None:
            self._observer.unanswered(request.request_id)
