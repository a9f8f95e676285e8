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
from ...config.config_resources import ConfigResource, ResourceType, broker_id_of
from ...metadata.config_changes import alter_each, apply_ops, check_ops, current_configs, op_of, replace_configs
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, step


async def handle(context: RequestContext, request: IncrementalAlterConfigsRequest) -> IncrementalAlterConfigsResponse:
    """Alter the configs of each resource; an error of one does not affect the others."""
    errors = await alter_each(request.resources, partial(_alter, context.node, validate_only=request.validate_only))
    storage_error = await context.node.controller.saved()
    pairs = zip(request.resources, errors, strict=True)
    return IncrementalAlterConfigsResponse(
        responses=[_resource_response(resource, error or storage_error) for resource, error in pairs]
    )


def _resource_response(resource: AlterConfigsResource, error: KafkaError | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message or None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


async def _alter(node: NodeServices, requested: AlterConfigsResource, *, validate_only: bool) -> None:
    resource = ConfigResource(requested.resource_type, requested.resource_name)
    ops = await for_each(op_of, requested.configs)
    check_ops(node.node_id, resource, ops)
    await step()
    if resource.resource_type == ResourceType.BROKER_LOGGER:
        if broker_id_of(resource.name, "Node id") != node.node_id:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected node id. Expected {node.node_id}, but received {resource.name}",
            )
        change_levels(ops, validate_only=validate_only)
        return
    configs = apply_ops(node.image.configs.keys, resource, current_configs(node.image, resource), ops)
    replace_configs(node, resource, configs, validate_only=validate_only)
