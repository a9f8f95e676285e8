"""StreamsGroupDescribe (89), versions 0-1 (KIP-1071).

v1 the name of the assignor, and the topology description of a plug-in, which the broker does not have (KIP-1331).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ....protocol.acl_types import ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from ...requests.group_protocols import STREAMS_PROTOCOL, served_by
from ...requests.permissions import authorized_operations, may_describe_topics
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each

# A value of TopologyDescriptionStatus: no plug-in has stored a description.
_NOT_STORED = 1


async def _handle(context: RequestContext, request: StreamsGroupDescribeRequest) -> StreamsGroupDescribeResponse:
    """Describe the groups."""
    described = await for_each(partial(_described, context, request), dict.fromkeys(request.group_ids))
    by_id = dict(zip(dict.fromkeys(request.group_ids), described, strict=True))
    # Those with an empty id are first, as in Kafka.
    return StreamsGroupDescribeResponse(groups=[by_id[each] for each in sorted(request.group_ids, key=bool)])


def _described(context: RequestContext, request: StreamsGroupDescribeRequest, group_id: str) -> DescribedGroup:
    group = context.node.coordinators.groups.streams_groups.describe(group_id)
    if group.error_code == ErrorCode.NONE:
        if request.include_authorized_operations:
            group.authorized_operations = authorized_operations(context, ResourceType.GROUP, group.group_id)
        if request.include_topology_description:
            group.topology_description_status = _NOT_STORED
    return _without_denied_topics(context, group)


def _without_denied_topics(context: RequestContext, group: DescribedGroup) -> DescribedGroup:
    """Return the group, or its error if the client may not describe a topic of its topology."""
    if may_describe_topics(context, _topics_of(group)):
        return group
    return DescribedGroup(
        group_id=group.group_id,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message="The described group uses topics that the client is not authorized to describe.",
    )


def _topics_of(group: DescribedGroup) -> Iterator[str]:
    for each in () if group.topology is None else group.topology.subtopologies or ():
        yield from each.source_topics
        yield from each.repartition_sink_topics
        yield from (topic.name for topic in each.repartition_source_topics)
        yield from (topic.name for topic in each.state_changelog_topics)


handle = served_by(STREAMS_PROTOCOL, _handle)
