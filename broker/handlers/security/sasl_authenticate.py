"""SaslAuthenticate (36), versions 0-2.

v1 the lifetime of the session (KIP-368); v2 flexible.
Source: SaslServerAuthenticator.handleSaslToken, KafkaApis.handleSaslAuthenticateRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred
from ...security.sasl.exchange import SaslFailed
from ...security.sasl.sasl_session import Stage, answer_and_close

TOO_LATE = "SaslAuthenticate request received after successful authentication"


def handle(
    context: RequestContext, request: SaslAuthenticateRequest
) -> SaslAuthenticateResponse | Deferred[SaslAuthenticateResponse]:
    """Take a token, and return the one that answers it."""
    session = context.connection.sasl
    if session is None or session.stage is not Stage.SASL_AUTHENTICATE:
        return SaslAuthenticateResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=TOO_LATE)
    try:
        token = session.take_token(request.auth_bytes)
    except SaslFailed as error:
        response = SaslAuthenticateResponse(
            error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=error.message
        )
        return answer_and_close(session, context.node, str(context.connection), error, response)
    # Empty, as Kafka sends it, and not null.
    return SaslAuthenticateResponse(error_message="", auth_bytes=token, session_lifetime_ms=session.lifetime_ms)
