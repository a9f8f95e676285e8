"""Requests for the controller that reach a node without it (Kafka: ForwardingManager).

A broker of Kafka forwards them to the controller, and waits while it cannot be reached. Here every node has the
controller in its process, so that only the wait remains:
1. While the node is cut off from the controller, the request waits, with a copy of its body.
2. When the node reaches the controller again, the request is handled as if it had just arrived.
3. After FORWARDING_TIMEOUT_MS of the cluster's clock it fails with REQUEST_TIMED_OUT.
Source: ForwardingManagerImpl and NodeToControllerChannelManagerImpl, Kafka 4.3.0; seen on three brokers without their
controller. Kafka refuses what its broker can check alone at once: a broker's configs at another node.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ...protocol.api_keys import Api, ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FrameError
from ..runtime.deferred import Buffers, Deferred

if TYPE_CHECKING:
    from .request_context import RequestContext, RequestHandler

logger = logging.getLogger(__name__)

# The retry timeout of Kafka's channel to the controller (BrokerServer.startup).
FORWARDING_TIMEOUT_MS = 60_000

FORWARDED = frozenset(
    {
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.CREATE_ACLS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_ACLS,
        ApiKey.DELETE_TOPICS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.ELECT_LEADERS,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.UPDATE_FEATURES,
    }
)


class ForwardingHandler:
    """A RequestHandler whose requests wait while the node cannot reach the controller."""

    __slots__ = ("_api", "_handler")

    def __init__(self, api: Api, handler: RequestHandler) -> None:
        """handler: handles the requests of the API on a node that reaches the controller."""
        self._api = api
        self._handler = handler

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Handle the request now or later. Raises FrameError if it is handled now and does not decode."""
        if context.node.reaches_controller:
            return self._handler.handle(context, frame, position, end)
        return self._wait(context, bytes(frame[position:end]))

    def _wait(self, context: RequestContext, body: bytes) -> Deferred[Buffers]:
        waiting = context.node.waiting_for_controller
        deferred: Deferred[Buffers] = Deferred()

        def end_wait() -> None:
            waiting.pop(deferred, None)
            timer.cancel()

        def reached() -> None:
            end_wait()
            deferred.on_abandoned = None
            self._handle_later(context, body, deferred)

        def timed_out() -> None:
            end_wait()
            deferred.complete_with(lambda: self._timed_out(context, body))

        timer = context.node.clock.call_later(FORWARDING_TIMEOUT_MS, timed_out)
        waiting[deferred] = reached
        deferred.on_abandoned = end_wait
        return deferred

    def _handle_later(self, context: RequestContext, body: bytes, deferred: Deferred[Buffers]) -> None:
        context.now_ms = context.node.clock.now_ms()
        try:
            response = self._handler.handle(context, memoryview(body), 0, len(body))
        except FrameError as error:
            logger.warning("%s closed: %.500s", context.connection, error)
            deferred.fail()
            return
        assert response is not None, "only a Produce has no response"
        if isinstance(response, Deferred):
            deferred.on_abandoned = response.abandon
            response.deliver_to(deferred.complete, deferred.fail)
        else:
            deferred.complete(response)

    def _timed_out(self, context: RequestContext, body: bytes) -> Buffers:
        # Few requests end like this.
        from ...protocol.errors.error_responses import error_response

        context.error_code = code = ErrorCode.REQUEST_TIMED_OUT
        view = memoryview(body)
        return [error_response(self._api, context.api_version, context.correlation_id, view, code)]
