"""ConsumerGroupDescribe (69), versions 0-1 (KIP-848).

v1 member_type.
"""

from __future__ import annotations

from functools import partial

from ....protocol.acl_types import ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from ...requests.group_protocols import CONSUMER_PROTOCOL, served_by
from ...requests.permissions import DESCRIBED_TOPICS_DENIED, authorized_operations, may_describe_topics
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step


async def _handle(context: RequestContext, request: ConsumerGroupDescribeRequest) -> ConsumerGroupDescribeResponse:
    """Describe the groups."""
    # Those with an empty id are first, as in Kafka.
    group_ids = sorted(request.group_ids, key=bool)
    groups = await for_each(context.node.coordinators.groups.consumer_groups.describe, group_ids)
    groups = await for_each(partial(_without_denied_topics, context), groups)
    for group in groups:
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = authorized_operations(context, ResourceType.GROUP, group.group_id)
        await step()
    return ConsumerGroupDescribeResponse(groups=groups)


def _without_denied_topics(context: RequestContext, group: DescribedGroup) -> DescribedGroup:
    """Return the group, or its error if the client may not describe a topic that a member has or will have."""
    topics = {
        topic.topic_name
        for member in group.members
        for assignment in (member.assignment, member.target_assignment)
        for topic in assignment.topic_partitions
    }
    if may_describe_topics(context, topics):
        return group
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return DescribedGroup(group_id=group.group_id, error_code=error, error_message=DESCRIBED_TOPICS_DENIED)


handle = served_by(CONSUMER_PROTOCOL, _handle)
