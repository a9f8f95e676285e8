"""AlterConfigs (33), versions 0-2: what is not named goes back to its default.

v2 flexible. Kafka never answers a request that names a resource twice; this refuses both, as IncrementalAlterConfigs.
Source: ConfigAdminManager and ConfigurationControlManager.legacyAlterConfigs, Kafka 4.3.0;
tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from ..cluster import Cluster
from ..config_changes import Resource, changed, check_changes, replace_configs
from ..config_operations import Change, Operation
from ..request_context import ApiHandler, Deferred, RequestContext


def handle(
    context: RequestContext, request: AlterConfigsRequest
) -> AlterConfigsResponse | Deferred[AlterConfigsResponse]:
    """Replace the configs of each resource that is named once; one that is refused leaves the others alone."""
    counts = Counter((asked.resource_type, asked.resource_name) for asked in request.resources)
    responses: list[AlterConfigsResourceResponse] = []
    for asked in request.resources:
        response = AlterConfigsResourceResponse(
            error_message=None, resource_type=asked.resource_type, resource_name=asked.resource_name
        )
        responses.append(response)
        try:
            if counts[asked.resource_type, asked.resource_name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            _replace(context.cluster, asked, validate_only=request.validate_only)
        except KafkaError as error:
            response.error_code, response.error_message = error.code, error.message or None

    def answer(error: KafkaError | None) -> AlterConfigsResponse:
        for response in responses:
            if error is not None and not response.error_code:
                response.error_code, response.error_message = error.code, error.message
        return AlterConfigsResponse(responses=responses)

    return context.cluster.when_saved(answer)


def _replace(cluster: Cluster, asked: AlterConfigsResource, *, validate_only: bool) -> None:
    resource = Resource(asked.resource_type, asked.resource_name)
    changes = [Change(config.name, Operation.SET, config.value) for config in asked.configs]
    check_changes(cluster, resource, changes)
    replace_configs(cluster, resource, changed(resource, {}, changes), validate_only=validate_only)


HANDLER = ApiHandler(AlterConfigsRequest.read, handle)
