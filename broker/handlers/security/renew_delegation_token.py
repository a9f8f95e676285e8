"""RenewDelegationToken (39), versions 1-2.

v2 flexible.
Source: KafkaApis.handleRenewTokenRequest, Kafka 4.3.0; tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from ...requests.permissions import allows_token_requests
from ...requests.request_context import RequestContext, SteppedApiHandler
from ...runtime.deferred import Deferred
from ...runtime.long_work import Steps

_Response = RenewDelegationTokenResponse


def handle(context: RequestContext, request: RenewDelegationTokenRequest) -> Steps[_Response | Deferred[_Response]]:
    """Move the expiry of a token into the future."""
    if not allows_token_requests(context):
        return _Response(error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1)
    controller, now_ms = context.node.controller, context.node.clock.now_ms()
    try:
        expiry_ms = yield from controller.delegation_tokens.renew(
            request.hmac, context.connection.principal, request.renew_period_ms, now_ms
        )
    except KafkaError as error:
        return _Response(error_code=error.code)

    def respond(storage_error: KafkaError | None) -> _Response:
        if storage_error is not None:
            return _Response(error_code=storage_error.code)
        return _Response(expiry_timestamp_ms=expiry_ms)

    return controller.when_saved(respond)


HANDLER = SteppedApiHandler(RenewDelegationTokenRequest.read, handle)
