"""RenewDelegationToken (39), versions 0-2.

v2 flexible.
Source: DelegationTokenControlManager.renewDelegationToken, Kafka 4.3.0; tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from ...requests.request_context import RequestContext
from ...requests.token_expiry import change_expiry

_Response = RenewDelegationTokenResponse


async def handle(context: RequestContext, request: RenewDelegationTokenRequest) -> _Response:
    """Move the expiry of a token."""

    async def change(now_ms: int) -> int:
        tokens, principal = context.node.controller.delegation_tokens, context.connection.principal
        return await tokens.renew(request.hmac, principal, request.renew_period_ms, now_ms)

    return await change_expiry(context, _Response, change)
