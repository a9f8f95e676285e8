"""A port for a broker that is killed and started again."""

from __future__ import annotations

import socket


class HeldPort:
    """A port that stays ours while nobody listens on it.

    Without it a client that tries to reconnect could be given the port for its own end, and would keep the broker out.
    """

    def __init__(self) -> None:
        """Take any free one."""
        self._socket = socket.socket()
        # A listener with the same option may share the port, as this one never listens.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        """Give it back."""
        self._socket.close()
