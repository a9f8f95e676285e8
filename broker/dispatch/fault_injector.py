"""Carries out what rules say: at `accepted` for a connection; at `received`, `applied` and `answering` for a request.

This is the one place where anything goes wrong with requests on purpose. The plan says what; here it is done. A request
that gets here has been copied, so that it can be held, delayed or handled twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never
from weakref import WeakSet

from ...faults.actions import (
    Close,
    Corrupt,
    Crash,
    Delay,
    DeliverTwice,
    Drip,
    Drop,
    Error,
    Hang,
    Hold,
    Observe,
    Reset,
    Throttle,
    Truncate,
)
from ...faults.fault import Fault
from ...protocol.errors import error_responses
from ...protocol.frames import FrameError
from ..replica.disk_fault_injector import FileFaults, NoFileFaults, delay_response
from ..requests.fault_ports import NO_RESPONSE, PENDING, Ending, ResponsePlan, joined
from ..requests.request_context import ConnectionInfo, RequestContext, RequestHandler
from ..runtime.deferred import Buffers, Deferred
from .held_requests import HeldRequests
from .owned_request import OwnedRequest

if TYPE_CHECKING:
    from ..requests.fault_ports import FaultPlan, RequestObserver
    from ..requests.response_writer import ResponseWriter
    from ..runtime.clock import AdjustableClock

logger = logging.getLogger(__name__)

ACCEPTED = "accepted"
RECEIVED = "received"
APPLIED = "applied"
ANSWERING = "answering"

# What a corrupted byte is changed by: every bit of it.
_ALL_BITS = 0xFF

# What becomes of a request: an answer, a plan for one, a wait for either; None where nothing is answered.
Outcome = Buffers | ResponsePlan | Deferred[ResponsePlan] | Deferred[Buffers] | None
Late = Deferred[ResponsePlan]


class FaultInjector:
    """What goes wrong on one node."""

    def __init__(
        self,
        clock: AdjustableClock,
        topic_name_of: Callable[[bytes], str | None],
        file_faults: FileFaults | None,
        plan: FaultPlan,
        observer: RequestObserver | None,
        crash: Callable[[int | None], None],
    ) -> None:
        """plan: says what goes wrong. crash: stops the node, to be started again after so many ms, None for never."""
        self.plan = plan
        self.held = HeldRequests(clock)
        self._clock = clock
        self._topic_name_of = topic_name_of
        self._file_faults = file_faults or NoFileFaults()
        self._observer = observer
        self._crash = crash
        # Those that hang; one that its client has closed is forgotten by itself.
        self._kept_connections: WeakSet[ResponseWriter] = WeakSet()

    def lift(self) -> None:
        """Give up every request and connection that a fault keeps: the connections are closed."""
        self.held.give_up()
        connections = list(self._kept_connections)
        self._kept_connections.clear()
        for connection in connections:
            connection.close()

    # -- accepted

    def accepted(self, connection: ResponseWriter, info: ConnectionInfo) -> None:
        """Do to a new connection what the plan says."""
        fault = self.plan.accepted(info)
        if fault is None:
            return
        match fault.action:
            case Close():
                connection.close()
            case Reset():
                connection.reset()
            case Drip(bytes=piece_bytes, every_ms=every_ms):
                connection.slow_down(piece_bytes, every_ms)
            case Hang():
                connection.hang()
                self._kept_connections.add(connection)
            case Delay(ms=delay_ms):
                connection.hang()
                self._clock.call_later(delay_ms, connection.wake)
            case Observe() | Error() | Drop() | Hold() | Truncate() | Corrupt() | Throttle() | DeliverTwice() | Crash():
                raise _misplaced(fault, ACCEPTED)
            case _:
                assert_never(fault.action)

    # -- received

    def handle(
        self, context: RequestContext, handler: RequestHandler, frame: memoryview, position: int, end: int
    ) -> Outcome:
        """Answer the request whose body is frame[position:end], or do what the plan says; raises FrameError."""
        request = OwnedRequest(context, handler, frame, position, end)
        fault = self.plan.received(request)
        outcome = self._go_on(request) if fault is None else self._receive(request, fault)
        context.request_id = request.context.request_id
        # Written before the next request is looked at, which may be the last that this node sees.
        return ResponsePlan(outcome) if isinstance(outcome, list) else outcome

    def _receive(self, request: OwnedRequest, fault: Fault) -> Outcome:
        match fault.action:
            case Error():
                return self._refuse(request, fault)
            case Throttle():
                return self._go_on(request, fault)
            case DeliverTwice():
                self._deliver_once_more(request, fault)
                return self._go_on(request)
            case Delay() | Hold() | Hang() as action:
                self._not_applied(request, fault)
                return self._keep(request, fault, action, RECEIVED, lambda: self._go_on(request))
            case Drop():
                self._not_applied(request, fault)
                return None
            case Close() | Reset() | Crash() as action:
                self._not_applied(request, fault)
                return self._end(action)
            case Observe() | Truncate() | Corrupt() | Drip():
                raise _misplaced(fault, RECEIVED)
            case _:
                assert_never(fault.action)

    def _refuse(self, request: OwnedRequest, fault: Fault) -> Outcome:
        """Answer an error to what the fault chooses of the request, and have the rest of it handled."""
        self._not_applied(request, fault)
        api, version, body = request.api, request.api_version, request.body
        if not error_responses.expects_response(api, version, body):
            # With acks=0 the closed connection is all that tells of an error.
            return ResponsePlan(ending=Ending.CLOSE, is_whole=False)
        if fault.scope == "request":
            return [error_responses.error_response(api, version, request.correlation_id, body, fault.error_code)]

        def with_errors(buffers: Buffers) -> Buffers:
            chosen = (fault.chooses, fault.error_code, self._topic_name_of)
            return [error_responses.add_errors(api, version, joined(buffers), body, *chosen)]

        rest = error_responses.remove_selected(api, version, body, fault.chooses, self._topic_name_of)
        if rest is None:
            return with_errors([error_responses.empty_response(api, version, request.correlation_id)])
        request_of_rest = request.with_body(rest)
        request_of_rest.context.request_id = request.context.request_id
        outcome = self._go_on(request_of_rest, change=with_errors)
        request.context.request_id = request_of_rest.context.request_id
        return outcome

    def _deliver_once_more(self, request: OwnedRequest, fault: Fault) -> None:
        """Have the request handled as if it had come before, too, with an answer that got lost."""
        answer = self._handle(request)
        self._acted(request, fault, RECEIVED)
        self._unanswered(request)
        if isinstance(answer, Deferred):
            answer.abandon()
        request.context.request_id = 0

    # -- applied

    def _go_on(
        self,
        request: OwnedRequest,
        throttled_by: Fault | None = None,
        change: Callable[[Buffers], Buffers] | None = None,
    ) -> Outcome:
        """Have the request handled, and go on with its answer, now or when it is there."""

        def applied(buffers: Buffers | None) -> Outcome:
            if buffers is not None and throttled_by is not None:
                buffers = self._throttled(request, buffers, throttled_by)
            if buffers is not None and change is not None:
                buffers = change(buffers)
            return self._applied(request, buffers)

        answer = self._handle(request)
        if throttled_by is not None:
            self._acted(request, throttled_by, RECEIVED)
        if not isinstance(answer, Deferred):
            return applied(answer)
        late: Late = Deferred(answer.abandon, is_applied=answer.is_applied)
        answer.deliver_to(lambda buffers: self._complete(request, late, lambda: applied(buffers)))
        return late

    def _applied(self, request: OwnedRequest, buffers: Buffers | None) -> Outcome:
        fault = self.plan.applied(request)
        if fault is None:
            return self._answering(request, buffers)
        self._acted(request, fault, APPLIED)
        match fault.action:
            case Close() | Reset() | Crash() as action:
                self._unanswered(request)
                return self._end(action)
            case Drop():
                self._unanswered(request)
                return None
            case _ if buffers is None:
                # A request without a response (acks=0) has none that could be late or wrong.
                return None
            case Error():
                return self._answering(request, self._lie(request, buffers, fault))
            case Throttle():
                return self._answering(request, self._throttled(request, buffers, fault))
            case Delay() | Hold() | Hang() as action:
                return self._keep(request, fault, action, APPLIED, lambda: self._answering(request, buffers))
            case Observe() | Truncate() | Corrupt() | Drip() | DeliverTwice():
                raise _misplaced(fault, APPLIED)
            case _:
                assert_never(fault.action)

    def _lie(self, request: OwnedRequest, buffers: Buffers, fault: Fault) -> Buffers:
        chosen = None if fault.scope == "request" else fault.chooses
        answer = error_responses.overwrite_errors(
            request.api, request.api_version, joined(buffers), chosen, fault.error_code, self._topic_name_of
        )
        if self._observer is not None:
            named = frozenset[tuple[str, int]]() if chosen is None else fault.partitions
            self._observer.response_replaced(request.context.request_id, named, fault.error_code)
        return [answer]

    def _throttled(self, request: OwnedRequest, buffers: Buffers, fault: Fault) -> Buffers:
        assert isinstance(fault.action, Throttle), "only a Throttle sets throttle_time_ms"
        return [error_responses.set_throttle_time(request.api, request.api_version, joined(buffers), fault.action.ms)]

    # -- answering

    def _answering(self, request: OwnedRequest, buffers: Buffers | None) -> Outcome:
        if buffers is None:
            return None
        fault = self.plan.answering(request)
        if fault is None:
            return buffers
        self._acted(request, fault, ANSWERING)
        match fault.action:
            case Truncate(bytes=byte_count):
                return ResponsePlan([joined(buffers)[:byte_count]], Ending.CLOSE, is_whole=False)
            case Corrupt(at=at, bytes=byte_count):
                return ResponsePlan([_corrupted(joined(buffers), at, byte_count)], is_whole=False)
            case Drip(bytes=piece_bytes, every_ms=every_ms):
                return ResponsePlan(buffers, piece_bytes=piece_bytes, every_ms=every_ms)
            case Delay() as action:
                return self._keep(request, fault, action, ANSWERING, lambda: buffers)
            case Close() | Reset() as action:
                self._unanswered(request)
                return self._end(action)
            case Observe() | Error() | Drop() | Hang() | Hold() | Throttle() | DeliverTwice() | Crash():
                raise _misplaced(fault, ANSWERING)
            case _:
                assert_never(fault.action)

    # -- what several points do

    def _handle(self, request: OwnedRequest) -> Buffers | Deferred[Buffers] | None:
        """Have the request handled, and written down; raises FrameError."""
        try:
            answer = request.handle()
        except Exception:
            self._handled(request, PENDING)
            self._unanswered(request)
            raise
        self._handled(request, NO_RESPONSE if answer is None else PENDING)
        if isinstance(answer, Deferred):
            answer.request_id = request.context.request_id
        return delay_response(answer, self._file_faults, self._clock)

    def _handled(self, request: OwnedRequest, state: int) -> None:
        observer, context = self._observer, request.context
        if observer is None:
            return
        if context.request_id:
            observer.applied_later(context.request_id, context, request.size, state)
        else:
            context.request_id = observer.handled(context, request.size, state)

    def _keep(
        self,
        request: OwnedRequest,
        fault: Fault,
        action: Delay | Hold | Hang,
        point: str,
        go_on: Callable[[], Outcome],
    ) -> Late:
        """Keep the request. Returns the response of go_on, pending until the request is released."""
        late: Late = Deferred(is_applied=True, is_in_order=not action.release_order)
        resume = (
            lambda: self._complete(request, late, go_on),
            lambda: late.complete(ResponsePlan(ending=Ending.CLOSE, is_whole=False)),
        )
        held_id = self.held.keep(fault.kind, point, fault.rule_id, request, resume)
        if isinstance(action, Delay):
            self.held.release_after(held_id, action.ms)
        return late

    def _complete(self, request: OwnedRequest, late: Late, go_on: Callable[[], Outcome]) -> None:
        """Give late what go_on returns; the connection is closed where it fails, as where it fails at once."""
        try:
            outcome = go_on()
        except FrameError as error:
            logger.warning(
                "connection %d of %s closed: %s",
                request.connection.connection_id,
                request.connection.client_host,
                error,
            )
            outcome = ResponsePlan(ending=Ending.CLOSE, is_whole=False)
        except Exception:
            logger.exception(
                "connection %d of %s closed by a fault of ours",
                request.connection.connection_id,
                request.connection.client_host,
            )
            outcome = ResponsePlan(ending=Ending.RESET, is_whole=False)
        self._give(request, late, outcome)

    def _give(self, request: OwnedRequest, late: Late, outcome: Outcome) -> None:
        if isinstance(outcome, Deferred):
            outcome.deliver_to(lambda later: self._give(request, late, later))
        elif late.is_done:
            # Its client has gone; it was applied all the same, as a request is that was on its way.
            self._unanswered(request)
        elif outcome is None:
            late.complete(ResponsePlan(is_whole=False))
        else:
            late.complete(outcome if isinstance(outcome, ResponsePlan) else ResponsePlan(outcome))

    def _end(self, action: Close | Reset | Crash) -> ResponsePlan:
        if isinstance(action, Crash):
            self._crash(action.restart_after_ms)
        # A node that crashed has closed its sockets itself.
        ending = Ending.RESET if isinstance(action, Reset) else Ending.CLOSE
        return ResponsePlan(ending=ending, is_whole=False, is_at_once=True)

    def _not_applied(self, request: OwnedRequest, fault: Fault) -> None:
        if self._observer is not None:
            request.context.request_id = self._observer.not_applied(request, fault)
            self._acted(request, fault, RECEIVED)

    def _acted(self, request: OwnedRequest, fault: Fault, point: str) -> None:
        if self._observer is not None:
            self._observer.fault_acted(request.context.request_id, fault.rule_id, point, fault.kind)

    def _unanswered(self, request: OwnedRequest) -> None:
        if self._observer is not None:
            self._observer.unanswered(request.context.request_id)


def _misplaced(fault: Fault, point: str) -> AssertionError:
    return AssertionError(f"{fault.kind} at {point}: rule_checks.ACTIONS_AT does not allow it")


def _corrupted(answer: bytes, at: int, byte_count: int) -> bytes:
    """Return the answer with every bit of byte_count bytes from `at` on changed."""
    changed = bytes(byte ^ _ALL_BITS for byte in answer[at : at + byte_count])
    return answer[:at] + changed + answer[at + len(changed) :]
