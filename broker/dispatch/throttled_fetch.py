"""Fetch (1) of clients with a quota: a fetch that exceeds it gets an empty response, and its session stays as it was.

Source: KafkaApis.handleFetchRequest, Kafka 4.3.0; tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

from time import perf_counter_ns

from ...protocol import fetch_codec
from ...protocol.api_keys import APIS, ApiKey
from ...protocol.errors.response_frames import set_throttle_time
from ...protocol.fetch_codec import FLEXIBLE_SINCE, FetchRequest
from ..handlers.records.fetch import FetchHandler
from ..metadata.client_quotas_image import CONSUMER_BYTE_RATE
from ..replica.fetch_reader import FetchResult
from ..replica.fetch_sessions import FetchSession
from ..requests.client_quotas import ClientQuotas
from ..requests.request_context import RequestContext
from ..runtime.deferred import Buffers, Deferred

# The correlation id, and the tagged fields of a response header.
_CORRELATION_ID_BYTES = 4


class ThrottlingFetchHandler:
    """Handles fetches on a node with quotas."""

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Read the requested partitions as far as the quota allows it. Raises FrameError."""
        quotas = context.node.client_quotas
        if quotas is None:
            return FetchHandler().handle(context, frame, position, end)
        return _MeasuredFetch(quotas).handle(context, frame, position, end)


class _MeasuredFetch(FetchHandler):
    """Handles one fetch."""

    def __init__(self, quotas: ClientQuotas) -> None:
        self._quotas = quotas
        self._started_ns = perf_counter_ns()
        # How long it was handled, while it waits for data.
        self._spent_ns: int | None = None

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        response = super().handle(context, frame, position, end)
        self._spent_ns = perf_counter_ns() - self._started_ns
        return response

    def max_bytes(self, context: RequestContext, request: FetchRequest) -> int:
        return self._quotas.fetch_bytes_max(context.quota_client, super().max_bytes(context, request))

    def encode(
        self, context: RequestContext, request: FetchRequest, session: FetchSession | None, result: FetchResult
    ) -> Buffers:
        client = context.quota_client
        has_quota = self._quotas.has_quota(CONSUMER_BYTE_RATE, client)
        size = _size_of(context, session, result) if has_quota else 0
        spent_ns = perf_counter_ns() - self._started_ns if self._spent_ns is None else self._spent_ns
        throttle_ms = max(
            self._quotas.record_request_time(client, spent_ns), self._quotas.record(CONSUMER_BYTE_RATE, client, size)
        )
        if not throttle_ms:
            return super().encode(context, request, session, result)
        self._quotas.take_back(CONSUMER_BYTE_RATE, client, size)
        context.connection.mute(throttle_ms)
        return _throttled(context, request, session, throttle_ms)


def _size_of(context: RequestContext, session: FetchSession | None, result: FetchResult) -> int:
    """Return the size of the response with its size field and without its header, as Kafka counts it."""
    answers = result.partitions if session is None else session.find_changed(result.partitions)
    buffers = fetch_codec.encode_response(context.correlation_id, context.api_version, answers)
    header_bytes = _CORRELATION_ID_BYTES + (context.api_version >= FLEXIBLE_SINCE)
    return sum(map(len, buffers)) - header_bytes


def _throttled(
    context: RequestContext, request: FetchRequest, session: FetchSession | None, throttle_ms: int
) -> Buffers:
    """Return the empty response to a throttled fetch."""
    error_code, session_id = 0, 0
    if session is not None:
        session_id = session.session_id
        error_code = session.find_epoch_error(request)
    empty = fetch_codec.encode_response(
        context.correlation_id, context.api_version, [], error_code=error_code, session_id=session_id
    )
    return [set_throttle_time(APIS[ApiKey.FETCH], context.api_version, empty, throttle_ms)]
