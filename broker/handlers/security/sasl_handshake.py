"""SaslHandshake (17), versions 0-1.

After v0 the tokens are frames of their own, after v1 they are in SaslAuthenticate.
Source: SaslServerAuthenticator.handleHandshakeRequest, KafkaApis.handleSaslHandshakeRequest, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ...requests.request_context import RequestContext
from ...runtime.deferred import Deferred
from ...security.sasl.exchange import SaslFailed
from ...security.sasl.sasl_session import Stage, answer_and_close

AUTHENTICATE_API_SINCE = 1


def handle(
    context: RequestContext, request: SaslHandshakeRequest
) -> SaslHandshakeResponse | Deferred[SaslHandshakeResponse]:
    """Choose the mechanism of the connection."""
    session = context.connection.sasl
    if session is None or session.stage is Stage.AUTHENTICATED:
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
    names = session.offered
    try:
        session.take_handshake(request.mechanism, has_bare_tokens=context.api_version < AUTHENTICATE_API_SINCE)
    except SaslFailed as error:
        response = SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=names)
        return answer_and_close(session, context.node, str(context.connection), error, response)
    return SaslHandshakeResponse(mechanisms=names)
