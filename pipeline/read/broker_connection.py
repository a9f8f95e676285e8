"""A blocking connection to a broker, with one request in flight, in API versions that both sides support."""

from __future__ import annotations

import socket
from collections.abc import Callable
from struct import Struct
from types import TracebackType
from typing import Self, TypeVar

from ...protocol.api_keys import APIS, ApiKey
from ...protocol.client_requests import RequestMessage, read_response, request_frame
from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FrameError
from ...protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ...protocol.primitives import Reader

# The last versions with topic names. Later ones need topic ids.
VERSIONS_MAX = {ApiKey.FETCH: 12, ApiKey.LIST_OFFSETS: 7, ApiKey.METADATA: 12}

# Larger than any response: a fetch asks for less, and a single batch is limited by the request size.
RESPONSE_BYTES_MAX = 128 * 1024 * 1024

_SIZE = Struct(">i")

Response = TypeVar("Response")


class BrokerError(Exception):
    """A broker does not respond, or its response is invalid. The message is one line and names the broker."""


class BrokerConnection:
    """A connection to one broker; a context manager that closes it."""

    def __init__(self, host: str, port: int, timeout_ms: int) -> None:
        """Connect and request the API versions. timeout_ms: for each socket operation. Raises BrokerError."""
        self.address = f"{host}:{port}"
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_ms / 1000)
        except OSError as error:
            raise BrokerError(f"broker {self.address}: no connection: {error.strerror or error}") from None
        try:
            # Each request is sent at once and whole.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            response = self._send(ApiKey.API_VERSIONS, 0, ApiVersionsRequest(), ApiVersionsResponse.read)
        except BaseException:
            self._socket.close()
            raise
        self._versions = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, key: ApiKey, message: RequestMessage, read: Callable[[Reader, int], Response]) -> Response:
        """Send a request in the newest version that both sides support. Return the response. Raises BrokerError."""
        least, most = self._versions.get(key, (0, -1))
        first, last = APIS[key].first_version, VERSIONS_MAX.get(key, APIS[key].last_version)
        version = min(most, last)
        if version < max(least, first):
            raise BrokerError(f"broker {self.address}: supports {key.name} {least}-{most}, not {first}-{last}")
        return self._send(key, version, message, read)

    def _send(
        self, key: ApiKey, version: int, message: RequestMessage, read: Callable[[Reader, int], Response]
    ) -> Response:
        self._correlation_id += 1
        try:
            self._socket.sendall(request_frame(APIS[key], version, self._correlation_id, message))
            size: int = _SIZE.unpack(self._receive(_SIZE.size))[0]
            if not 0 < size <= RESPONSE_BYTES_MAX:
                raise FrameError(f"a response of {size} bytes")
            return read_response(APIS[key], version, self._correlation_id, self._receive(size), read)
        except TimeoutError:
            raise BrokerError(f"broker {self.address}: no response to {key.name} in time") from None
        except (OSError, FrameError) as error:
            raise BrokerError(f"broker {self.address}: {key.name}: {error}") from None

    def _receive(self, size: int) -> bytes:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            count = self._socket.recv_into(view)
            if not count:
                raise FrameError("the broker closed the connection")
            view = view[count:]
        return bytes(buffer)


def error_name(code: int) -> str:
    """Return Kafka's name of an error code."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"
