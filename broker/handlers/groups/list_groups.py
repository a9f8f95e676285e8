"""ListGroups (16), versions 0-5.

v3 flexible; v4 group_state and the filter by it; v5 group_type and the filter by it.
"""

from __future__ import annotations

from ....protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ...requests.request_context import ApiHandler, RequestContext


def handle(context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    """List the groups that pass the filters."""
    return ListGroupsResponse(
        groups=context.node.coordinators.groups.list_groups(request.states_filter, request.types_filter)
    )


HANDLER = ApiHandler(ListGroupsRequest.read, handle)
