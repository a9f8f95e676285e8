"""CreateDelegationToken (38), versions 0-3.

v2 flexible; v3 an owner other than the requester (KIP-373).
Source: KafkaApis.handleCreateTokenRequest, ControllerApis.handleCreateDelegationTokenRequest, Kafka 4.3.0;
tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ...requests.permissions import allows_token_requests, permits
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each
from ...security.principal import ANONYMOUS, USER_TYPE, Principal

_Response = CreateDelegationTokenResponse
# The times in a response of the broker. The controller, which the broker has forwarded a request to, sends zeros.
_NO_TIME = -1


async def handle(context: RequestContext, request: CreateDelegationTokenRequest) -> _Response:
    """Create a token of the client, or of the owner that the request names."""
    requester = context.connection.principal
    owner = requester
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            # Kafka has no principal without a type, and fails.
            return _refused(ErrorCode.UNKNOWN_SERVER_ERROR, ANONYMOUS, ANONYMOUS)
        owner = Principal(request.owner_principal_name, request.owner_principal_type)
    if not allows_token_requests(context):
        return _refused(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, owner, requester)
    if owner != requester and not permits(context, AclOperation.CREATE_TOKENS, ResourceType.USER, str(owner)):
        return _refused(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED, owner, requester)
    renewers = await for_each(_principal_of, request.renewers)
    if any(await for_each(_is_no_user, renewers)):
        return _refused(ErrorCode.INVALID_PRINCIPAL_TYPE, owner, requester)
    return await _create(context, owner, tuple(renewers), request.max_lifetime_ms)


def _principal_of(renewer: CreatableRenewers) -> Principal:
    return Principal(renewer.principal_name, renewer.principal_type)


def _is_no_user(principal: Principal) -> bool:
    return principal.type != USER_TYPE


async def _create(
    context: RequestContext, owner: Principal, renewers: tuple[Principal, ...], max_lifetime_ms: int
) -> _Response:
    controller, requester = context.node.controller, context.connection.principal
    try:
        token, hmac = controller.delegation_tokens.create(
            owner, requester, renewers, max_lifetime_ms, context.node.clock.now_ms()
        )
    except KafkaError as error:
        return _response(error.code, owner, requester)
    storage_error = await controller.saved()
    if storage_error is not None:
        return _response(storage_error.code, owner, requester)
    response = _response(ErrorCode.NONE, owner, requester)
    response.issue_timestamp_ms = token.issue_ms
    response.expiry_timestamp_ms = token.expiry_ms
    response.max_timestamp_ms = token.max_ms
    response.token_id, response.hmac = token.token_id, hmac
    return response


def _response(code: int, owner: Principal, requester: Principal) -> _Response:
    """Return the response without a token."""
    return _Response(
        error_code=code,
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
    )


def _refused(code: ErrorCode, owner: Principal, requester: Principal) -> _Response:
    response = _response(code, owner, requester)
    response.issue_timestamp_ms = response.expiry_timestamp_ms = response.max_timestamp_ms = _NO_TIME
    return response
