"""DescribeClientQuotas (48), versions 0-1.

v1 flexible.
Source: ClientQuotasImage.describe, Kafka 4.3.0; tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....protocol.error_codes import KafkaError
from ....protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from ...metadata.client_quota_control import QuotaFilter
from ...metadata.client_quotas_image import QuotaEntity
from ...requests.request_context import RequestContext
from ...runtime.long_work import step


async def handle(context: RequestContext, request: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    """Return the quotas of the entities that match every component."""
    try:
        quota_filter = QuotaFilter(request)
    except KafkaError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
    entries: list[EntryData] = []
    for entity, quotas in context.node.image.client_quotas:
        if quota_filter.matches(entity):
            entries.append(_entry(entity, quotas))
        await step()
    return DescribeClientQuotasResponse(entries=entries)


def _entry(entity: QuotaEntity, quotas: Mapping[str, float]) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        values=[ValueData(key=key, value=value) for key, value in quotas.items()],
    )
