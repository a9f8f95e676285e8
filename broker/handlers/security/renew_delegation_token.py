"""RenewDelegationToken (39), versions 1-2.

v2 flexible.
Source: DelegationTokenControlManager.renewDelegationToken, Kafka 4.3.0; tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from ...requests.request_context import RequestContext, SteppedApiHandler
from ...requests.token_expiry import change_expiry
from ...runtime.deferred import Deferred
from ...runtime.long_work import Steps

_Response = RenewDelegationTokenResponse


def handle(context: RequestContext, request: RenewDelegationTokenRequest) -> Steps[_Response | Deferred[_Response]]:
    """Move the expiry of a token."""

    def change(now_ms: int) -> Steps[int]:
        tokens, principal = context.node.controller.delegation_tokens, context.connection.principal
        return tokens.renew(request.hmac, principal, request.renew_period_ms, now_ms)

    return change_expiry(context, _Response, change)


HANDLER = SteppedApiHandler(RenewDelegationTokenRequest.read, handle)
