"""A connection of this process to itself, which no other process can take."""

from __future__ import annotations

import socket

_LOOPBACK = "127.0.0.1"
# Other processes may connect to the port while it is bound.
_ACCEPTED_MAX = 100


def connected_pair() -> tuple[socket.socket, socket.socket]:
    """Return the client's and the server's end of a connection over loopback. Raises OSError."""
    with socket.create_server((_LOOPBACK, 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        try:
            for _ in range(_ACCEPTED_MAX):
                accepted, address = listening.accept()
                if address == client.getsockname():
                    return client, accepted
                accepted.close()
        except OSError:
            client.close()
            raise
        client.close()
        raise ConnectionAbortedError(f"{_ACCEPTED_MAX} other connections came first")
