"""Requests for the controller that reach a node without it (Kafka: ForwardingManager).

A broker of Kafka forwards them to the controller, and waits while it cannot be reached. Here every node has the
controller in its process, so that only the wait remains:
1. While the node is cut off from the controller, the request waits.
2. When the node reaches the controller again, the request is handled as if it had just arrived.
3. After FORWARDING_TIMEOUT_MS of the cluster's clock it fails with REQUEST_TIMED_OUT.
Source: ForwardingManagerImpl and NodeToControllerChannelManagerImpl, Kafka 4.3.0; seen on three brokers without their
controller. Kafka refuses what its broker can check alone at once: a broker's configs at another node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...protocol import errors
from ...protocol.api_keys import Api
from ...protocol.error_codes import ErrorCode
from ...protocol.message import Message
from ..runtime.deferred import Deferred
from .encoded_response import awaited

if TYPE_CHECKING:
    from ...protocol.request_facts import Request
    from .encoded_response import Handle, Response
    from .request_context import RequestContext

# The retry timeout of Kafka's channel to the controller (BrokerServer.startup).
FORWARDING_TIMEOUT_MS = 60_000


async def handle_forwarded(context: RequestContext, api: Api, request: Request, handle: Handle) -> Response | None:
    """Handle the request when the node reaches the controller again, or fail with REQUEST_TIMED_OUT."""
    if not await _reached(context):
        context.error_code = code = ErrorCode.REQUEST_TIMED_OUT
        return errors.error_responses.error_response(api, context.api_version, cast(Message, request), code)
    context.now_ms = context.node.clock.now_ms()
    return await awaited(handle(context, request))


def _reached(context: RequestContext) -> Deferred[bool]:
    """Return what completes with whether the node reaches the controller."""
    waiting = context.node.waiting_for_controller

    def end_wait() -> None:
        waiting.pop(reached, None)
        timer.cancel()

    def end(is_reached: bool) -> None:
        end_wait()
        reached.complete(is_reached)

    reached: Deferred[bool] = Deferred(end_wait)
    timer = context.node.clock.call_later(FORWARDING_TIMEOUT_MS, lambda: end(False))
    waiting[reached] = lambda: end(True)
    return reached
