"""Whether a socket can be read or written, in a process with any number of descriptors: select() knows only 1,024."""

import select
import socket


def is_readable(connection: socket.socket, seconds: float) -> bool:
    """Return whether there are bytes, or the end, within this time."""
    return _is_ready(connection, select.POLLIN, seconds)


def is_writable(connection: socket.socket, seconds: float) -> bool:
    """Return whether the peer takes bytes within this time."""
    return _is_ready(connection, select.POLLOUT, seconds)


def _is_ready(connection: socket.socket, event: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(connection, event)
    return bool(poll.poll(1000 * seconds))
