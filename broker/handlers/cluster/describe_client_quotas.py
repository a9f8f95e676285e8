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
from ...metadata.client_quota_control import QuotaFilter, find_entities
from ...metadata.client_quotas_image import QuotaEntity
from ...requests.request_context import ApiHandler, RequestContext


def handle(context: RequestContext, request: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    """Return the quotas of the entities that match every component."""
    try:
        found = find_entities(context.node.image.client_quotas, QuotaFilter(request))
    except KafkaError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
    return DescribeClientQuotasResponse(entries=[_entry(*each) for each in found])


def _entry(entity: QuotaEntity, quotas: Mapping[str, float]) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        values=[ValueData(key=key, value=value) for key, value in quotas.items()],
    )


HANDLER = ApiHandler(DescribeClientQuotasRequest.read, handle)
