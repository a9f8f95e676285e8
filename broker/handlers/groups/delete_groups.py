"""DeleteGroups (42), versions 0-2.

v2 flexible.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import KafkaError
from ....protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from ...coordinators.group.group_coordinator import GroupCoordinator
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred
from ...runtime.long_work import all_complete, for_each


async def handle(context: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    """Delete groups without members. A group that appears twice has one result."""
    groups = context.node.coordinators.groups
    results = await for_each(partial(_delete, groups), dict.fromkeys(request.groups_names))
    return DeleteGroupsResponse(results=await all_complete(results))


def _delete(groups: GroupCoordinator, group_id: str) -> DeletableGroupResult | Deferred[DeletableGroupResult]:
    try:
        groups.delete_group(group_id)
    except KafkaError as error:
        return DeletableGroupResult(group_id=group_id, error_code=error.code)
    return groups.when_durable(
        DeletableGroupResult(group_id=group_id),
        lambda error_code: DeletableGroupResult(group_id=group_id, error_code=error_code),
    )
