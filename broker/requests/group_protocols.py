"""Requests of protocols of groups that the broker may be configured not to serve, or does not.

Kafka answers UNSUPPORTED_VERSION to each of them, and lists their APIs all the same; which ones it serves is
group.coordinator.rebalance.protocols.
Source: KafkaApis.handleConsumerGroupHeartbeat and those like it, Kafka 4.3.0.
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
    """Whether the broker is configured to serve groups of the protocol."""
    return protocol in config.list_of("group.coordinator.rebalance.protocols")


class DisabledApi:
    """Answers no request of an API: it belongs to a protocol that is not served."""

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Answer UNSUPPORTED_VERSION for everything that the request names."""
        body = memoryview(frame)[position:end]
        context.error_code = ErrorCode.UNSUPPORTED_VERSION
        api = APIS[context.api_key]
        return [error_response(api, context.api_version, context.correlation_id, body, ErrorCode.UNSUPPORTED_VERSION)]


class GroupProtocolApi:
    """Answers the requests of an API as long as its protocol is served."""

    __slots__ = ("_handler", "_protocol", "_refused")

    def __init__(self, protocol: str, handler: RequestHandler) -> None:
        """Have handler answer where the protocol is served."""
        self._protocol = protocol
        self._handler = handler
        self._refused = DisabledApi()

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Answer the request, or refuse it."""
        is_served = serves_protocol(context.node.config, self._protocol)
        return (self._handler if is_served else self._refused).handle(context, frame, position, end)
