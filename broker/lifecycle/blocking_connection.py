"""A blocking client connection: one request at a time. For commands, not for the broker."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ...protocol.api_keys import APIS, ApiKey
from ...protocol.client_requests import RequestMessage, read_response, request_frame
from ...protocol.frames import FRAME_SIZE_BYTES, FrameError
from ...protocol.primitives import Reader

if TYPE_CHECKING:
    from ssl import SSLContext

Response = TypeVar("Response")


class ConnectionFailed(Exception):
    """The broker cannot be reached, or its response is invalid. The message is one line with its address."""


class BlockingConnection:
    """A client connection. Every read and write has the timeout of timeout_seconds."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        timeout_seconds: float,
        response_bytes_max: int,
        tls: SSLContext | None = None,
    ) -> None:
        """Connect, with TLS where there is a context for it.

        response_bytes_max: a larger response is an error. Raises ConnectionFailed.
        """
        self._address = f"{host}:{port}"
        self._answer_bytes_max = response_bytes_max
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_seconds)
            if tls is not None:
                self._start_tls(tls, host)
        except OSError as error:
            # Failed TLS handshakes, too: their errors are of this class.
            raise ConnectionFailed(f"{self._address}: {error}") from error

    def _start_tls(self, tls: SSLContext, host: str) -> None:
        plain = self._socket
        try:
            self._socket = tls.wrap_socket(plain, server_hostname=host)
        except OSError:
            plain.close()
            raise

    def send_request(
        self, api_key: ApiKey, version: int, request: RequestMessage, read: Callable[[Reader, int], Response]
    ) -> Response:
        """Send the request and return its response.

        read: the read method of the response message. Raises ConnectionFailed.
        """
        api = APIS[api_key]
        self._correlation_id += 1
        try:
            self._socket.sendall(request_frame(api, version, self._correlation_id, request))
            frame = self._received(self._size_of(self._received(FRAME_SIZE_BYTES)))
        except OSError as error:
            raise ConnectionFailed(f"{self._address}: {error}") from error
        try:
            return read_response(api, version, self._correlation_id, frame, read)
        except FrameError as error:
            raise ConnectionFailed(f"{self._address} does not respond as a Kafka broker: {error}") from error

    def _size_of(self, size_bytes: bytes) -> int:
        size = int.from_bytes(size_bytes, "big", signed=True)
        if not 0 < size <= self._answer_bytes_max:
            raise ConnectionFailed(f"{self._address}: a response of {size} bytes is not from a Kafka broker")
        return size

    def _received(self, count: int) -> bytes:
        received = bytearray()
        while len(received) < count:
            more = self._socket.recv(count - len(received))
            if not more:
                raise ConnectionFailed(
                    f"{self._address}: the connection was closed after {len(received)} of {count} bytes"
                )
            received += more
        return bytes(received)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
