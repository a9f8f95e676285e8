"""Fetch (1) of clients with a quota: a fetch that exceeds it gets an empty response, and its session stays as it was.

Source: KafkaApis.handleFetchRequest, Kafka 4.3.0; tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING

from ...protocol.fetch_codec import FLEXIBLE_SINCE, FetchRequest, FetchResults
from ..metadata.client_quotas_image import CONSUMER_BYTE_RATE

if TYPE_CHECKING:
    from ..replica.fetch_reader import FetchResult
    from ..replica.fetch_sessions import FetchSession
    from .client_quotas import ClientQuotas
    from .request_context import RequestContext

# The correlation id, and the tagged fields of a response header.
_CORRELATION_ID_BYTES = 4


class MeasuredFetch:
    """Measures one fetch."""

    def __init__(
        self,
        context: RequestContext,
        quotas: ClientQuotas,
        respond: Callable[[RequestContext, FetchRequest, FetchSession | None, FetchResult], FetchResults],
    ) -> None:
        """respond: makes the response to a fetch that is not throttled."""
        self._quotas = quotas
        self._client = context.quota_client
        self._respond = respond
        self._started_ns = perf_counter_ns()
        # For how long it was handled before it waited for data.
        self._long_work = context.node.long_work

    def bytes_max(self, bytes_max: int) -> int:
        """Return how many bytes of records the response may have."""
        return self._quotas.fetch_bytes_max(self._client, bytes_max)

    def respond(
        self, context: RequestContext, request: FetchRequest, session: FetchSession | None, result: FetchResult
    ) -> FetchResults:
        """Return the response, empty for a throttled client, whose connection is then muted."""
        spent_ns = self._long_work.spent_ns or perf_counter_ns() - self._started_ns
        has_quota = self._quotas.has_quota(CONSUMER_BYTE_RATE, self._client)
        size = _size_of(context, session, result) if has_quota else 0
        throttle_ms = max(
            self._quotas.record_request_time(self._client, spent_ns),
            self._quotas.record(CONSUMER_BYTE_RATE, self._client, size),
        )
        if not throttle_ms:
            return self._respond(context, request, session, result)
        self._quotas.take_back(CONSUMER_BYTE_RATE, self._client, size)
        context.connection.mute(throttle_ms)
        if session is None:
            return FetchResults([], throttle_time_ms=throttle_ms)
        return FetchResults([], session.find_epoch_error(request), session.session_id, throttle_ms)


def _size_of(context: RequestContext, session: FetchSession | None, result: FetchResult) -> int:
    """Return the size of the response with its size field and without its header, as Kafka counts it."""
    answers = result.partitions if session is None else session.find_changed(result.partitions)
    buffers = FetchResults(answers).encode(context.correlation_id, context.api_version)
    header_bytes = _CORRELATION_ID_BYTES + (context.api_version >= FLEXIBLE_SINCE)
    return sum(map(len, buffers)) - header_bytes
