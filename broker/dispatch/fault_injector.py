"""Fault injector: carries out the faults that the fault plan chooses for connections and requests.

Rules:
- Points: `accepted` for a connection; `received`, `applied` and `answering`, in this order, for a request. The plan is
  asked once at each point and returns one fault or none.
- `received` is before the handler: a fault may prevent, delay or repeat the request. `applied` is after the handler:
  the log has changed, the response is not encoded into the queue. `answering` is before the bytes are written.
- A request is copied first (OwnedRequest), so that it can be held, delayed or handled twice. A long one is matched in
  a thread before it is handled (HandledLater).
- A request without a response (acks=0) passes `applied` and not `answering`.
- Every fault that acts is reported to the observer, with the id of its rule and the point.
- rules.rule_checks.ACTIONS_AT decides which action is allowed at which point. Another one here is a programming error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
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
from ..requests.fault_ports import NO_RESPONSE, PENDING, Ending, HandledLater, Outcome, ResponsePlan, joined
from ..requests.request_context import ConnectionInfo, RequestContext, RequestHandler
from ..runtime.deferred import Buffers, Deferred
from ..runtime.long_work import in_thread
from .owned_request import OwnedRequest

if TYPE_CHECKING:
    from ..requests.fault_ports import FaultPlan, RequestObserver
    from ..requests.response_writer import ResponseWriter
    from .held_requests import HeldRequests

logger = logging.getLogger(__name__)

ACCEPTED = "accepted"
RECEIVED = "received"
APPLIED = "applied"
ANSWERING = "answering"

# A corrupted byte has all of its bits inverted.
_ALL_BITS = 0xFF

Late = Deferred[ResponsePlan]


class FaultInjector:
    """Carries out faults on the connections and requests of one node."""

    def __init__(
        self,
        held: HeldRequests,
        topic_name_of: Callable[[bytes], str | None],
        file_faults: FileFaults | None,
        plan: FaultPlan,
        observer: RequestObserver | None,
        crash: Callable[[int | None], None],
    ) -> None:
        """held: empty. crash: stops the node and restarts it after a number of ms, or never for None."""
        self.plan = plan
        self.held = held
        self._clock = held.clock
        self._topic_name_of = topic_name_of
        self._file_faults = file_faults or NoFileFaults()
        self._observer = observer
        self._crash = crash
        # Weak references, because a client may close its connection while it hangs.
        self._hanging_connections: WeakSet[ResponseWriter] = WeakSet()

    def lift(self) -> None:
        """Give up every request and connection that a fault holds, and close the connections."""
        self.held.give_up()
        connections = list(self._hanging_connections)
        self._hanging_connections.clear()
        for connection in connections:
            connection.close()

    # -- accepted

    def accepted(self, connection: ResponseWriter, info: ConnectionInfo) -> None:
        """Carry out the plan's fault for a new connection."""
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
                self._hanging_connections.add(connection)
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
    ) -> Outcome | HandledLater | Deferred[HandledLater]:
        """Handle the request whose body is frame[position:end], with the faults of the plan. Raises FrameError."""
        request = OwnedRequest(context, handler, frame, position, end)
        with self._reports_undecoded(request):
            is_matched_ahead = self.plan.is_matched_ahead(request)
        if is_matched_ahead:
            later: HandledLater | Deferred[HandledLater]
            later = context.node.long_work.run(self._match_and_handle(request), context.connection)
            return later
        outcome = self._start(request)
        context.request_id = request.request_id
        return outcome

    async def _match_and_handle(self, request: OwnedRequest) -> HandledLater:
        with self._reports_undecoded(request):
            await in_thread(lambda: self.plan.match_ahead(request))
        outcome = self._start(request)
        if request.connection.is_closed:
            # The client has gone.
            if isinstance(outcome, Deferred):
                outcome.abandon()
            self._report_unanswered(request)
        return HandledLater(outcome, request.request_id)

    def _start(self, request: OwnedRequest) -> Outcome:
        with self._reports_undecoded(request):
            fault = self.plan.received(request)
        outcome = self._go_on(request) if fault is None else self._receive(request, fault)
        # A plan is written before the next request is handled. That request may crash the node.
        return ResponsePlan(outcome) if isinstance(outcome, list) else outcome

    @contextmanager
    def _reports_undecoded(self, request: OwnedRequest) -> Generator[None]:
        """Report a request whose body does not decode to the observer. Its connection is closed."""
        try:
            yield
        except FrameError:
            self._report_handled(request, PENDING)
            self._report_unanswered(request)
            raise

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
                self._report_not_applied(request, fault)
                return self._hold(request, fault, action, RECEIVED, lambda: self._go_on(request))
            case Drop():
                self._report_not_applied(request, fault)
                return None
            case Close() | Reset() | Crash() as action:
                self._report_not_applied(request, fault)
                return self._end(action)
            case Observe() | Truncate() | Corrupt() | Drip():
                raise _misplaced(fault, RECEIVED)
            case _:
                assert_never(fault.action)

    def _refuse(self, request: OwnedRequest, fault: Fault) -> Outcome:
        """Refuse the partitions that the fault chooses, and handle the rest of the request."""
        self._report_not_applied(request, fault)
        api, version, body = request.api, request.api_version, request.body
        if not error_responses.expects_response(api, version, body):
            # With acks=0 a closed connection is the only sign of an error.
            return ResponsePlan(ending=Ending.CLOSE, is_whole=False)
        if request.is_of_sasl:
            return self._refuse_authentication(request, fault.error_code)
        if fault.scope == "request":
            return [error_responses.error_response(api, version, request.correlation_id, body, fault.error_code)]

        def with_errors(buffers: Buffers) -> Buffers:
            chosen = (fault.chooses, fault.error_code, self._topic_name_of)
            return [error_responses.add_errors(api, version, joined(buffers), body, *chosen)]

        rest = error_responses.remove_selected(api, version, body, fault.chooses, self._topic_name_of)
        if rest is None:
            return with_errors([error_responses.empty_response(api, version, request.correlation_id)])
        request_of_rest = request.with_body(rest)
        request_of_rest.request_id = request.request_id
        outcome = self._go_on(request_of_rest, change=with_errors)
        request.request_id = request_of_rest.request_id
        return outcome

    def _refuse_authentication(self, request: OwnedRequest, code: int) -> Outcome:
        # Lazy: most brokers have no SASL.
        from . import sasl_faults

        if sasl_faults.make_fail(request, code):
            return self._go_on(request)
        response = error_responses.error_response(
            request.api, request.api_version, request.correlation_id, request.body, code
        )
        return sasl_faults.end_after(request, code, [response])

    def _deliver_once_more(self, request: OwnedRequest, fault: Fault) -> None:
        """Handle the request one additional time and drop that response."""
        response = self._handle(request)
        self._report_acted(request, fault, RECEIVED)
        self._report_unanswered(request)
        if isinstance(response, Deferred):
            response.abandon()
        request.request_id = 0

    # -- applied

    def _go_on(
        self,
        request: OwnedRequest,
        throttled_by: Fault | None = None,
        change: Callable[[Buffers], Buffers] | None = None,
    ) -> Outcome:
        """Handle the request and pass its response on to `applied`, now or when it arrives."""

        def applied(buffers: Buffers | None) -> Outcome:
            if not buffers:
                # A long request with acks=0.
                buffers = None
            if buffers is not None and throttled_by is not None:
                buffers = self._throttled(request, buffers, throttled_by)
            if buffers is not None and change is not None:
                buffers = change(buffers)
            return self._applied(request, buffers)

        response = self._handle(request)
        if throttled_by is not None:
            self._report_acted(request, throttled_by, RECEIVED)
        return self._when_complete(request, response, applied)

    def _when_complete(
        self,
        request: OwnedRequest,
        response: Buffers | Deferred[Buffers] | None,
        go_on: Callable[[Buffers | None], Outcome],
    ) -> Outcome:
        """Return the outcome of go_on with the response, now or when it arrives."""
        if not isinstance(response, Deferred):
            return go_on(response)
        late: Late = Deferred(response.abandon, is_applied=response.is_applied)
        response.deliver_to(lambda buffers: self._complete(request, late, lambda: go_on(buffers)), late.fail)
        return late

    def _applied(self, request: OwnedRequest, buffers: Buffers | None) -> Outcome:
        fault = self.plan.applied(request)
        if fault is None:
            return self._answering(request, buffers)
        self._report_acted(request, fault, APPLIED)
        if isinstance(fault.action, Close | Reset | Crash):
            self._report_unanswered(request)
            return self._end(fault.action)
        if isinstance(fault.action, Drop):
            self._report_unanswered(request)
            return None
        # Without a response (acks=0) there is nothing to delay or change.
        return None if buffers is None else self._change_response(request, buffers, fault)

    def _change_response(self, request: OwnedRequest, buffers: Buffers, fault: Fault) -> Outcome:
        """Apply a fault for `applied` to the response."""
        match fault.action:
            case Error():
                return self._respond_with_error(request, self._set_errors(request, buffers, fault), fault.error_code)
            case Throttle():
                return self._answering(request, self._throttled(request, buffers, fault))
            case Delay() | Hold() | Hang() as action:
                return self._hold(request, fault, action, APPLIED, lambda: self._answering(request, buffers))
            case Observe() | Drop() | Close() | Reset() | Crash() | Truncate() | Corrupt() | Drip() | DeliverTwice():
                raise _misplaced(fault, APPLIED)
            case _:
                assert_never(fault.action)

    def _respond_with_error(self, request: OwnedRequest, buffers: Buffers, code: int) -> Outcome:
        if not request.is_of_sasl:
            return self._answering(request, buffers)
        # Lazy: most brokers have no SASL.
        from . import sasl_faults

        response = sasl_faults.end_after(request, code, buffers)
        return self._when_complete(request, response, lambda arrived: self._answering(request, arrived))

    def _set_errors(self, request: OwnedRequest, buffers: Buffers, fault: Fault) -> Buffers:
        chosen = None if fault.scope == "request" else fault.chooses
        response = error_responses.overwrite_errors(
            request.api, request.api_version, joined(buffers), chosen, fault.error_code, self._topic_name_of
        )
        if self._observer is not None:
            named = frozenset[tuple[str, int]]() if chosen is None else fault.partitions
            self._observer.response_replaced(request.request_id, named, fault.error_code)
        return [response]

    def _throttled(self, request: OwnedRequest, buffers: Buffers, fault: Fault) -> Buffers:
        assert isinstance(fault.action, Throttle), "only a Throttle sets throttle_time_ms"
        return [error_responses.set_throttle_time(request.api, request.api_version, buffers, fault.action.ms)]

    # -- answering

    def _answering(self, request: OwnedRequest, buffers: Buffers | None) -> Outcome:
        if buffers is None:
            return None
        fault = self.plan.answering(request)
        if fault is None:
            return buffers
        self._report_acted(request, fault, ANSWERING)
        return self._change_bytes(request, buffers, fault)

    def _change_bytes(self, request: OwnedRequest, buffers: Buffers, fault: Fault) -> Outcome:
        """Apply a fault for `answering` to the bytes of the response."""
        match fault.action:
            case Truncate(bytes=byte_count):
                return ResponsePlan([joined(buffers)[:byte_count]], Ending.CLOSE, is_whole=False)
            case Corrupt(at=at, bytes=byte_count):
                return ResponsePlan([_corrupted(joined(buffers), at, byte_count)], is_whole=False)
            case Drip(bytes=piece_bytes, every_ms=every_ms):
                return ResponsePlan(buffers, piece_bytes=piece_bytes, every_ms=every_ms)
            case Delay() as action:
                return self._hold(request, fault, action, ANSWERING, lambda: buffers)
            case Close() | Reset() as action:
                self._report_unanswered(request)
                return self._end(action)
            case Observe() | Error() | Drop() | Hang() | Hold() | Throttle() | DeliverTwice() | Crash():
                raise _misplaced(fault, ANSWERING)
            case _:
                assert_never(fault.action)

    # -- parts of several points

    def _handle(self, request: OwnedRequest) -> Buffers | Deferred[Buffers] | None:
        """Handle the request and report it to the observer. Raises FrameError."""
        try:
            response = request.handle()
        except Exception:
            self._report_handled(request, PENDING)
            self._report_unanswered(request)
            raise
        self._report_handled(request, NO_RESPONSE if response is None else PENDING)
        if isinstance(response, Deferred):
            response.request_id = request.request_id
        return delay_response(response, self._file_faults, self._clock)

    def _report_handled(self, request: OwnedRequest, state: int) -> None:
        observer = self._observer
        if observer is None:
            return
        if request.request_id:
            observer.applied_later(request.request_id, request, request.size, state)
        else:
            request.request_id = observer.handled(request, request.size, state)

    def _hold(
        self,
        request: OwnedRequest,
        fault: Fault,
        action: Delay | Hold | Hang,
        point: str,
        go_on: Callable[[], Outcome],
    ) -> Late:
        """Hold the request. Returns the response of go_on, pending until the request is resumed."""
        # No request may pass an authentication.
        late: Late = Deferred(is_applied=not request.is_of_sasl, is_in_order=not action.release_order)
        resume = (
            lambda: self._complete(request, late, go_on),
            lambda: late.complete(ResponsePlan(ending=Ending.CLOSE, is_whole=False)),
        )
        held_id = self.held.keep(fault.kind, point, fault.rule_id, request, resume)
        if isinstance(action, Delay):
            self.held.release_after(held_id, action.ms)
        return late

    def _complete(self, request: OwnedRequest, late: Late, go_on: Callable[[], Outcome]) -> None:
        """Complete late with the outcome of go_on. A failure closes the connection, as without a fault."""
        try:
            outcome = go_on()
        except FrameError as error:
            logger.warning("%s closed: %.500s", request.connection, error)
            outcome = ResponsePlan(ending=Ending.CLOSE, is_whole=False)
        except Exception:
            logger.exception("%s closed because of an internal error", request.connection)
            outcome = ResponsePlan(ending=Ending.RESET, is_whole=False)
        self._deliver(request, late, outcome)

    def _deliver(self, request: OwnedRequest, late: Late, outcome: Outcome) -> None:
        if isinstance(outcome, Deferred):
            outcome.deliver_to(lambda later: self._deliver(request, late, later), late.fail)
        elif late.is_done:
            # The connection was closed meanwhile. The request is applied all the same, as one in flight would be.
            self._report_unanswered(request)
        elif outcome is None:
            late.complete(ResponsePlan(is_whole=False))
        else:
            late.complete(outcome if isinstance(outcome, ResponsePlan) else ResponsePlan(outcome))

    def _end(self, action: Close | Reset | Crash) -> ResponsePlan:
        if isinstance(action, Crash):
            self._crash(action.restart_after_ms)
        # A crashed node has closed its sockets already.
        ending = Ending.RESET if isinstance(action, Reset) else Ending.CLOSE
        return ResponsePlan(ending=ending, is_whole=False, is_at_once=True)

    def _report_not_applied(self, request: OwnedRequest, fault: Fault) -> None:
        if self._observer is not None:
            request.request_id = self._observer.not_applied(request, fault)
            self._report_acted(request, fault, RECEIVED)

    def _report_acted(self, request: OwnedRequest, fault: Fault, point: str) -> None:
        if self._observer is not None:
            self._observer.fault_acted(request.request_id, fault.rule_id, point, fault.kind)

    def _report_unanswered(self, request: OwnedRequest) -> None:
        if self._observer is not None:
            self._observer.unanswered(request.request_id)


def _misplaced(fault: Fault, point: str) -> AssertionError:
    return AssertionError(f"{fault.kind} at {point}: rule_checks.ACTIONS_AT does not allow it")


def _corrupted(response: bytes, at: int, byte_count: int) -> bytes:
    """Return the response with all bits inverted in byte_count bytes from position `at`."""
    changed = bytes(byte ^ _ALL_BITS for byte in response[at : at + byte_count])
    return response[:at] + changed + response[at + len(changed) :]
