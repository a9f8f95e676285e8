"""ShareGroupDescribe (77), version 1 (KIP-932)."""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from ...metadata.authorized_operations import GROUP_OPERATIONS
from ...requests.request_context import ApiHandler, RequestContext


def handle(context: RequestContext, request: ShareGroupDescribeRequest) -> ShareGroupDescribeResponse:
    """Describe the groups."""
    groups = [context.node.coordinators.groups.share_groups.describe(group_id) for group_id in request.group_ids]
    for group in groups:
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = GROUP_OPERATIONS
    return ShareGroupDescribeResponse(groups=groups)


HANDLER = ApiHandler(ShareGroupDescribeRequest.read, handle)
