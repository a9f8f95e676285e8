"""ShareGroupDescribe (77), version 1 (KIP-932)."""

from __future__ import annotations

from functools import partial

from ....protocol.acl_types import ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from ...requests.group_protocols import SHARE_PROTOCOL, served_by
from ...requests.permissions import DESCRIBED_TOPICS_DENIED, authorized_operations, may_describe_topics
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step


async def _handle(context: RequestContext, request: ShareGroupDescribeRequest) -> ShareGroupDescribeResponse:
    """Describe the groups."""
    groups = await for_each(context.node.coordinators.groups.share_groups.describe, request.group_ids)
    groups = await for_each(partial(_without_denied_topics, context), groups)
    for group in groups:
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = authorized_operations(context, ResourceType.GROUP, group.group_id)
        await step()
    return ShareGroupDescribeResponse(groups=groups)


def _without_denied_topics(context: RequestContext, group: DescribedGroup) -> DescribedGroup:
    """Return the group, or its error if the client may not describe a topic that a member has."""
    topics = {topic.topic_name for member in group.members for topic in member.assignment.topic_partitions}
    if may_describe_topics(context, topics):
        return group
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return DescribedGroup(group_id=group.group_id, error_code=error, error_message=DESCRIBED_TOPICS_DENIED)


handle = served_by(SHARE_PROTOCOL, _handle)
