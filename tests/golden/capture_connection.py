"""One blocking connection to a broker: a request out, its response in. For the capture programs."""

import importlib
import socket
import struct
from collections.abc import Iterator, Sequence
from typing import Protocol

from fauxka.protocol.api_keys import APIS, Api
from fauxka.protocol.client_requests import RequestMessage, request_frame
from fauxka.protocol.primitives import Reader

# Longer than any max_wait that the programs send.
ANSWER_SECONDS_MAX = 20.0
CLIENT_ID = "capture"
# Behind the size, the API key and the version of a frame.
CORRELATION_ID = struct.Struct(">i")
CORRELATION_ID_POSITION = 8


class ResponseClass(Protocol):
    """A generated response class."""

    def read(self, reader: Reader, version: int) -> object:
        """Read the fields of that version."""
        ...


class ConnectionClosedError(Exception):
    """The broker closed the connection instead of answering."""


class Connection:
    """A connection that has one request under way at a time."""

    def __init__(self, bootstrap: str, client_id: str = CLIENT_ID, source: tuple[str, int] | None = None) -> None:
        """Connect to "host:port". source: host and port to connect from, 0 for any port."""
        host, port = bootstrap.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), ANSWER_SECONDS_MAX, source)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client_id = client_id
        self._correlation_id = 0

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def call(self, request: RequestMessage, version: int) -> object:
        """Return the response message.

        Raises ConnectionClosedError when the broker closed the connection, TimeoutError after ANSWER_SECONDS_MAX.
        """
        self.start(request, version)
        return self.finish(request, version)

    def repeat(self, request: RequestMessage, version: int, count: int) -> object:
        """Send the request so many times before the first response is read; return the last response."""
        frame = bytearray(self._frame_of(request, version))
        for _ in range(count):
            CORRELATION_ID.pack_into(frame, CORRELATION_ID_POSITION, self._correlation_id)
            self.socket.sendall(frame)
            self._correlation_id += 1
        self._correlation_id -= 1
        for _ in range(count - 1):
            self._frame()
        return self.finish(request, version)

    def start(self, request: RequestMessage, version: int) -> None:
        """Send the request; its answer is what the next finish returns."""
        self.socket.sendall(self._frame_of(request, version))

    def _frame_of(self, request: RequestMessage, version: int) -> bytes:
        """Return the frame of the request with the next correlation id."""
        self._correlation_id += 1
        return request_frame(api_of(request), version, self._correlation_id, request, client_id=self._client_id)

    def finish(self, request: RequestMessage, version: int) -> object:
        """Wait for the answer to the request that was started; raises as call does."""
        return self._response(request, version, self._correlation_id)

    def call_each(self, requests: Sequence[tuple[RequestMessage, int]]) -> Iterator[object]:
        """Send all requests, each with its version, and return the responses one by one; raises as call does.

        Both together must fit into the buffers of the sockets.
        """
        first = self._correlation_id + 1
        self.socket.sendall(b"".join(self._frame_of(request, version) for request, version in requests))
        for correlation_id, (request, version) in enumerate(requests, first):
            yield self._response(request, version, correlation_id)

    def _response(self, request: RequestMessage, version: int, expected_id: int) -> object:
        api = api_of(request)
        answer = self._frame()
        reader = Reader(answer)
        correlation_id = reader.int32()
        assert correlation_id == expected_id, f"asked {expected_id}, answered {correlation_id}"
        if version >= api.versions.flexible_since and api.name != "ApiVersions":
            assert reader.unsigned_varint() == 0, "a tagged field in the response header"
        response = response_class_of(api.module, api.name).read(reader, version)
        assert reader.position == len(answer), f"{len(answer) - reader.position} bytes after the response of {api.name}"
        return response

    def _frame(self) -> bytes:
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                part = self.socket.recv(size - len(received))
            except ConnectionResetError as error:
                raise ConnectionClosedError from error
            if not part:
                raise ConnectionClosedError
            received += part
        return bytes(received)


def api_of(request: RequestMessage) -> Api:
    """Return the API that a request message belongs to."""
    name = type(request).__name__.removesuffix("Request")
    return next(api for api in APIS.values() if api.name == name)


def response_class_of(module: str, name: str) -> ResponseClass:
    """Return the response class of an API, for example of ("metadata", "Metadata")."""
    response_class: ResponseClass = getattr(
        importlib.import_module(f"fauxka.protocol.messages.{module}"), f"{name}Response"
    )
    return response_class
