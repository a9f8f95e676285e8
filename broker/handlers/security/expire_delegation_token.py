"""ExpireDelegationToken (40), versions 0-2.

v2 flexible.
Source: DelegationTokenControlManager.expireDelegationToken, Kafka 4.3.0; tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse
from ...requests.request_context import RequestContext
from ...requests.token_expiry import change_expiry

_Response = ExpireDelegationTokenResponse


async def handle(context: RequestContext, request: ExpireDelegationTokenRequest) -> _Response:
    """Set the expiry of a token, or remove it."""

    async def change(now_ms: int) -> int:
        tokens, principal = context.node.controller.delegation_tokens, context.connection.principal
        return await tokens.expire(request.hmac, principal, request.expiry_time_period_ms, now_ms)

    return await change_expiry(context, _Response, change)
