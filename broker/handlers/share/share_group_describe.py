"""ShareGroupDescribe (77), version 1 (KIP-932)."""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from ...metadata.authorized_operations import GROUP_OPERATIONS
from ...requests.group_protocols import SHARE_PROTOCOL, GroupProtocolApi
from ...requests.request_context import RequestContext, SteppedApiHandler
from ...runtime.long_work import Steps, for_each


def handle(context: RequestContext, request: ShareGroupDescribeRequest) -> Steps[ShareGroupDescribeResponse]:
    """Describe the groups."""
    groups = yield from for_each(context.node.coordinators.groups.share_groups.describe, request.group_ids)
    for group in groups:
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = GROUP_OPERATIONS
    return ShareGroupDescribeResponse(groups=groups)


HANDLER = GroupProtocolApi(SHARE_PROTOCOL, SteppedApiHandler(ShareGroupDescribeRequest.read, handle))
