"""A blocking connection to a broker, with one request in flight, with TLS and SASL."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from .. import client
from ..protocol.api_keys import APIS, ApiKey
from ..protocol.client_requests import RequestMessage, read_response, request_frame
from ..protocol.frames import FRAME_SIZE_BYTES, FrameError
from ..protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..protocol.primitives import Reader
from .client_security import PLAINTEXT, ClientSecurity
from .errors import BrokerError, ConnectionFailed
from .sasl_session import SaslSession

# The last versions with topic names. Later ones need topic ids.
VERSIONS_MAX = {ApiKey.FETCH: 12, ApiKey.LIST_OFFSETS: 7, ApiKey.METADATA: 12}
# Larger than any response: a fetch asks for less, and a single batch is limited by the request size.
RESPONSE_BYTES_MAX = 128 * 1024 * 1024
# How an alert of TLS begins, which a listener with TLS sends in place of a response: its type, and the major version.
_TLS_ALERT = b"\x15\x03"

Response = TypeVar("Response")


class BrokerConnection:
    """A connection to one broker; a context manager that closes it."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        timeout_seconds: float,
        response_bytes_max: int = RESPONSE_BYTES_MAX,
        security: ClientSecurity = PLAINTEXT,
    ) -> None:
        """Connect and authenticate.

        timeout_seconds: of each operation of the socket. response_bytes_max: a larger response is an error.
        Raises ConnectionFailed and AuthenticationFailed.
        """
        self.address = f"{host}:{port}"
        self._response_bytes_max = response_bytes_max
        self._security = security
        self._correlation_id = 0
        self._has_response = False
        self._versions: dict[int, tuple[int, int]] | None = None
        self._session: SaslSession | None = None
        self._socket = self._connect(host, port, timeout_seconds)
        try:
            if security.login is not None:
                self._session = SaslSession(security.login, self.address, self._send_negotiated)
                self._session.authenticate()
        except BaseException:
            self._socket.close()
            raise

    def _connect(self, host: str, port: int, timeout_seconds: float) -> socket.socket:
        try:
            connected = socket.create_connection((host, port), timeout=timeout_seconds)
        except UnicodeError:
            raise ConnectionFailed(f"broker {self.address}: no connection: the host is no host name") from None
        except OSError as error:
            raise ConnectionFailed(f"broker {self.address}: no connection: {error.strerror or error}") from None
        # Each request is sent at once and whole.
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._security.tls is None:
            return connected
        return client.tls_connection.start_tls(connected, host, self._security.tls, self.address)

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, key: ApiKey, message: RequestMessage, read: Callable[[Reader, int], Response]) -> Response:
        """Send a request in the newest version that both sides support, and return its response.

        read: the read method of the response message. Raises ConnectionFailed and AuthenticationFailed.
        """
        self._keep_session()
        return self._send_negotiated(key, message, read)

    def send_request(
        self, api_key: ApiKey, version: int, request: RequestMessage, read: Callable[[Reader, int], Response]
    ) -> Response:
        """Send a request in a version of the caller, and return its response; otherwise as send."""
        self._keep_session()
        return self._exchange(api_key, version, request, read)

    def fetch_versions(self) -> dict[int, tuple[int, int]]:
        """Return the first and last version of each API of the broker. Sends a request once."""
        if self._versions is None:
            response = self._exchange(ApiKey.API_VERSIONS, 0, ApiVersionsRequest(), ApiVersionsResponse.read)
            self._versions = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
        return self._versions

    def _keep_session(self) -> None:
        if self._session is not None and self._session.is_ending:
            self._session.authenticate()

    def _send_negotiated(
        self, key: ApiKey, message: RequestMessage, read: Callable[[Reader, int], Response]
    ) -> Response:
        least, most = self.fetch_versions().get(key, (0, -1))
        first, last = APIS[key].versions.first, VERSIONS_MAX.get(key, APIS[key].versions.last)
        version = min(most, last)
        if version < max(least, first):
            raise ConnectionFailed(f"broker {self.address}: supports {key.name} {least}-{most}, not {first}-{last}")
        return self._exchange(key, version, message, read)

    def _exchange(
        self, key: ApiKey, version: int, message: RequestMessage, read: Callable[[Reader, int], Response]
    ) -> Response:
        self._correlation_id += 1
        try:
            self._socket.sendall(request_frame(APIS[key], version, self._correlation_id, message))
            frame = self._receive(self._size_of(self._receive(FRAME_SIZE_BYTES)))
            # Each broker responds to this one before a login.
            self._has_response |= key is not ApiKey.API_VERSIONS
            return read_response(APIS[key], version, self._correlation_id, frame, read)
        except TimeoutError:
            raise ConnectionFailed(f"broker {self.address}: no response to {key.name} in time") from None
        except OSError as error:
            raise self._failure_of(error, key) from None
        except FrameError as error:
            raise ConnectionFailed(f"broker {self.address}: {key.name}: {error}") from None

    def _size_of(self, size_bytes: bytes) -> int:
        size = int.from_bytes(size_bytes, "big", signed=True)
        if 0 < size <= self._response_bytes_max:
            return size
        if size_bytes.startswith(_TLS_ALERT) and self._security.tls is None:
            raise FrameError("the listener has TLS; set security.protocol to SSL or SASL_SSL")
        raise FrameError(f"a response of {size} bytes is not from a Kafka broker")

    def _receive(self, size: int) -> bytes:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            count = self._socket.recv_into(view)
            if not count:
                hint = self._hint_of_closed_connection()
                raise FrameError(f"the connection was closed after {size - len(view)} of {size} bytes{hint}")
            view = view[count:]
        return bytes(buffer)

    def _hint_of_closed_connection(self) -> str:
        """Return a hint if the broker may have closed the connection for lack of TLS or SASL."""
        if self._has_response or self._security.login is not None:
            return ""
        return f"; security.protocol is {self._security.protocol.value}, and the listener may have another one"

    def _failure_of(self, error: OSError, key: ApiKey) -> BrokerError:
        prefix = f"broker {self.address}: {key.name}"
        if self._security.tls is None:
            return ConnectionFailed(f"{prefix}: {error.strerror or error}")
        return client.tls_connection.failure_of(error, prefix)
