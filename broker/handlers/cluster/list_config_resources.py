"""ListConfigResources (74), versions 0-1.

v0 client metrics subscriptions only (Kafka 4.0: ListClientMetricsResources); v1 resource types, all by default.
Source: KafkaApis.handleListConfigResources, Kafka 4.3.0; tests/golden/quorum-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from ...config.config_resources import ResourceType
from ...metadata.metadata_image import MetadataImage
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each

TYPES_SINCE = 1
# In the order of Kafka's response.
TYPES = (
    ResourceType.GROUP,
    ResourceType.CLIENT_METRICS,
    ResourceType.BROKER_LOGGER,
    ResourceType.BROKER,
    ResourceType.TOPIC,
)


async def handle(context: RequestContext, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    """Return the names of the resources of each requested type."""
    if context.api_version < TYPES_SINCE:
        requested = {int(ResourceType.CLIENT_METRICS)}
    else:
        requested = set(request.resource_types) or set(map(int, TYPES))
    if not requested <= set(TYPES):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    names = [
        (name, resource_type)
        for resource_type in TYPES
        if resource_type in requested
        for name in _names(context.node.image, resource_type)
    ]
    resources = await for_each(lambda each: ConfigResource(resource_name=each[0], resource_type=each[1]), names)
    return ListConfigResourcesResponse(config_resources=resources)


def _names(image: MetadataImage, resource_type: ResourceType) -> Iterable[str]:
    match resource_type:
        case ResourceType.GROUP:
            return _configured(image.configs.group_configs)
        case ResourceType.CLIENT_METRICS:
            return _configured(image.configs.client_metrics_configs)
        case ResourceType.BROKER | ResourceType.BROKER_LOGGER:
            return [str(broker.node_id) for broker in image.brokers]
        case ResourceType.TOPIC:
            return image.topics


def _configured(configs: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    """Return the names with at least one config; without one, the resource does not exist any more."""
    return [name for name, texts in configs.items() if texts]
