"""A port that stays reserved while its broker restarts."""

from __future__ import annotations

import socket


class ReservedPort:
    """A bound port without a listener.

    Otherwise the system could give the port to a client that tries to reconnect, and the broker could not bind it.
    """

    def __init__(self) -> None:
        """Bind any free port."""
        self._socket = socket.socket()
        # A listener with the same option can bind the port too, because this socket never listens.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        """Release the port."""
        self._socket.close()
