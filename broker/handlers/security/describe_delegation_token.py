"""DescribeDelegationToken (41), versions 0-3.

v2 flexible; v3 the requester of a token (KIP-373).
Source: KafkaApis.handleDescribeTokensRequest and DelegationTokenManager.filterToken, Kafka 4.3.0;
tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ...requests.permissions import allows_token_requests, permits
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step
from ...security.delegation_token import DelegationToken, hmac_of
from ...security.principal import Principal

_Response = DescribeDelegationTokenResponse


async def handle(context: RequestContext, request: DescribeDelegationTokenRequest) -> _Response:
    """Return the tokens that concern one of the owners, of which the client may describe each."""
    if not allows_token_requests(context):
        return _Response(error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    secret_key = context.node.config.delegation_token_secret_key
    if secret_key is None:
        return _Response(error_code=ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    owners: set[Principal] | None = None
    if request.owners is not None:
        owners = set(await for_each(_principal_of, request.owners))
    tokens: list[DescribedDelegationToken] = []
    for token in list(context.node.image.security.tokens.values()):
        if (owners is None or _concerns_any(token, owners)) and _may_describe(context, token):
            described = _described(token, hmac_of(secret_key, token.token_id))
            described.renewers = await for_each(_described_renewer, token.renewers)
            tokens.append(described)
        await step()
    return _Response(tokens=tokens)


def _principal_of(owner: DescribeDelegationTokenOwner) -> Principal:
    return Principal(owner.principal_name, owner.principal_type)


def _concerns_any(token: DelegationToken, owners: set[Principal]) -> bool:
    return not owners.isdisjoint((token.owner, token.requester, *token.renewers))


def _may_describe(context: RequestContext, token: DelegationToken) -> bool:
    return (
        token.concerns(context.connection.principal)
        or permits(context, AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
        or permits(context, AclOperation.DESCRIBE_TOKENS, ResourceType.USER, str(token.owner))
    )


def _described(token: DelegationToken, hmac: bytes) -> DescribedDelegationToken:
    return DescribedDelegationToken(
        principal_type=token.owner.type,
        principal_name=token.owner.name,
        token_requester_principal_type=token.requester.type,
        token_requester_principal_name=token.requester.name,
        issue_timestamp=token.issue_ms,
        expiry_timestamp=token.expiry_ms,
        max_timestamp=token.max_ms,
        token_id=token.token_id,
        hmac=hmac,
    )


def _described_renewer(renewer: Principal) -> DescribedDelegationTokenRenewer:
    return DescribedDelegationTokenRenewer(principal_type=renewer.type, principal_name=renewer.name)
