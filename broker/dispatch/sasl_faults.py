"""Errors of fault rules on SaslHandshake and SaslAuthenticate, as Kafka words them.

Rules:
- SASL_AUTHENTICATION_FAILED for a token, and UNSUPPORTED_SASL_MECHANISM for a handshake, are made by the handler: the
  token is that of an unknown user, the mechanism is not offered. So message and further exchange are Kafka's.
- Any other error is the response of the whole request.
- Every error ends the connection, after connection.failed.authentication.delay.ms.
- NONE reports a success, and the client stays unauthenticated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ..runtime.deferred import Deferred
from ..security.sasl.sasl_session import Stage, answer_and_close

if TYPE_CHECKING:
    from ...protocol.message import Message
    from .owned_request import OwnedRequest


def make_fail(request: OwnedRequest, code: int) -> bool:
    """Have the handler of the request fail with the error. Return False if it cannot fail with this one."""
    session = request.connection.sasl
    assert session is not None, "the request is of a listener with SASL"
    match request.api.key, code:
        case ApiKey.SASL_AUTHENTICATE, ErrorCode.SASL_AUTHENTICATION_FAILED:
            is_made = session.stage is Stage.SASL_AUTHENTICATE
            if is_made:
                session.reject()
            return is_made
        case ApiKey.SASL_HANDSHAKE, ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            is_made = session.stage is not Stage.AUTHENTICATED and request.mechanism is not None
            if is_made:
                session.withhold(request.mechanism or "")
            return is_made
        case _:
            return False


def end_after(request: OwnedRequest, code: int, response: Message) -> Message | Deferred[Message]:
    """Return a response with an error that the handler has not made; its connection ends, unless the error is NONE."""
    session = request.connection.sasl
    assert session is not None, "the request is of a listener with SASL"
    if code == ErrorCode.NONE:
        return response
    error = session.refuse(f"a fault rule responds with error {code} to {request.api_name}")
    return answer_and_close(session, request.node, str(request.connection), error, response)
