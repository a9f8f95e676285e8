"""DeleteGroups (42), versions 0-2.

v2 flexible.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from ...coordinators.group.group_coordinator import GroupCoordinator
from ...requests.request_context import ApiHandler, RequestContext
from ...runtime.deferred import Deferred


def handle(
    context: RequestContext, request: DeleteGroupsRequest
) -> DeleteGroupsResponse | Deferred[DeleteGroupsResponse]:
    """Delete groups without members. A group that appears twice has one result."""
    groups = context.node.coordinators.groups
    results = [_delete(groups, group_id) for group_id in dict.fromkeys(request.groups_names)]

    def error_response(error_code: ErrorCode) -> DeleteGroupsResponse:
        for result in results:
            result.error_code = result.error_code or error_code
        return DeleteGroupsResponse(results=results)

    return groups.when_durable(DeleteGroupsResponse(results=results), error_response)


def _delete(groups: GroupCoordinator, group_id: str) -> DeletableGroupResult:
    try:
        groups.delete_group(group_id)
    except KafkaError as error:
        return DeletableGroupResult(group_id=group_id, error_code=error.code)
    return DeletableGroupResult(group_id=group_id, error_code=ErrorCode.NONE)


HANDLER = ApiHandler(DeleteGroupsRequest.read, handle)
