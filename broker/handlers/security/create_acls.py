"""CreateAcls (30), versions 0-3.

v2 flexible; v3 the resource type USER.
Source: AclApis.handleCreateAcls and AclControlManager.createAcls, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from functools import partial

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.create_acls import AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse
from ...metadata.acl_control import acl_of, check_authorizer, check_known, is_of_filter
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each
from ...security.acl.acls import AclBinding


async def handle(context: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:
    """Create each ACL that is not there; an error of one does not affect the others.

    Raises FrameError for an unknown type, operation or permission: Kafka sends no response.
    """
    await for_each(_check_known, request.creations)
    acls = await for_each(acl_of, request.creations)
    if any(await for_each(is_of_filter, acls)):
        # Kafka fails on these.
        return CreateAclsResponse(results=await for_each(_failed, acls))
    errors = await for_each(partial(_create, context), acls)
    storage_error = await context.node.controller.saved()
    return CreateAclsResponse(results=await for_each(lambda error: _result(error or storage_error), errors))


def _check_known(creation: AclCreation) -> None:
    pattern = (creation.resource_type, creation.resource_pattern_type)
    check_known((*pattern, creation.operation, creation.permission_type))


def _failed(_: AclBinding) -> AclCreationResult:
    return AclCreationResult(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=None)


def _create(context: RequestContext, acl: AclBinding) -> KafkaError | None:
    try:
        check_authorizer(context.node.authorizer)
        context.node.controller.create_acl(acl)
    except KafkaError as error:
        return error
    return None


def _result(error: KafkaError | None) -> AclCreationResult:
    if error is None:
        return AclCreationResult()
    return AclCreationResult(error_code=error.code, error_message=error.message)
