"""DeleteAcls (31), versions 0-3.

v2 flexible; v3 the resource type USER.
Source: AclApis.handleDeleteAcls and AclControlManager.deleteAcls, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial
from itertools import compress

from ....protocol.error_codes import KafkaError
from ....protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ...metadata.acl_control import check_authorizer, check_filter, check_known, filter_of, numbers_of
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, in_turn
from ...security.acl.acls import AclBinding

# What a filter found, or its error.
_Found = list[AclBinding] | KafkaError


async def handle(context: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:
    """Delete what the filters mean. An ACL that two of them mean is in the results of both.

    Raises FrameError for an unknown type, operation or permission: Kafka sends no response.
    """
    await for_each(lambda each: check_known(numbers_of(each)), request.filters)
    results = await in_turn(partial(_find, context), request.filters)
    for found in results:
        if isinstance(found, list):
            await for_each(context.node.controller.delete_acl, found)
    storage_error = await context.node.controller.saved()
    if storage_error is not None:
        return DeleteAclsResponse(filter_results=await for_each(lambda _: _failure(storage_error), results))
    return DeleteAclsResponse(filter_results=await in_turn(_result, results))


async def _find(context: RequestContext, requested: DeleteAclsFilter) -> _Found:
    """Return the ACLs that a filter means, or its error."""
    acl_filter = filter_of(requested)
    try:
        check_authorizer(context.node.authorizer)
        check_filter(acl_filter)
    except KafkaError as error:
        return error
    candidates = context.node.image.security.acls.candidates(acl_filter)
    means = await for_each(acl_filter.matches, candidates)
    return list(compress(candidates, means))


async def _result(found: _Found) -> DeleteAclsFilterResult:
    if isinstance(found, KafkaError):
        return _failure(found)
    matching = await for_each(_matching, found)
    return DeleteAclsFilterResult(error_message=None, matching_acls=matching)


def _failure(error: KafkaError) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(error_code=error.code, error_message=error.message)


def _matching(acl: AclBinding) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
