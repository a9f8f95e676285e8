"""HTTP on the broker's event loop: uvicorn without its own process, signal handlers and logging."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Generator
from typing import TYPE_CHECKING

import uvicorn

from ..storage.file_systems.descriptor_limit import find_descriptor_limit
from .admin_options import LISTEN_BACKLOG
from .http_connection import ConnectionTable, HttpConnection

if TYPE_CHECKING:
    from ssl import SSLContext

    from starlette.applications import Starlette

# Open connections, and so concurrent calls. http_connection describes what happens to more.
CONNECTIONS_MAX = 1000
# The share of the file descriptors of the process, of which Kafka's clients and the log files need most.
SHARE_OF_DESCRIPTORS = 4
# Idle time of a connection, in real time.
KEEP_ALIVE_SECONDS = 75
# How long stop waits for calls in progress.
STOP_TIMEOUT_SECONDS = 2
START_TIMEOUT_SECONDS = 10.0


class HttpServer:
    """Serves one application on one socket. `await start()`, then `await stop()`, both on one event loop."""

    def __init__(self, application: Starlette, bound: socket.socket, tls: SSLContext | None = None) -> None:
        """Create the server of a listening socket. tls: None for HTTP."""
        config = uvicorn.Config(
            application,
            http=HttpConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            backlog=LISTEN_BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_TIMEOUT_SECONDS,
        )
        self._bound = bound
        self._server = _Server(config, tls)
        self._serving: asyncio.Task[None] | None = None

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return len(self._server.server_state.connections)

    @property
    def calls(self) -> int:
        """The number of calls without a complete response."""
        return len(self._server.server_state.tasks)

    async def start(self) -> None:
        """Start, and return when clients can call. Raises OSError."""
        self._serving = asyncio.create_task(self._server.serve([self._bound]))
        started = asyncio.create_task(self._server.is_up.wait())
        await asyncio.wait({self._serving, started}, timeout=START_TIMEOUT_SECONDS, return_when="FIRST_COMPLETED")
        started.cancel()
        if self._serving.done():
            self._serving.result()

    async def stop(self) -> None:
        """Close the socket and all connections, after calls in progress or STOP_TIMEOUT_SECONDS."""
        self._server.must_stop.set()
        if self._serving is not None:
            await self._serving
        self._bound.close()


def connections_max() -> int:
    """Return the number of connections that may be open."""
    limit = find_descriptor_limit()
    return CONNECTIONS_MAX if limit is None else min(CONNECTIONS_MAX, limit // SHARE_OF_DESCRIPTORS)


class _Server(uvicorn.Server):
    """uvicorn's server without signal handlers, and without its timer that fires ten times a second."""

    def __init__(self, config: uvicorn.Config, tls: SSLContext | None) -> None:
        super().__init__(config)
        self._tls = tls
        self.server_state = ConnectionTable(connections_max())
        self.is_up = asyncio.Event()
        self.must_stop = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn would load it from files, which are none of a throw-away certificate.
        self.config.ssl = self._tls
        await super().startup(sockets)
        self.is_up.set()

    async def main_loop(self) -> None:
        await self.must_stop.wait()
