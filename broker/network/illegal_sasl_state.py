"""The response to a request that is not a token, after SaslHandshake.

Source: SaslServerAuthenticator.handleSaslToken, Kafka 4.3.0; tests/golden/sasl_ends-4.3.0.jsonl.
"""

from __future__ import annotations

from ...protocol.api_keys import APIS, ApiKey, api_name_of
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.error_responses import error_response
from ...protocol.errors.response_frames import encode_response_frame
from ...protocol.frames import FrameError
from ...protocol.message_fields import number_in
from ...protocol.message_types import request_type
from ...protocol.primitives import Reader
from ..requests.request_context import RequestContext
from ..runtime.buffers import Buffers
from ..runtime.deferred import Deferred
from ..security.sasl.sasl_session import SaslSession, answer_and_close
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
    code, request = ErrorCode.ILLEGAL_SASL_STATE, None
    if api is None or version not in api.versions.in_release(context.release):
        if api is None or api.key is not ApiKey.API_VERSIONS:
            raise FrameError(f"{api_name_of(context.api_key)} version {version} during SASL authentication")
        # Kafka reads an ApiVersions of any other version as one of version 0, which has no fields.
        version = 0
    else:
        request = request_type(api).read(Reader.of_request(body), version)
    if number_in(request, "acks", 1) == 0:
        raise FrameError(f"{api.name} without a response during SASL authentication")
    return encode_response_frame(api, version, context.correlation_id, error_response(api, version, request, code))
