"""One connection that sends any request, valid or not, and reads the response."""

import contextlib
import socket
import ssl
import struct
from collections.abc import Mapping

from . import raw_apis, raw_apis_transactions
from .raw_primitives import RawReader, RawWriter
from .raw_schema import Api, Decoder, Encoder, Struct, Value

# Longer than the broker's longest wait in a case; a case that is never answered brings its own, shorter one.
ANSWER_TIMEOUT_SECONDS = 40.0


class Closed(Exception):
    """The broker closed the connection."""


class RawConnection:
    """A blocking connection; frames are built apart from sending, so that tests may cut and change them."""

    def __init__(self, host: str, port: int, *, client_id: str = "golden", timeout: float = ANSWER_TIMEOUT_SECONDS):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client_id = client_id
        self.correlation_id = 0

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.close()

    def header(self, api_key: int, version: int, *, is_flexible: bool) -> RawWriter:
        """A writer that holds the request header with the next correlation id."""
        self.correlation_id += 1
        writer = RawWriter()
        writer.int16(api_key)
        writer.int16(version)
        writer.int32(self.correlation_id)
        writer.int16(len(self.client_id))
        writer.raw(self.client_id.encode())
        if is_flexible:
            writer.unsigned_varint(0)
        return writer

    def request(self, api: Api, version: int, body: Mapping[str, Value]) -> bytes:
        """A request without its four size bytes."""
        is_flexible = version >= api.flexible_since
        encoder = Encoder(version, is_flexible=is_flexible)
        encoder.struct(api.request, body)
        return self.header(api.key, version, is_flexible=is_flexible).getvalue() + encoder.writer.getvalue()

    def send(self, request: bytes) -> None:
        """Send with the size in front. Raises Closed when the broker is gone."""
        try:
            self.socket.sendall(struct.pack(">i", len(request)) + request)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError) as error:
            raise Closed from error

    def receive(self) -> bytes:
        """The next response without its size. Raises Closed, and TimeoutError when there is none in time."""
        return self._receive_exactly(int.from_bytes(self._receive_exactly(4), "big", signed=True))

    def _receive_exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                chunk = self.socket.recv(size - len(received))
            except (ConnectionResetError, ssl.SSLError) as error:
                raise Closed from error
            if not chunk:
                raise Closed
            received += chunk
        return bytes(received)

    def parse(self, api: Api, version: int, response: bytes) -> Struct:
        is_flexible = version >= api.flexible_since
        reader = RawReader(response)
        reader.int32()
        # ApiVersions keeps the old response header for ever: the client does not yet know what the broker speaks.
        if is_flexible and api.key != raw_apis.API_VERSIONS.key:
            reader.unsigned_varint()
        return Decoder(reader, version, is_flexible=is_flexible).struct(api.response)

    def call(self, api: Api, version: int, body: Mapping[str, Value]) -> Struct:
        self.send(self.request(api, version, body))
        return self.parse(api, version, self.receive())

    def is_alive(self) -> bool:
        """Whether the broker still answers here; also waits until it has worked on all that was sent before."""
        try:
            self.call(raw_apis.API_VERSIONS, 3, {})
        except Closed:
            return False
        return True


def find_coordinator(connection: RawConnection, key: str, *, key_type: int) -> Struct:
    """The coordinator of a group (0) or transactional id (1); asking makes a real broker create its internal topic."""
    api = raw_apis_transactions.FIND_COORDINATOR
    answer = connection.call(api, 4, {"key_type": key_type, "coordinator_keys": [key]})
    return answer.structs("coordinators")[0]
