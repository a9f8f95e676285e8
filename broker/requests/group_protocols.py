"""Handlers for the APIs of group protocols that group.coordinator.rebalance.protocols may disable.

As in Kafka, a disabled API is listed in ApiVersions and responds with UNSUPPORTED_VERSION.
Source: KafkaApis.handleConsumerGroupHeartbeat and its neighbours, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...protocol.api_keys import APIS
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.error_responses import error_response

if TYPE_CHECKING:
    from ..config.broker_config import BrokerConfig
    from ..runtime.deferred import Buffers, Deferred
    from .request_context import RequestContext, RequestHandler

CONSUMER_PROTOCOL = "consumer"


def serves_protocol(config: BrokerConfig, protocol: str) -> bool:
    """Whether group.coordinator.rebalance.protocols enables the protocol."""
    return protocol in config.list_of("group.coordinator.rebalance.protocols")


class DisabledApi:
    """Refuses all requests of an API."""

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Return UNSUPPORTED_VERSION for every group or member in the request."""
        body = memoryview(frame)[position:end]
        context.error_code = ErrorCode.UNSUPPORTED_VERSION
        api = APIS[context.api_key]
        return [error_response(api, context.api_version, context.correlation_id, body, ErrorCode.UNSUPPORTED_VERSION)]


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
        is_served = serves_protocol(context.node.config, self._protocol)
        return (self._handler if is_served else self._refused).handle(context, frame, position, end)
