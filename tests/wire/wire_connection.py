"""A blocking connection to a broker that sends any bytes, and waits for frames and for the end."""

from __future__ import annotations

import contextlib
import socket
import ssl
from pathlib import Path
from typing import Self

from ..ready_sockets import is_readable
from .frames import api_versions_request, correlation_id_of, framed

# Longer than any response takes on a busy machine. Only a broker that hangs reaches it.
SECONDS_MAX = 40.0
SIZE_BYTES = 4


class ConnectionClosedError(ConnectionError):
    """The broker closed the connection."""

    @property
    def is_reset(self) -> bool:
        """Whether by a reset and not by a FIN."""
        return isinstance(self.__cause__, ConnectionError)


class WireConnection:
    """One connection. seconds_max: for each wait, after which it raises TimeoutError; may be changed at any time."""

    def __init__(self, address: str, *, source: str | None = None, seconds_max: float = SECONDS_MAX) -> None:
        """Connect to "host:port". source: the host to connect from."""
        self.address = address
        self.seconds_max = seconds_max
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), seconds_max, None if source is None else (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def start_tls(self, context: ssl.SSLContext, server_hostname: str | None = None) -> ssl.SSLSocket:
        """Return the socket after the handshake."""
        self.socket = encrypted = context.wrap_socket(self.socket, server_hostname=server_hostname)
        return encrypted

    def send(self, data: bytes | bytearray) -> None:
        """Raises ConnectionClosedError."""
        self.socket.settimeout(self.seconds_max)
        try:
            self.socket.sendall(data)
        except (ConnectionError, ssl.SSLError) as error:
            raise ConnectionClosedError("closed while bytes were sent") from error

    def send_frame(self, body: bytes) -> None:
        """Send the body with its size in front. Raises ConnectionClosedError."""
        self.send(framed(body))

    def send_what_is_taken(self, data: bytes) -> None:
        """Send to a peer that may close meanwhile."""
        with contextlib.suppress(ConnectionClosedError):
            self.send(data)

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def receive_frame(self, name: str = "frame") -> bytes:
        """Return the next frame without its size. name: in errors. Raises ConnectionClosedError and TimeoutError."""
        size = int.from_bytes(self._receive(SIZE_BYTES, name), "big", signed=True)
        return self._receive(size, name)

    def receive_until_closed(self) -> bytes:
        """Return the bytes before the end, which is a FIN or a reset. Raises TimeoutError if there is none."""
        received = bytearray()
        part = bytearray(1 << 16)
        with contextlib.suppress(ConnectionClosedError):
            while count := self._receive_into(memoryview(part), "end of the connection"):
                received += part[:count]
        return bytes(received)

    def is_closed(self) -> bool:
        """Wait for the end, a FIN or a reset. Return whether there is no byte before it."""
        return self.receive_until_closed() == b""

    def is_closed_by_fin(self) -> bool:
        """Wait for the next byte or the end. Return whether it is a FIN. Raises ConnectionClosedError for a reset."""
        return not self._receive_into(memoryview(bytearray(1)), "end of the connection")

    def has_received(self, seconds: float = 0.0) -> bool:
        """Return whether there are bytes, or the end, within this time. They are not read."""
        assert not isinstance(self.socket, ssl.SSLSocket), "bytes that TLS has decrypted are not seen"
        return is_readable(self.socket, seconds)

    def _receive(self, size: int, name: str) -> bytes:
        received = bytearray(size)
        left = memoryview(received)
        while left:
            count = self._receive_into(left, name)
            if not count:
                raise ConnectionClosedError(f"closed after {size - len(left)} of {size} bytes of the {name}")
            left = left[count:]
        return bytes(received)

    def _receive_into(self, buffer: memoryview, name: str) -> int:
        self.socket.settimeout(self.seconds_max)
        try:
            return self.socket.recv_into(buffer)
        except TimeoutError:
            raise TimeoutError(f"{self.address}: no {name} within {self.seconds_max} s") from None
        except (ConnectionError, ssl.SSLError) as error:
            raise ConnectionClosedError(f"closed without a {name}") from error


def tls_without_checks(certificate: Path | None = None) -> ssl.SSLContext:
    """Return a context that trusts any server. certificate: a file with certificate and key of the client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate is not None:
        context.load_cert_chain(certificate)
    return context


def still_serves(address: str) -> bool:
    """Whether a new connection is answered."""
    with WireConnection(address) as connection:
        connection.send(api_versions_request(77))
        return correlation_id_of(connection.receive_frame()) == 77
