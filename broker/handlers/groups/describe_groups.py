"""DescribeGroups (15), versions 0-6.

v3 authorized_operations; v4 group_instance_id; v5 flexible; v6 GROUP_ID_NOT_FOUND and error_message.
Before v6 an unknown group is described as Dead.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ...metadata.authorized_operations import GROUP_OPERATIONS
from ...requests.request_context import ApiHandler, RequestContext

GROUP_ID_NOT_FOUND_SINCE = 6


def handle(context: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    """Describe the groups in the order of the request."""
    groups = [context.node.coordinators.groups.describe(group_id) for group_id in request.groups]
    for group in groups:
        if context.api_version < GROUP_ID_NOT_FOUND_SINCE:
            group.error_code, group.error_message = ErrorCode.NONE, None
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = GROUP_OPERATIONS
    return DescribeGroupsResponse(groups=groups)


HANDLER = ApiHandler(DescribeGroupsRequest.read, handle)
