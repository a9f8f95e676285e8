"""The admin API of the broker of a run over HTTP, for a command that reports what it has processed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...admin.application import make_application
from ...admin.http_server import HttpServer
from ...admin.operations.all_operations import OPERATIONS

if TYPE_CHECKING:
    from ..broker import Broker


@contextmanager
def served_admin(broker: Broker) -> Generator[str]:
    """Serve the admin API on a free port of 127.0.0.1 within the block. Yields its URL."""
    bound = socket.create_server(("127.0.0.1", 0))
    loop, stopping = broker.call(asyncio.get_running_loop), asyncio.Event()

    async def start() -> HttpServer:
        server = HttpServer(make_application(broker.control, OPERATIONS, token=None, stopping=stopping), bound)
        await server.start()
        return server

    async def stop() -> None:
        stopping.set()
        await server.stop()

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
