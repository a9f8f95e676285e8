"""AlterConfigs (33), versions 0-2: what is not named goes back to its default.

v2 flexible. Kafka never answers a request that names a resource twice; this refuses both, as IncrementalAlterConfigs.
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
from ...config.config_operations import Change, Operation
from ...metadata.config_changes import Resource, change_each, changed, check_changes, replace_configs
from ...requests.request_context import ApiHandler, NodeServices, RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: AlterConfigsRequest
) -> AlterConfigsResponse | Deferred[AlterConfigsResponse]:
    """Replace the configs of each resource that is named once; one that is refused leaves the others alone."""
    change = partial(_replace, context.node, validate_only=request.validate_only)
    refusals = change_each(request.resources, change)

    def answer(error: KafkaError | None) -> AlterConfigsResponse:
        pairs = zip(request.resources, refusals, strict=True)
        return AlterConfigsResponse(responses=[_response_of(asked, refusal or error) for asked, refusal in pairs])

    return context.node.controller.when_saved(answer)


def _response_of(asked: AlterConfigsResource, error: KafkaError | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message or None,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )


def _replace(node: NodeServices, asked: AlterConfigsResource, *, validate_only: bool) -> None:
    resource = Resource(asked.resource_type, asked.resource_name)
    changes = [Change(config.name, Operation.SET, config.value) for config in asked.configs]
    check_changes(node.node_id, resource, changes)
    replace_configs(node.controller, resource, changed(resource, {}, changes), validate_only=validate_only)


HANDLER = ApiHandler(AlterConfigsRequest.read, handle)
