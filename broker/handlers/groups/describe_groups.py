"""DescribeGroups (15), versions 0-6.

v3 authorized_operations; v4 group_instance_id; v5 flexible; v6 GROUP_ID_NOT_FOUND and error_message.
Before v6 an unknown group is described as Dead.
"""

from __future__ import annotations

from ....protocol.acl_types import ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ...requests.permissions import authorized_operations
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step

GROUP_ID_NOT_FOUND_SINCE = 6


async def handle(context: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    """Describe the groups in the order of the request."""
    groups = await for_each(context.node.coordinators.groups.describe, request.groups)
    for group in groups:
        if context.api_version < GROUP_ID_NOT_FOUND_SINCE and group.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
            group.error_code, group.error_message = ErrorCode.NONE, None
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = authorized_operations(context, ResourceType.GROUP, group.group_id)
        await step()
    return DescribeGroupsResponse(groups=groups)
