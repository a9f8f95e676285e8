"""ListGroups (16), versions 0-5.

v3 flexible; v4 group_state and the filter by it; v5 group_type and the filter by it.
"""

from __future__ import annotations

from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ...requests.permissions import permits, permits_on_cluster
from ...requests.request_context import RequestContext


def handle(context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    """List the groups that pass the filters, and that the client may describe."""
    groups = context.node.coordinators.groups.list_groups(request.states_filter, request.types_filter)
    if not permits_on_cluster(context, AclOperation.DESCRIBE):
        groups = [
            group for group in groups if permits(context, AclOperation.DESCRIBE, ResourceType.GROUP, group.group_id)
        ]
    return ListGroupsResponse(groups=groups)
