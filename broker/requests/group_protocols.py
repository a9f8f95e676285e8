"""Handlers for the APIs of group protocols that a feature level or group.coordinator.rebalance.protocols may disable.

As in Kafka, a disabled API is listed in ApiVersions and responds with UNSUPPORTED_VERSION. The response has no message
that says what to do; the log does.
Source: KafkaApis.handleConsumerGroupHeartbeat and its neighbours, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ...protocol.api_keys import APIS
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.error_responses import error_response
from ...protocol.message import Message
from ..metadata.features import GROUP_VERSION, SHARE_VERSION, STREAMS_VERSION
from ..runtime.long_work import Step, in_thread
from .request_context import LARGE_BODY_BYTES

if TYPE_CHECKING:
    from .request_context import NodeServices, RequestContext

logger = logging.getLogger(__name__)

Q = TypeVar("Q", bound=Message)
R = TypeVar("R")

CONSUMER_PROTOCOL = "consumer"
SHARE_PROTOCOL = "share"
STREAMS_PROTOCOL = "streams"

_LEVELS = {CONSUMER_PROTOCOL: GROUP_VERSION, SHARE_PROTOCOL: SHARE_VERSION, STREAMS_PROTOCOL: STREAMS_VERSION}


def serves_protocol(node: NodeServices, protocol: str) -> bool:
    """Whether the broker serves groups of the protocol.

    Share groups need a level of share.version, others one of group.version or streams.version and their protocol in
    group.coordinator.rebalance.protocols.
    """
    if protocol == SHARE_PROTOCOL:
        return node.image.features.level_of(SHARE_VERSION) > 0
    is_configured = protocol in node.config.list_of("group.coordinator.rebalance.protocols")
    return is_configured and node.image.features.level_of(_LEVELS[protocol]) > 0


def served_by(
    protocol: str, handle: Callable[[RequestContext, Q], R]
) -> Callable[[RequestContext, Q], R | Message | Coroutine[Step, object, Message]]:
    """Return a handle function that refuses the requests while the group protocol is disabled."""

    def handle_or_refuse(context: RequestContext, request: Q) -> R | Message | Coroutine[Step, object, Message]:
        if serves_protocol(context.node, protocol):
            return handle(context, request)
        logger.warning("client %.100s is refused: %s", context.client_id, _way_out(protocol))
        return refusal(context, request)

    return handle_or_refuse


def _way_out(protocol: str) -> str:
    """Return why groups of a disabled protocol are refused, and what serves their clients."""
    disabled = f"groups of the {protocol} protocol need {_LEVELS[protocol]} 1"
    if protocol == SHARE_PROTOCOL:
        return disabled
    configured = f"{disabled}, and {protocol} in group.coordinator.rebalance.protocols"
    return f"{configured}; clients with group.protocol=classic need neither"


def refusal(context: RequestContext, request: Message) -> Message | Coroutine[Step, object, Message]:
    """Return UNSUPPORTED_VERSION for every group or member in the request; made in a thread for a large one."""
    make = partial(error_response, APIS[context.api_key], context.api_version, request, ErrorCode.UNSUPPORTED_VERSION)
    return _made_in_thread(make) if context.size > LARGE_BODY_BYTES else make()


async def _made_in_thread(make: Callable[[], Message]) -> Message:
    return await in_thread(make)
