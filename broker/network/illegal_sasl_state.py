"""The response to a request that is not a token, after SaslHandshake.

Source: SaslServerAuthenticator.handleSaslToken, Kafka 4.3.0.
"""

from __future__ import annotations

from ...protocol.api_keys import APIS, ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.errors import error_responses
from ...protocol.frames import FrameError
from ..requests.request_context import RequestContext
from ..runtime.deferred import Buffers, Deferred
from ..security.sasl.failed_login import answer_and_close
from ..security.sasl.sasl_session import SaslSession


class IllegalStateHandler:
    """Responds ILLEGAL_SASL_STATE to a request of any API, and ends the connection."""

    def __init__(self, session: SaslSession) -> None:
        """session: of the connection."""
        self._session = session

    def handle(self, context: RequestContext, frame: memoryview, position: int, end: int) -> Deferred[Buffers]:
        """Return the response, which waits as that of a failed authentication does. Raises FrameError."""
        api = APIS[ApiKey(context.api_key)]
        body, version = frame[position:end], context.api_version
        if not api.first_version <= version <= api.last_version:
            raise FrameError(f"{api.name} version {version} during SASL authentication")
        if not error_responses.expects_response(api, version, body):
            raise FrameError(f"{api.name} without a response during SASL authentication")
        code = context.error_code = ErrorCode.ILLEGAL_SASL_STATE
        response = error_responses.error_response(api, version, context.correlation_id, body, code)
        error = self._session.refuse(f"Unexpected Kafka request of type {api.name} during SASL authentication.")
        return answer_and_close(self._session, context.node, str(context.connection), error, [response])
