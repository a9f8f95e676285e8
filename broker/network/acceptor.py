"""Accepts the connections of one listener (Kafka: SocketServer.Acceptor).

Rules:
- A connection that may not be accepted now waits in the backlog of the listening socket: its client is connected and
  gets no response. `resume` accepts again, when a connection has closed or a maximum was raised.
- The last descriptors of the process are not for connections. Established connections need them for files, and for the
  modules that the first request of an API imports.
- Without room for descriptors, and after an error, the listener retries every second too: descriptors of files are
  closed unnoticed.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Sequence

from ...storage.file_systems.open_descriptors import can_open, left_by_connections

logger = logging.getLogger(__name__)

# As asyncio's servers.
_RETRY_SECONDS = 1.0
# A line for each client that waits would fill the log.
_LOG_SECONDS = 10.0
# Accepted in one turn of the event loop, so that requests of others are handled in between.
_ACCEPTED_AT_ONCE = 50


class Acceptor:
    """Accepts from the listening sockets of one listener, on the running event loop."""

    def __init__(
        self,
        name: str,
        sockets: Sequence[socket.socket],
        has_slot: Callable[[], bool],
        accepted: Callable[[socket.socket, str], None],
    ) -> None:
        """Accept nothing yet.

        name: of the listener, for the log. has_slot: whether another connection may be accepted.
        accepted: called with each accepted socket and the IP address of its client; owns the socket.
        """
        self.sockets = sockets
        self._name = name
        self._has_slot = has_slot
        self._accepted = accepted
        self._loop = asyncio.get_running_loop()
        self._left_free = left_by_connections()
        self._is_accepting = False
        self._is_closed = False
        self._retry: asyncio.TimerHandle | None = None
        self._logged_at = -_LOG_SECONDS

    def resume(self) -> None:
        """Accept connections, until there is no room."""
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if not self._is_accepting and not self._is_closed:
            self._is_accepting = True
            for listening in self.sockets:
                self._loop.add_reader(listening.fileno(), self._accept, listening)

    def drop_waiting(self, connections_max: int) -> None:
        """Close the connections that wait to be accepted, at most connections_max at each listening socket."""
        for listening in self.sockets:
            for _ in range(connections_max):
                try:
                    accepted, _ = listening.accept()
                except OSError:
                    # None is left, or the process has no file descriptor for it.
                    break
                accepted.close()

    def close(self) -> None:
        """Accept no more, and close the listening sockets."""
        for listening in self.hand_over():
            listening.close()

    def hand_over(self) -> Sequence[socket.socket]:
        """Accept no more, and return the listening sockets, which the caller closes."""
        self._pause()
        self._is_closed = True
        return self.sockets

    def _pause(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if self._is_accepting:
            self._is_accepting = False
            for listening in self.sockets:
                self._loop.remove_reader(listening.fileno())

    def _retry_later(self) -> None:
        self._pause()
        self._retry = self._loop.call_later(_RETRY_SECONDS, self.resume)

    def _accept(self, listening: socket.socket) -> None:
        """Accept the connections in the backlog."""
        for _ in range(_ACCEPTED_AT_ONCE):
            if not self._has_slot():
                self._log("max.connections is reached")
                self._pause()
                return
            if not can_open(1 + self._left_free, listening.fileno()):
                self._log("the process has no file descriptor left for them (ulimit -n)")
                self._retry_later()
                return
            try:
                accepted, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._log(error.strerror or str(error))
                self._retry_later()
                return
            self._accepted(accepted, str(address[0]))

    def _log(self, reason: str) -> None:
        now = time.monotonic()
        if now - self._logged_at >= _LOG_SECONDS:
            self._logged_at = now
            logger.warning("listener %s: new connections wait until others are closed: %s", self._name, reason)
