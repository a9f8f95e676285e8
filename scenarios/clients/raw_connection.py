"""A connection to a broker for pipelined requests, in the versions that the broker has."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import TypeVar

from ...protocol.api_keys import APIS, ApiKey
from ...protocol.client_requests import CLIENT_ID, RequestMessage, read_response, request_frame
from ...protocol.frames import FRAME_SIZE_BYTES
from ...protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ...protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ...protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ...protocol.primitives import Reader
from .login import Login

Answer = TypeVar("Answer")

# More than the largest response of a scenario, a fetch of its whole log.
RESPONSE_BYTES_MAX = 16 * 1024 * 1024
# The response timeout; scenarios that lose responses use a shorter one.
RESPONSE_SECONDS_MAX = 10.0
API_VERSIONS_VERSION = 0
HANDSHAKE_VERSION = 1
AUTHENTICATE_VERSION = 1
_CORRELATION_ID_BYTES = 4
_READ_BYTES = 1 << 16


class ConnectionLost(Exception):
    """The broker closed the connection or cannot be reached."""


class NoResponse(Exception):
    """No response arrived in time."""


class RawConnection:
    """One connection."""

    def __init__(self, address: str, client_id: str = CLIENT_ID, login: Login | None = None) -> None:
        """Connect, and authenticate with a login. client_id: of its requests. Raises ConnectionLost."""
        host, _, port = address.rpartition(":")
        try:
            self._socket = socket.create_connection((host, int(port)), timeout=RESPONSE_SECONDS_MAX)
        except OSError as error:
            raise ConnectionLost(f"{address}: {error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client_id = client_id
        self._correlation_id = 0
        self._received = bytearray()
        self._versions_max: dict[int, int] = {}
        if login is not None:
            self._authenticate(login)

    def version_of(self, api_key: ApiKey, newest: int) -> int:
        """Return the newest version up to `newest` that the broker has; asks it once. Raises ConnectionLost."""
        if api_key is ApiKey.API_VERSIONS:
            return API_VERSIONS_VERSION
        if not self._versions_max:
            request = ApiVersionsRequest()
            try:
                answer = self.send_and_receive(
                    ApiKey.API_VERSIONS, API_VERSIONS_VERSION, request, ApiVersionsResponse.read
                )
            except NoResponse as error:
                raise ConnectionLost(f"no response to ApiVersions: {error}") from error
            self._versions_max = {each.api_key: each.max_version for each in answer.api_keys}
        if api_key not in self._versions_max:
            raise ConnectionLost(f"the broker does not have {APIS[api_key].name}")
        return min(newest, self._versions_max[api_key])

    def send(self, api_key: ApiKey, newest: int, request: RequestMessage) -> int:
        """Send a request in version_of(api_key, newest), and return its correlation id. Raises ConnectionLost."""
        version = self.version_of(api_key, newest)
        self._correlation_id += 1
        frame = request_frame(APIS[api_key], version, self._correlation_id, request, client_id=self._client_id)
        try:
            self._socket.settimeout(RESPONSE_SECONDS_MAX)
            self._socket.sendall(frame)
        except OSError as error:
            raise ConnectionLost(str(error)) from error
        return self._correlation_id

    def receive(self, timeout_seconds: float) -> tuple[int, bytes]:
        """Return the correlation id and the frame of the next response. Raises NoResponse and ConnectionLost."""
        deadline = time.monotonic() + timeout_seconds
        size = int.from_bytes(self._take(FRAME_SIZE_BYTES, deadline, peek=True), "big")
        if not _CORRELATION_ID_BYTES <= size <= RESPONSE_BYTES_MAX:
            raise ConnectionLost(f"a response of {size} bytes")
        frame = self._take(FRAME_SIZE_BYTES + size, deadline)[FRAME_SIZE_BYTES:]
        return int.from_bytes(frame[:_CORRELATION_ID_BYTES], "big"), frame

    def send_and_receive(
        self, api_key: ApiKey, newest: int, request: RequestMessage, read: Callable[[Reader, int], Answer]
    ) -> Answer:
        """Send a request in version_of(api_key, newest) and return its response; no other request may be pending.

        Raises NoResponse and ConnectionLost.
        """
        correlation_id = self.send(api_key, newest, request)
        _, frame = self.receive(RESPONSE_SECONDS_MAX)
        return read_response(APIS[api_key], self.version_of(api_key, newest), correlation_id, frame, read)

    def _authenticate(self, login: Login) -> None:
        handshake = SaslHandshakeRequest(mechanism=login.mechanism)
        chosen = self.send_and_receive(ApiKey.SASL_HANDSHAKE, HANDSHAKE_VERSION, handshake, SaslHandshakeResponse.read)
        message = SaslAuthenticateRequest(auth_bytes=login.first_message())
        answer = self.send_and_receive(
            ApiKey.SASL_AUTHENTICATE, AUTHENTICATE_VERSION, message, SaslAuthenticateResponse.read
        )
        if chosen.error_code or answer.error_code or answer.auth_bytes:
            raise ConnectionLost(f"authentication failed: {answer.error_message or answer.auth_bytes.decode()}")

    def _take(self, count: int, deadline: float, *, peek: bool = False) -> bytes:
        while len(self._received) < count:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                more = self._socket.recv(_READ_BYTES)
            except TimeoutError as error:
                raise NoResponse(f"{len(self._received)} of {count} bytes in time") from error
            except OSError as error:
                raise ConnectionLost(str(error)) from error
            if not more:
                raise ConnectionLost("the broker closed the connection")
            self._received += more
        taken = bytes(self._received[:count])
        if not peek:
            del self._received[:count]
        return taken

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
