"""Fault injector: carries out the faults that the fault plan chooses for connections and requests.

Rules:
- Points: `accepted` for a connection; `received`, `applied` and `answering`, in this order, for a request. The plan is
  asked once at each point and returns one fault or none.
- `received` is before the handler: a fault may prevent, delay or repeat the request. `applied` is after the handler:
  the log has changed, the response is not encoded into the queue. `answering` is before the bytes are written.
- A request is copied first (OwnedRequest), so that it can be held, delayed or handled twice. A long one is decoded and
  matched in a thread.
- A request without a response (acks=0) passes `applied` and not `answering`. An injected response to a request that is
  not applied passes `answering`.
- Every fault that acts is reported to the observer, with the id of its rule and the point.
- rules.rule_checks.ACTIONS_AT decides which action is allowed at which point. Another one here is a programming error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic_ns
from typing import TYPE_CHECKING, assert_never, cast

from ...faults.actions import (
    Close,
    Corrupt,
    CorruptRecord,
    Crash,
    Delay,
    DeliverTwice,
    Drip,
    Drop,
    Error,
    Hang,
    Hold,
    HoldMarkers,
    Observe,
    Reset,
    Throttle,
    Truncate,
)
from ...faults.fault import Fault
from ...protocol.codec_messages import request_message, response_message, without_selected
from ...protocol.errors.error_responses import empty_response, error_response
from ...protocol.errors.partial_errors import SelectedParts, overwrite_errors
from ...protocol.fetch_codec import FetchRequest
from ...protocol.frames import FrameError
from ...protocol.message_fields import number_in
from ...protocol.produce_codec import ProduceRequest
from ..replica.disk_fault_injector import FileFaults, NoFileFaults, delay_response
from ..requests.encoded_response import encode_response
from ..requests.fault_ports import NO_RESPONSE, PENDING, Ending, ResponsePlan, joined
from ..requests.request_context import RequestContext
from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred
from ..runtime.long_work import in_thread
from . import sasl_faults, transaction_faults
from .connection_faults import ConnectionFaults
from .fault_reports import ANSWERING, APPLIED, RECEIVED, FaultReports, misplaced
from .owned_request import OwnedRequest
from .throttling import set_throttle_time

if TYPE_CHECKING:
    from ...protocol.message import Message
    from ..requests.connection_info import ConnectionInfo
    from ..requests.encoded_response import Response
    from ..requests.fault_ports import FaultPlan, RequestObserver
    from ..requests.response_writer import ResponseWriter
    from .held_requests import HeldRequests
    from .pipeline import Pipeline

logger = logging.getLogger(__name__)


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
        self._reports = FaultReports(observer)
        self._crash = crash
        self.connections = ConnectionFaults(self._clock)

    def lift(self) -> None:
        """Give up every request and connection that a fault holds, and close the connections."""
        self.held.give_up()
        self.connections.close_hanging()

    def accepted(self, connection: ResponseWriter, info: ConnectionInfo) -> None:
        """Carry out the plan's fault for a new connection."""
        fault = self.plan.accepted(info)
        if fault is not None:
            self.connections.carry_out(connection, fault)

    # -- received

    def handle(
        self, context: RequestContext, pipeline: Pipeline, frame: memoryview, position: int, end: int
    ) -> ResponsePlan | Deferred[ResponsePlan] | None:
        """Handle the request whose body is frame[position:end], with the faults of the plan. Raises FrameError."""
        request = OwnedRequest(context, pipeline, frame, position, end)
        outcome = context.node.long_work.run(self._pass(request), context.connection, may_pass=True)
        if isinstance(outcome, Deferred):
            request.result = cast("Deferred[object]", outcome)
            outcome.request_id = request.request_id
        context.request_id = request.request_id
        return cast("ResponsePlan | Deferred[ResponsePlan] | None", outcome)

    async def _pass(self, request: OwnedRequest) -> ResponsePlan | None:
        """Pass the request through the pipeline and the points. A late failure closes the connection."""
        try:
            plan = await self._receive(request)
        except FrameError as error:
            if request.result is None:
                raise
            logger.warning("%s closed: %.500s", request.connection, error)
            plan = ResponsePlan(ending=Ending.CLOSE, is_whole=False)
        if request.result is None:
            return plan
        if request.connection.is_closed:
            # The request is applied all the same, as one in flight would be.
            self._reports.unanswered(request)
        return plan or ResponsePlan(is_whole=False)

    async def _receive(self, request: OwnedRequest) -> ResponsePlan | None:
        try:
            await request.decode()
            if self.plan.is_matched_ahead(request):
                await in_thread(lambda: self.plan.match_ahead(request))
            fault = self.plan.received(request)
        except FrameError:
            self._reports.handled(request, PENDING)
            self._reports.unanswered(request)
            raise
        return await (self._apply(request) if fault is None else self._carry_out_received(request, fault))

    async def _carry_out_received(self, request: OwnedRequest, fault: Fault) -> ResponsePlan | None:
        match fault.action:
            case Error():
                return await self._refuse(request, fault)
            case Throttle():
                return await self._apply(request, throttled_by=fault)
            case HoldMarkers():
                return await self._apply_without_markers(request, fault)
            case DeliverTwice():
                await self._deliver_once_more(request, fault)
                return await self._apply(request)
            case Delay() | Hold() | Hang() as action:
                return await self._apply_later(request, fault, action)
            case Drop() | Close() | Reset() | Crash() as action:
                self._reports.not_applied(request, fault)
                return self._end(action)
            case Observe() | Truncate() | Corrupt() | CorruptRecord() | Drip():
                raise misplaced(fault, RECEIVED)
            case _:
                assert_never(fault.action)

    async def _apply_later(
        self, request: OwnedRequest, fault: Fault, action: Delay | Hold | Hang
    ) -> ResponsePlan | None:
        self._reports.not_applied(request, fault)
        is_released = await self._hold(request, fault, action, RECEIVED)
        return await self._apply(request) if is_released else _GIVEN_UP

    async def _refuse(self, request: OwnedRequest, fault: Fault) -> ResponsePlan | None:
        """Refuse the partitions that the fault chooses, and handle the rest of the request."""
        self._reports.not_applied(request, fault)
        api, version, code = request.api, request.api_version, fault.error_code
        if number_in(request.message, "acks", 1) == 0:
            # With acks=0 a closed connection is the only sign of an error.
            return ResponsePlan(ending=Ending.CLOSE, is_whole=False)
        if request.is_of_sasl:
            return await self._refuse_authentication(request, code)
        message = request_message(request.message, version)
        if fault.scope == "request":
            return await self._answering(request, error_response(api, version, message, code, request.release))
        parts = SelectedParts(api, message, fault.chooses, self._topic_name_of)
        if not parts.remove(version):
            response = empty_response(api)
            parts.add_errors(response, code)
            return await self._answering(request, response)
        if parts and isinstance(request.message, ProduceRequest | FetchRequest):
            without_selected(request.message, version, fault.chooses, self._topic_name_of)
        request.part_was_refused()
        return await self._apply(request, refused=parts, code=code)

    async def _refuse_authentication(self, request: OwnedRequest, code: int) -> ResponsePlan | None:
        if sasl_faults.make_fail(request, code):
            return await self._apply(request)
        message = request_message(request.message, request.api_version)
        response = error_response(request.api, request.api_version, message, code)
        return await self._end_authentication(request, response, code)

    async def _end_authentication(self, request: OwnedRequest, response: Message, code: int) -> ResponsePlan | None:
        ended = sasl_faults.end_after(request, code, response)
        return await self._answering(request, await ended if isinstance(ended, Deferred) else ended)

    async def _deliver_once_more(self, request: OwnedRequest, fault: Fault) -> None:
        """Handle the request one additional time and drop that response."""
        handled = self._begin(request)
        self._reports.acted(request, fault, RECEIVED)
        self._reports.unanswered(request)
        if isinstance(handled, Deferred):
            handled.abandon()
        request.take_id(0)

    # -- applied

    async def _apply(
        self,
        request: OwnedRequest,
        *,
        throttled_by: Fault | None = None,
        refused: SelectedParts | None = None,
        code: int = 0,
    ) -> ResponsePlan | None:
        """Handle the request and pass its response on to `applied`. refused: parts that get the error code."""
        response = await self._handled(request, throttled_by)
        if response is not None and throttled_by is not None:
            assert isinstance(throttled_by.action, Throttle), "only a Throttle sets throttle_time_ms"
            set_throttle_time(response, throttled_by.action.ms)
        if response is not None and refused is not None:
            response = response_message(response, request.api_version)
            refused.add_errors(response, code)
        return await self._applied(request, response)

    async def _apply_without_markers(self, request: OwnedRequest, fault: Fault) -> ResponsePlan | None:
        """Handle an EndTxn, and hold the markers of its transaction."""
        hold = transaction_faults.MarkerHold(request)
        response = await self._handled(request, fault)
        if hold.ends_transaction():
            self.held.keep(fault.kind, RECEIVED, fault.rule_id, request, (hold.release, hold.release_soon))
        return await self._applied(request, response)

    async def _handled(self, request: OwnedRequest, fault: Fault | None) -> Response | None:
        """Handle the request. fault: what acts on it meanwhile."""
        handled = self._begin(request)
        if fault is not None:
            self._reports.acted(request, fault, RECEIVED)
        return await handled if isinstance(handled, Deferred) else handled

    def _begin(self, request: OwnedRequest) -> Response | Deferred[Response | None] | None:
        """Begin to handle the request, and report it to the observer. Raises FrameError."""
        request.now_ms = self._clock.now_ms()
        request.batches = None
        try:
            handled = request.node.long_work.run(self._completed(request), request.connection, may_pass=True)
        except Exception:
            self._reports.handled(request, PENDING)
            self._reports.unanswered(request)
            raise
        self._reports.handled(request, NO_RESPONSE if handled is None else PENDING)
        if isinstance(handled, Deferred):
            handled.take_request_id(request.request_id)
        return delay_response(handled, self._file_faults, self._clock)

    async def _completed(self, request: OwnedRequest) -> Response | None:
        response = await request.pipeline.completed(request, request.message)
        request.is_long |= request.node.long_work.is_interrupted
        return response

    async def _applied(self, request: OwnedRequest, response: Response | None) -> ResponsePlan | None:
        request.note_response(response)
        fault = self.plan.applied(request)
        if fault is None:
            return await self._answering(request, response)
        self._reports.acted(request, fault, APPLIED)
        if isinstance(fault.action, Drop | Close | Reset | Crash):
            self._reports.unanswered(request)
            return self._end(fault.action)
        # Without a response (acks=0) there is nothing to delay or change.
        return None if response is None else await self._change_response(request, response, fault)

    async def _change_response(self, request: OwnedRequest, response: Response, fault: Fault) -> ResponsePlan | None:
        """Apply a fault for `applied` to the response."""
        match fault.action:
            case Error():
                changed = self._set_errors(request, response, fault)
                if request.is_of_sasl:
                    return await self._end_authentication(request, changed, fault.error_code)
                return await self._answering(request, changed)
            case CorruptRecord() as action:
                action.damage(request, fault.partitions)
                return await self._answering(request, response)
            case Throttle(ms=ms):
                set_throttle_time(response, ms)
                return await self._answering(request, response)
            case Delay() | Hold() | Hang() as action:
                if await self._hold(request, fault, action, APPLIED):
                    return await self._answering(request, response)
                return _GIVEN_UP
            case (
                Observe()
                | Drop()
                | Close()
                | Reset()
                | Crash()
                | Truncate()
                | Corrupt()
                | Drip()
                | DeliverTwice()
                | HoldMarkers()
            ):
                raise misplaced(fault, APPLIED)
            case _:
                assert_never(fault.action)

    def _set_errors(self, request: OwnedRequest, response: Response, fault: Fault) -> Message:
        chosen = None if fault.scope == "request" else fault.chooses
        message = response_message(response, request.api_version)
        overwrite_errors(request.api, message, chosen, fault.error_code, self._topic_name_of)
        named = frozenset[tuple[str, int]]() if chosen is None else fault.partitions
        self._reports.replaced(request, named, fault.error_code)
        return message

    # -- answering

    async def _answering(self, request: OwnedRequest, response: Response | None) -> ResponsePlan | None:
        if response is None:
            return None
        if request.is_long:
            buffers = await in_thread(lambda: encode_response(request, response))
        else:
            buffers = encode_response(request, response)
        await self._reports.responded(request, response, buffers)
        fault = self.plan.answering(request)
        if fault is None:
            return ResponsePlan(buffers)
        self._reports.acted(request, fault, ANSWERING)
        return await self._change_bytes(request, buffers, fault)

    async def _change_bytes(self, request: OwnedRequest, buffers: Buffers, fault: Fault) -> ResponsePlan | None:
        """Apply a fault for `answering` to the bytes of the response."""
        match fault.action:
            case Truncate(bytes=byte_count):
                return ResponsePlan([joined(buffers)[:byte_count]], Ending.CLOSE, is_whole=False)
            case Corrupt() as action:
                return ResponsePlan([action.damaged(joined(buffers))], is_whole=False)
            case Drip(bytes=piece_bytes, every_ms=every_ms):
                return ResponsePlan(buffers, piece_bytes=piece_bytes, every_ms=every_ms)
            case Delay() as action:
                is_released = await self._hold(request, fault, action, ANSWERING)
                return ResponsePlan(buffers) if is_released else _GIVEN_UP
            case Close() | Reset() as action:
                self._reports.unanswered(request)
                return self._end(action)
            case (
                Observe()
                | Error()
                | Drop()
                | Hang()
                | Hold()
                | Throttle()
                | DeliverTwice()
                | Crash()
                | HoldMarkers()
                | CorruptRecord()
            ):
                raise misplaced(fault, ANSWERING)
            case _:
                assert_never(fault.action)

    async def _hold(self, request: OwnedRequest, fault: Fault, action: Delay | Hold | Hang, point: str) -> bool:
        """Hold the request. Return true when it is released, and false when it is given up."""
        # No request may pass an authentication.
        may_be_passed = not (action.mute or request.is_of_sasl)
        released: Deferred[bool] = Deferred(is_applied=may_be_passed, is_in_order=not action.release_order)
        callbacks = (lambda: released.complete(True), lambda: released.complete(False))
        held_id = self.held.keep(fault.kind, point, fault.rule_id, request, callbacks)
        if isinstance(action, Delay):
            self.held.release_after(held_id, action.ms)
        began_ns = monotonic_ns()
        is_released = await released
        self._reports.held(request, monotonic_ns() - began_ns)
        return is_released

    def _end(self, action: Drop | Close | Reset | Crash) -> ResponsePlan | None:
        """End the connection, or only send no response."""
        if isinstance(action, Drop):
            return None
        if isinstance(action, Crash):
            self._crash(action.restart_after_ms)
        # A crashed node has closed its sockets already.
        ending = Ending.RESET if isinstance(action, Reset) else Ending.CLOSE
        return ResponsePlan(ending=ending, is_whole=False, is_at_once=True)


# The response to a held request that is not applied any more.
_GIVEN_UP = ResponsePlan(ending=Ending.CLOSE, is_whole=False)
