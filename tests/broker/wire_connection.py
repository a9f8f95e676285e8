"""A socket to a broker under test that sends any bytes and reports the response or the closed connection."""

import contextlib
import socket
import struct
from typing import Self

# Longer than any answer takes on a machine that does much else; a test never waits it out.
ANSWER_SECONDS_MAX = 10.0
API_VERSIONS, METADATA, PRODUCE, FETCH, CREATE_TOPICS = 18, 3, 0, 1, 19


def framed(body: bytes) -> bytes:
    """The body with its size in front."""
    return struct.pack(">i", len(body)) + body


def header(api_key: int, version: int, correlation_id: int, *, is_flexible: bool = False) -> bytes:
    """A request header without a client id."""
    return struct.pack(">hhih", api_key, version, correlation_id, -1) + (b"\0" if is_flexible else b"")


def api_versions_request(correlation_id: int = 1) -> bytes:
    """The shortest request there is, framed."""
    return framed(header(API_VERSIONS, 0, correlation_id))


class WireConnection:
    """One connection."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_what_is_taken(self, data: bytes) -> None:
        """Send to a peer that may close meanwhile."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def receive_frame(self) -> bytes:
        """The next answer without its size."""
        (size,) = struct.unpack(">i", self._receive_exactly(4))
        return self._receive_exactly(size)

    def _receive_exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            chunk = self.socket.recv(size - len(received))
            if not chunk:
                raise ConnectionError(f"closed after {len(received)} of {size} bytes")
            received += chunk
        return bytes(received)

    def receive_until_closed(self) -> bytes:
        """All that still comes; raises TimeoutError when the broker keeps the connection open."""
        received = bytearray()
        try:
            while chunk := self.socket.recv(1 << 16):
                received += chunk
        except ConnectionResetError:
            pass
        return bytes(received)


def correlation_id_of(answer: bytes) -> int:
    return int.from_bytes(answer[:4], "big", signed=True)


def still_serves(address: str) -> bool:
    """Whether a new connection is answered."""
    with WireConnection(address) as connection:
        connection.send(api_versions_request(77))
        return correlation_id_of(connection.receive_frame()) == 77
