"""Handlers for the APIs of group protocols that a feature level or group.coordinator.rebalance.protocols may disable.

As in Kafka, a disabled API is listed in ApiVersions and responds with UNSUPPORTED_VERSION.
Source: KafkaApis.handleConsumerGroupHeartbeat and its neighbours, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...protocol.api_keys import APIS
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.error_responses import error_response
from ..metadata.features import GROUP_VERSION, SHARE_VERSION
from ..runtime.long_work import in_thread
from .request_context import LARGE_BODY_BYTES

if TYPE_CHECKING:
    from ..runtime.deferred import Buffers, Deferred
    from .request_context import NodeServices, RequestContext, RequestHandler

CONSUMER_PROTOCOL = "consumer"
SHARE_PROTOCOL = "share"


def serves_protocol(node: NodeServices, protocol: str) -> bool:
    """Whether the broker serves groups of the protocol.

    Share groups need a level of share.version, others a level of group.version and their protocol in
    group.coordinator.rebalance.protocols.
    """
    if protocol == SHARE_PROTOCOL:
        return node.image.features.level_of(SHARE_VERSION) > 0
    is_configured = protocol in node.config.list_of("group.coordinator.rebalance.protocols")
    return is_configured and node.image.features.level_of(GROUP_VERSION) > 0


class DisabledApi:
    """Refuses all requests of an API."""

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Return UNSUPPORTED_VERSION for every group or member in the request."""
        context.error_code = ErrorCode.UNSUPPORTED_VERSION
        if end - position > LARGE_BODY_BYTES:
            body = memoryview(bytes(frame[position:end]))
            return context.node.long_work.run(_refuse_large(context, body), context.connection)
        return [_refusal(context, frame[position:end])]


async def _refuse_large(context: RequestContext, body: memoryview) -> Buffers:
    return await in_thread(lambda: [_refusal(context, body)])


def _refusal(context: RequestContext, body: memoryview) -> bytearray:
    api = APIS[context.api_key]
    return error_response(api, context.api_version, context.correlation_id, body, ErrorCode.UNSUPPORTED_VERSION)


class GroupProtocolApi:
    """Handles the requests of an API if its group protocol is enabled."""

    __slots__ = ("_handler", "_protocol", "_refused")

    def __init__(self, protocol: str, handler: RequestHandler) -> None:
        """protocol: for example "consumer". handler: handles the requests if it is enabled."""
        self._protocol = protocol
        self._handler = handler
        self._refused = DisabledApi()

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Handle the request, or refuse it."""
        is_served = serves_protocol(context.node, self._protocol)
        return (self._handler if is_served else self._refused).handle(context, frame, position, end)
