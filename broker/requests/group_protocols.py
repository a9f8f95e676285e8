"""Handlers for the APIs of group protocols that a feature level or group.coordinator.rebalance.protocols may disable.

As in Kafka, a disabled API is listed in ApiVersions and responds with UNSUPPORTED_VERSION.
Source: KafkaApis.handleConsumerGroupHeartbeat and its neighbours, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ...protocol.api_keys import APIS
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.error_responses import error_response
from ...protocol.message import Message
from ..metadata.features import GROUP_VERSION, SHARE_VERSION
from ..runtime.long_work import Step, in_thread
from .request_context import LARGE_BODY_BYTES

if TYPE_CHECKING:
    from .request_context import NodeServices, RequestContext

Q = TypeVar("Q", bound=Message)
R = TypeVar("R")

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


def served_by(
    protocol: str, handle: Callable[[RequestContext, Q], R]
) -> Callable[[RequestContext, Q], R | Message | Coroutine[Step, object, Message]]:
    """Return a handle function that refuses the requests while the group protocol is disabled."""

    def handle_or_refuse(context: RequestContext, request: Q) -> R | Message | Coroutine[Step, object, Message]:
        return handle(context, request) if serves_protocol(context.node, protocol) else refusal(context, request)

    return handle_or_refuse


def refusal(context: RequestContext, request: Message) -> Message | Coroutine[Step, object, Message]:
    """Return UNSUPPORTED_VERSION for every group or member in the request; made in a thread for a large one."""
    make = partial(error_response, APIS[context.api_key], context.api_version, request, ErrorCode.UNSUPPORTED_VERSION)
    return _made_in_thread(make) if context.size > LARGE_BODY_BYTES else make()


async def _made_in_thread(make: Callable[[], Message]) -> Message:
    return await in_thread(make)
