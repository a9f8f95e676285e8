"""Isolates the tests of a broker: each has its own addresses, and clients of earlier tests are rejected.

- When a test begins, the nodes listen on other free ports, and their state is reset.
- The listening sockets of the test before stay open here, so that no other process gets their ports. Each connection to
  them is closed after its first bytes, which have the client id. No request is handled.
- Only the sockets of the last TESTS_KEPT_MAX tests stay open. No later test gets a port of an earlier one.

Everything here runs on the broker's event loop.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING

from .. import admin

if TYPE_CHECKING:
    from ..admin.control import Control

# A client that is not closed tries to reach its broker for minutes. Each socket costs a file descriptor and a port.
TESTS_KEPT_MAX = 16
# The system rarely chooses a port that an earlier test had.
PORT_CHOICES_MAX = 20
# A client sends its first request at once.
FIRST_BYTES_SECONDS_MAX = 1.0
# The different clients of which a test keeps the number of connections.
CLIENTS_KEPT_MAX = 100
# Size, API key, API version and correlation id of a request, and the length of its client id (-1: null).
_HEADER = Struct(">ihhih")
# Far more than the first request of a client has; the first bytes of a TLS handshake are a greater number.
_REQUEST_BYTES_MAX = 1024 * 1024


@dataclass(frozen=True, slots=True)
class EarlierClient:
    """A client that tried to reach the broker of an earlier test.

    test: the name of that test. client_id: None if it sent none, or encrypted it. address: its IP address.
    """

    test: str
    client_id: str | None
    address: str


class IsolatedTests:
    """Gives each test of a broker its own addresses, and counts the rejected connections of earlier ones."""

    def __init__(self, control: Control) -> None:
        """Keep the present addresses for the first test. Each configured port is 0."""
        self._server = control.server
        self._control = control
        self._test: str | None = None
        # The servers that reject the clients of the last tests, by test.
        self._rejecting: deque[list[asyncio.Server]] = deque()
        self._ports: set[int] = set()
        # The number of rejected connections since the test began.
        self.rejected: Counter[EarlierClient] = Counter()

    async def begin_test(self, name: str) -> None:
        """Reset the broker as reset("all") does, on other ports than those of the test before.

        Raises CallError 409 as a reset does, and OSError if no port is free.
        """
        await admin.operations.crash_operations.ensure_all_running(self._control)
        earlier, self._test = self._test, name
        sockets: list[socket.socket] = []
        if earlier is not None:
            sockets = [each for server in self._server.servers for each in server.socket_server.hand_over()]
        await admin.operations.reset_operations.reset(self._control, admin.operations.reset_operations.Reset())
        if earlier is not None:
            await self._move()
            await self._reject_clients(sockets, earlier)
        self.rejected.clear()

    async def _move(self) -> None:
        """Listen on ports that no test has had."""
        self._ports |= self._present_ports()
        for server in self._server.servers:
            for _ in range(PORT_CHOICES_MAX):
                await server.move()
                if self._ports.isdisjoint(listener.port for listener in server.listeners):
                    break
                server.socket_server.stop_listening()

    def _present_ports(self) -> set[int]:
        return {listener.port for server in self._server.servers for listener in server.listeners}

    async def _reject_clients(self, sockets: Sequence[socket.socket], test: str) -> None:
        """Reject all connections to the sockets from now on. test: whose addresses they were."""
        loop = asyncio.get_running_loop()
        make = partial(_RejectedConnection, partial(self._count, test))
        self._rejecting.append([await loop.create_server(make, sock=each) for each in sockets])
        if len(self._rejecting) > TESTS_KEPT_MAX:
            _close(self._rejecting.popleft())

    def _count(self, test: str, client_id: str | None, address: str) -> None:
        client = EarlierClient(test, client_id, address)
        if client in self.rejected or len(self.rejected) < CLIENTS_KEPT_MAX:
            self.rejected[client] += 1

    def close(self) -> None:
        """Close the sockets of all earlier tests."""
        while self._rejecting:
            _close(self._rejecting.popleft())


class _RejectedConnection(asyncio.Protocol):
    """A connection that is closed as soon as its client id has been read."""

    def __init__(self, count: Callable[[str | None, str], None]) -> None:
        """count: called once with the client id and the IP address."""
        self._count: Callable[[str | None, str], None] | None = count
        self._received = b""
        self._transport: asyncio.BaseTransport | None = None
        self._timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first bytes."""
        self._transport = transport
        self._timeout = asyncio.get_running_loop().call_later(FIRST_BYTES_SECONDS_MAX, self._reject, None)

    def data_received(self, data: bytes) -> None:
        """Close the connection if the client id has arrived, or cannot be read."""
        self._received += data
        if len(self._received) >= _HEADER.size:
            request_bytes, _, _, _, client_id_bytes = _HEADER.unpack_from(self._received)
            end = _HEADER.size + client_id_bytes
            if client_id_bytes < 0 or not 0 < request_bytes <= _REQUEST_BYTES_MAX:
                self._reject(None)
            elif len(self._received) >= end:
                self._reject(self._received[_HEADER.size : end].decode(errors="replace"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Count a connection that its client has closed."""
        self._reject(None)

    def _reject(self, client_id: str | None) -> None:
        assert self._transport is not None, "a connection is made before anything else"
        assert self._timeout is not None, "a connection is made before anything else"
        self._timeout.cancel()
        count, self._count = self._count, None
        if count is not None:
            peer = self._transport.get_extra_info("peername")
            count(client_id, str(peer[0]) if peer else "an unknown address")
        self._transport.close()


def _close(servers: Sequence[asyncio.Server]) -> None:
    for each in servers:
        each.close()
