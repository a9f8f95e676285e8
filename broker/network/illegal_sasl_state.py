"""The response to a request that is not a token, after SaslHandshake.

Source: SaslServerAuthenticator.handleSaslToken, Kafka 4.3.0; tests/golden/sasl_ends-4.3.0.jsonl.
"""

from __future__ import annotations

from ...protocol.api_keys import APIS, ApiKey, api_name_of
from ...protocol.error_codes import ErrorCode
from ...protocol.errors import error_responses
from ...protocol.frames import FrameError
from ..requests.request_context import RequestContext
from ..runtime.deferred import Buffers, Deferred
from ..security.sasl.failed_login import answer_and_close
from ..security.sasl.sasl_session import SaslSession
from .internal_responses import find_response


class IllegalStateHandler:
    """Responds ILLEGAL_SASL_STATE to a request of any API, and ends the connection."""

    def __init__(self, session: SaslSession) -> None:
        """session: of the connection."""
        self._session = session

    def handle(self, context: RequestContext, frame: memoryview, position: int, end: int) -> Deferred[Buffers]:
        """Return the response, which waits as that of a failed authentication does. Raises FrameError."""
        internal = find_response(context.api_key, context.api_version, context.correlation_id)
        response = _response_of_api(context, frame[position:end]) if internal is None else internal
        context.error_code = ErrorCode.ILLEGAL_SASL_STATE
        name = api_name_of(context.api_key)
        error = self._session.refuse(f"Unexpected Kafka request of type {name} during SASL authentication.")
        return answer_and_close(self._session, context.node, str(context.connection), error, [response])


def _response_of_api(context: RequestContext, body: memoryview) -> bytes | bytearray:
    """Return the response frame of an API with messages here. Raises FrameError."""
    api, version = APIS.get(context.api_key), context.api_version
    if api is None or not api.first_version <= version <= api.last_version:
        if api is None or api.key is not ApiKey.API_VERSIONS:
            raise FrameError(f"{api_name_of(context.api_key)} version {version} during SASL authentication")
        # Kafka reads an ApiVersions of any other version as one of version 0, which has no fields.
        body, version = body[:0], 0
    if not error_responses.expects_response(api, version, body):
        raise FrameError(f"{api.name} without a response during SASL authentication")
    code = ErrorCode.ILLEGAL_SASL_STATE
    return error_responses.error_response(api, version, context.correlation_id, body, code)
