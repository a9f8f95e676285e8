"""DeleteGroups (42), versions 0-3.

v2 flexible; v3 error_message of each group (KIP-1331), which Kafka fills only for groups of Kafka Streams.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from ...coordinators.group.group_coordinator import GroupCoordinator
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred
from ...runtime.long_work import all_complete, step


async def handle(context: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    """Delete groups without members. A group that appears twice has one result."""
    groups = context.node.coordinators.groups
    results: list[DeletableGroupResult] = []
    flushes: list[Deferred[ErrorCode]] = []
    for group_id in dict.fromkeys(request.groups_names):
        results.append(DeletableGroupResult(group_id=group_id, error_code=_delete(groups, group_id)))
        flushes.append(groups.flushed())
        await step()
    for result, flush_error in zip(results, await all_complete(flushes), strict=True):
        result.error_code = result.error_code or flush_error
        await step()
    return DeleteGroupsResponse(results=results)


def _delete(groups: GroupCoordinator, group_id: str) -> ErrorCode:
    try:
        groups.delete_group(group_id)
    except KafkaError as error:
        return ErrorCode(error.code)
    return ErrorCode.NONE
