"""Throttles clients that exceed their quotas (Kafka: RequestHandlerHelper).

The response to a throttled request is sent at once, with its throttle time. The connection is then muted: none of its
requests is handled until that time has passed. A node has this stage from its first quota on.
Source: RequestHandlerHelper and KafkaApis.handleProduceRequest, Kafka 4.3.0; tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Coroutine
from time import perf_counter_ns
from typing import TYPE_CHECKING

from ...protocol.api_keys import Api, ApiKey
from ...protocol.errors.response_frames import THROTTLE_FIELD
from ...protocol.message import Message
from ...protocol.message_fields import set_values
from ..metadata.client_quotas_image import PRODUCER_BYTE_RATE
from ..requests.encoded_response import awaited
from ..runtime.deferred import Deferred

if TYPE_CHECKING:
    from ...protocol.request_facts import Request
    from ..requests.client_quotas import ClientQuotas
    from ..requests.encoded_response import Handle, Handled, Response
    from ..requests.request_context import RequestContext


def throttling(api: Api) -> Throttling | None:
    """Return the stage of an API; None if it does not throttle its clients.

    A Fetch measures itself, because what it reads depends on the quota.
    """
    return None if api.is_never_throttled or api.key is ApiKey.FETCH else Throttling(api)


class Throttling:
    """Measures the requests of an API, and throttles the clients that exceed a quota."""

    __slots__ = ("_api",)

    def __init__(self, api: Api) -> None:
        """api: of the requests."""
        self._api = api

    def respond(self, context: RequestContext, request: Request, *, handle: Handle) -> Handled:
        """Handle the request, and throttle its client if it must be."""
        quotas, sasl = context.node.client_quotas, context.connection.sasl
        if quotas is None or (sasl is not None and not sasl.is_authenticated):
            return handle(context, request)
        context.mutations_throttled_until_ms = 0
        started_ns = perf_counter_ns()
        handled = handle(context, request)
        if isinstance(handled, Coroutine | Deferred):
            return self._respond_later(context, quotas, handled)
        return self._throttled(context, quotas, handled, perf_counter_ns() - started_ns)

    async def _respond_later(self, context: RequestContext, quotas: ClientQuotas, handled: Handled) -> Response | None:
        spent = context.node.long_work.spent_ns
        response = await awaited(handled)
        return self._throttled(context, quotas, response, context.node.long_work.spent_ns - spent)

    def _throttled(
        self, context: RequestContext, quotas: ClientQuotas, response: Response | None, spent_ns: int
    ) -> Response | None:
        """Return the response with its throttle time, and mute the connection for it."""
        client = context.quota_client
        bytes_ms = mutations_ms = request_ms = 0
        if self._api.key is ApiKey.PRODUCE:
            bytes_ms = quotas.record(PRODUCER_BYTE_RATE, client, context.size)
        else:
            mutations_ms = context.mutations_throttled_until_ms - context.node.clock.steady_ms()
        if response is not None:
            request_ms = quotas.record_request_time(client, spent_ns)
        throttle_ms = max(bytes_ms, mutations_ms, request_ms, 0)
        if throttle_ms:
            context.connection.mute(throttle_ms)
            if response is not None:
                set_throttle_time(response, throttle_ms)
        return response


def set_throttle_time(response: Response, throttle_ms: int) -> None:
    """Set the throttle time of a response. Versions without it do not write it."""
    if isinstance(response, Message):
        set_values(response, {THROTTLE_FIELD: throttle_ms} if hasattr(response, THROTTLE_FIELD) else {})
    else:
        response.throttle_time_ms = throttle_ms
