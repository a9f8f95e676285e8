"""DescribeAcls (29), versions 0-3.

v2 flexible; v3 the resource type USER.
Source: AclApis.handleDescribeAcls, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from ...metadata.acl_control import check_known, filter_of, numbers_of
from ...requests.request_context import RequestContext
from ...runtime.long_work import step


async def handle(context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    """Return the ACLs that the filter means, by their patterns.

    Raises FrameError for an unknown type, operation or permission: Kafka sends no response.
    """
    check_known(numbers_of(request))
    acl_filter = filter_of(request)
    if context.node.authorizer is None:
        # The broker answers this request alone. Those that its controller answers have another message.
        return DescribeAclsResponse(
            error_code=ErrorCode.SECURITY_DISABLED, error_message="No Authorizer is configured on the broker"
        )
    resources: dict[tuple[int, str, int], DescribeAclsResource] = {}
    for acl in context.node.image.security.acls.candidates(acl_filter):
        if acl_filter.matches(acl):
            pattern = (acl.resource_type, acl.name, acl.pattern_type)
            resource = resources.get(pattern)
            if resource is None:
                resource = resources[pattern] = DescribeAclsResource(
                    resource_type=acl.resource_type, resource_name=acl.name, pattern_type=acl.pattern_type
                )
            resource.acls.append(
                AclDescription(
                    principal=acl.principal, host=acl.host, operation=acl.operation, permission_type=acl.permission
                )
            )
        await step()
    return DescribeAclsResponse(error_code=ErrorCode.NONE, error_message="", resources=list(resources.values()))
