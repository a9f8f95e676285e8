"""Sends frames one by one to a running broker, and reports what each does to it alone."""

from __future__ import annotations

from dataclasses import dataclass

from ..broker.server_process import ServerProcess
from ..wire.wire_connection import WireConnection
from .pause_probe import PauseMeter

# A request that is not handled by then waits for something, and does not block the event loop.
RESPONSE_SECONDS_MAX = 0.05
RECEIVED_BYTES = 1 << 16
# The broker begins to read from a new connection within this many requests of another one, and handles a frame within
# as many.
PROBES = 3


@dataclass(frozen=True, slots=True)
class Resent:
    """What a frame did. received: the bytes that arrived first; None if none did. error: the first error logged."""

    received: bytes | None
    is_closed: bool
    pause_ms: float
    error: str | None


class Resender:
    """Reads the log of a broker, and sends frames to it."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._log_position = 0
        self._meter = PauseMeter(server.address, server.process.pid)

    def close(self) -> None:
        self._meter.close()

    def next_error(self) -> str | None:
        """Return the first error that was logged since the last call: a line of level error, or with a traceback."""
        with self._server.log_file.open("rb") as file:
            file.seek(self._log_position)
            written, newline, _ = file.read().rpartition(b"\n")
        self._log_position += len(written) + len(newline)
        if b'"exception"' not in written and b'"level": "error"' not in written and b"Traceback" not in written:
            return None
        return next(line.decode(errors="replace") for line in written.splitlines() if is_error(line))

    def resend(self, data: bytes, address: str | None = None) -> Resent:
        """Send the bytes on a connection of their own. Raises OSError if the broker serves no more.

        address: of a listener; None for the first one.
        """
        with WireConnection(address or self._server.address) as connection:
            for _ in range(PROBES):
                self._meter.measure()
            connection.send(data)
            pause_ms = max(self._meter.measure().ms for _ in range(PROBES))
            if not connection.has_received(RESPONSE_SECONDS_MAX):
                return Resent(None, is_closed=False, pause_ms=pause_ms, error=self.next_error())
            try:
                received = connection.socket.recv(RECEIVED_BYTES)
            except ConnectionError:
                received = b""
        return Resent(received or None, is_closed=not received, pause_ms=pause_ms, error=self.next_error())


def is_error(line: bytes) -> bool:
    """Whether a line of the log is an error of the broker, and not of a client."""
    return b'"level": "error"' in line or b'"exception"' in line or b"Traceback" in line
