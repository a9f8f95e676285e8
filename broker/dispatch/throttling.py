"""Throttles clients that exceed their quotas (Kafka: RequestHandlerHelper).

The response to a throttled request is sent at once, with its throttle time. The connection is then muted: none of its
requests is handled until that time has passed. A node has these handlers from its first quota on.
Source: RequestHandlerHelper and KafkaApis.handleProduceRequest, Kafka 4.3.0; tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

from ...protocol.api_keys import Api, ApiKey
from ...protocol.errors.response_frames import set_throttle_time
from ..metadata.client_quotas_image import PRODUCER_BYTE_RATE
from ..requests.client_quotas import ClientQuotas, QuotaClient
from ..runtime.deferred import Buffers, Deferred, changed
from .throttled_fetch import ThrottlingFetchHandler

if TYPE_CHECKING:
    from ..requests.request_context import RequestContext, RequestHandler

# Brokers send the first, and the others are of no one who has authenticated.
_EXEMPT = frozenset({ApiKey.WRITE_TXN_MARKERS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})


def throttling(api: Api, handler: RequestHandler) -> RequestHandler:
    """Return the handler of an API that throttles its clients."""
    if api.key in _EXEMPT:
        return handler
    if api.key is ApiKey.FETCH:
        return ThrottlingFetchHandler()
    return ThrottlingHandler(api, handler)


class ThrottlingHandler:
    """A RequestHandler that measures its requests, and throttles the clients that exceed a quota."""

    __slots__ = ("_api", "_handler")

    def __init__(self, api: Api, handler: RequestHandler) -> None:
        """handler: of the API."""
        self._api = api
        self._handler = handler

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Handle the request, and throttle its client if it must be. Raises FrameError."""
        quotas, sasl = context.node.client_quotas, context.connection.sasl
        if quotas is None or (sasl is not None and not sasl.is_authenticated):
            return self._handler.handle(context, frame, position, end)
        context.mutations_throttled_until_ms = 0
        started_ns = perf_counter_ns()
        response = self._handler.handle(context, frame, position, end)
        request = _MeasuredRequest(
            self._api, context, quotas, end - context.request_start, perf_counter_ns() - started_ns
        )
        return changed([] if response is None else response, request.throttled) or None


class _MeasuredRequest:
    """A request whose response has a field for the throttle time."""

    __slots__ = ("_api", "_client", "_context", "_quotas", "_size", "_spent_ns", "_version")

    def __init__(self, api: Api, context: RequestContext, quotas: ClientQuotas, size: int, spent_ns: int) -> None:
        """size: bytes of the frame. spent_ns: how long it was handled."""
        self._api = api
        self._version = context.api_version
        # Valid while the response is pending, but for that to a Produce.
        self._context = context
        self._client: QuotaClient = context.quota_client
        self._quotas = quotas
        self._size = size
        self._spent_ns = spent_ns

    def throttled(self, buffers: Buffers) -> Buffers:
        """Return the response with its throttle time, and mute the connection for it. buffers: none with acks=0."""
        throttle_ms = self._throttle_time_ms(has_response=bool(buffers))
        if not throttle_ms:
            return buffers
        self._context.connection.mute(throttle_ms)
        if not buffers:
            return buffers
        return [set_throttle_time(self._api, self._version, buffers, throttle_ms)]

    def _throttle_time_ms(self, *, has_response: bool) -> int:
        bytes_ms = mutations_ms = request_ms = 0
        if self._api.key is ApiKey.PRODUCE:
            bytes_ms = self._quotas.record(PRODUCER_BYTE_RATE, self._client, self._size)
        else:
            mutations_ms = self._context.mutations_throttled_until_ms - self._context.node.clock.now_ms()
        if has_response:
            request_ms = self._quotas.record_request_time(self._client, self._spent_ns)
        return max(bytes_ms, mutations_ms, request_ms, 0)
