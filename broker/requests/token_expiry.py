"""What RenewDelegationToken and ExpireDelegationToken have in common: they change the expiry of a token, and return it.

Source: ControllerApis.handleRenewDelegationTokenRequest and handleExpireDelegationTokenRequest, Kafka 4.3.0;
tests/golden/tokens-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.messages.expire_delegation_token import ExpireDelegationTokenResponse
from ...protocol.messages.renew_delegation_token import RenewDelegationTokenResponse
from .permissions import allows_token_requests
from .request_context import RequestContext

Response = TypeVar("Response", RenewDelegationTokenResponse, ExpireDelegationTokenResponse)


async def change_expiry(
    context: RequestContext, response_type: type[Response], change: Callable[[int], Awaitable[int]]
) -> Response:
    """Return the response with the new expiry of a token.

    change: gets the time of the cluster's clock, and returns the expiry, both in ms since the epoch. It may raise
    KafkaError.
    """
    if not allows_token_requests(context):
        return response_type(error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1)
    try:
        expiry_ms = await change(context.node.clock.now_ms())
    except KafkaError as error:
        return response_type(error_code=error.code)
    storage_error = await context.node.controller.saved()
    if storage_error is not None:
        return response_type(error_code=storage_error.code)
    return response_type(expiry_timestamp_ms=expiry_ms)
