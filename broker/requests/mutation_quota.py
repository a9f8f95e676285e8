"""The quota of partitions that a client may create and delete (Kafka: ControllerMutationQuota)."""

from __future__ import annotations

from collections.abc import Callable

from ...protocol.error_codes import ErrorCode, KafkaError
from .request_context import RequestContext

# Records that this many partitions are created or deleted. Raises KafkaError THROTTLING_QUOTA_EXCEEDED.
RecordMutations = Callable[[int], None]


def allow_mutations(count: int) -> None:
    """Record nothing, because no client asks."""


def record_mutations(context: RequestContext, count: int, *, strict_since: int) -> None:
    """Record that a request creates or deletes partitions, and until when its client is throttled for it.

    strict_since: the first version of the API that is refused above the quota; earlier ones are throttled only.
    Raises KafkaError THROTTLING_QUOTA_EXCEEDED.
    """
    quotas = context.node.client_quotas
    if quotas is None:
        return
    is_strict = context.api_version >= strict_since
    throttle_ms = quotas.take_mutations(context.quota_client, count, is_strict=is_strict)
    if throttle_ms:
        context.mutations_throttled_until_ms = context.node.clock.steady_ms() + throttle_ms
        if is_strict:
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
