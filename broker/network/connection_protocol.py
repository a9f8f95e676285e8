"""The asyncio protocol of a connection's transport.

asyncio recognises a protocol that receives into a buffer by its base class, and a compiled class cannot derive from an
interpreted one. So the protocol is a plain class, and the connection a compiled one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .connection import Connection


class ConnectionProtocol(asyncio.BufferedProtocol):
    """Passes the events of a transport to its connection."""

    def __init__(self, connection: Connection) -> None:
        """Serve a connection that has no transport yet."""
        self._connection = connection
        # For each read. A method here would cost a call more.
        self.get_buffer = connection.get_buffer  # type: ignore[method-assign]
        self.buffer_updated = connection.buffer_updated  # type: ignore[method-assign]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give the connection its transport."""
        self._connection.connection_made(transport)

    def eof_received(self) -> bool:
        """Return whether the transport stays open after the end of the client's bytes."""
        return self._connection.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection."""
        self._connection.connection_lost(exc)

    def pause_writing(self) -> None:
        """Stop the writes, because the transport's buffer is full."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """Let the writes go on."""
        self._connection.resume_writing()
