"""AlterConfigs (33), versions 0-2. Keys that the request does not name are reset to their defaults.

v2 flexible. A resource that appears twice is refused, as in IncrementalAlterConfigs; Kafka sends no response then.
Source: ConfigAdminManager and ConfigurationControlManager.legacyAlterConfigs, Kafka 4.3.0;
tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from ...config.config_resources import ConfigResource
from ...metadata.config_changes import alter_each, apply_ops, check_ops, op_of, replace_configs
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, step


async def handle(context: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    """Replace the configs of each resource; an error of one does not affect the others."""
    errors = await alter_each(request.resources, partial(_replace, context.node, validate_only=request.validate_only))
    storage_error = await context.node.controller.saved()
    pairs = zip(request.resources, errors, strict=True)
    return AlterConfigsResponse(
        responses=[_resource_response(resource, error or storage_error) for resource, error in pairs]
    )


def _resource_response(resource: AlterConfigsResource, error: KafkaError | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message or None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


async def _replace(node: NodeServices, requested: AlterConfigsResource, *, validate_only: bool) -> None:
    resource = ConfigResource(requested.resource_type, requested.resource_name)
    ops = await for_each(op_of, requested.configs)
    check_ops(node.node_id, resource, ops)
    await step()
    configs = apply_ops(node.image.configs.keys, resource, {}, ops)
    await step()
    replace_configs(node, resource, configs, validate_only=validate_only)
