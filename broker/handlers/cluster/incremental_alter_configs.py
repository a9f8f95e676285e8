"""IncrementalAlterConfigs (44), versions 0-1.

v1 flexible.
Source: ConfigAdminManager and ConfigurationControlManager.incrementalAlterConfigs, Kafka 4.3.0;
tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ...config.broker_loggers import change_levels
from ...config.config_operations import Change
from ...config.config_resources import ResourceType, broker_id_of
from ...metadata.config_changes import Resource, change_each, changed, check_changes, current_texts, replace_configs
from ...requests.request_context import ApiHandler, NodeServices, RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse | Deferred[IncrementalAlterConfigsResponse]:
    """Change each resource that is named once; one that is refused leaves the others alone."""
    change = partial(_change, context.node, validate_only=request.validate_only)
    refusals = change_each(request.resources, change)

    def answer(error: KafkaError | None) -> IncrementalAlterConfigsResponse:
        pairs = zip(request.resources, refusals, strict=True)
        return IncrementalAlterConfigsResponse(
            responses=[_response_of(asked, refusal or error) for asked, refusal in pairs]
        )

    return context.node.controller.when_saved(answer)


def _response_of(asked: AlterConfigsResource, error: KafkaError | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message or None,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )


def _change(node: NodeServices, asked: AlterConfigsResource, *, validate_only: bool) -> None:
    resource = Resource(asked.resource_type, asked.resource_name)
    changes = [Change(config.name, config.config_operation, config.value) for config in asked.configs]
    check_changes(node.node_id, resource, changes)
    if resource.kind == ResourceType.BROKER_LOGGER:
        if broker_id_of(resource.name, "Node id") != node.node_id:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected node id. Expected {node.node_id}, but received {resource.name}",
            )
        change_levels(changes, validate_only=validate_only)
        return
    texts = changed(resource, current_texts(node.image, resource), changes)
    replace_configs(node.controller, resource, texts, validate_only=validate_only)


HANDLER = ApiHandler(IncrementalAlterConfigsRequest.read, handle)
