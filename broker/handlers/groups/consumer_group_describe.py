"""ConsumerGroupDescribe (69), versions 0-1 (KIP-848).

v1 member_type.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from ...metadata.authorized_operations import GROUP_OPERATIONS
from ...requests.group_protocols import CONSUMER_PROTOCOL, GroupProtocolApi
from ...requests.request_context import RequestContext, SteppedApiHandler
from ...runtime.long_work import Steps, for_each


def handle(context: RequestContext, request: ConsumerGroupDescribeRequest) -> Steps[ConsumerGroupDescribeResponse]:
    """Describe the groups."""
    # Those with an empty id are first, as in Kafka.
    group_ids = sorted(request.group_ids, key=bool)
    groups = yield from for_each(context.node.coordinators.groups.consumer_groups.describe, group_ids)
    for group in groups:
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = GROUP_OPERATIONS
    return ConsumerGroupDescribeResponse(groups=groups)


HANDLER = GroupProtocolApi(CONSUMER_PROTOCOL, SteppedApiHandler(ConsumerGroupDescribeRequest.read, handle))
