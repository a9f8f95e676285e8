"""The token endpoint of a broker in a test: the OAuth calls of the admin API on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..admin.admin_options import AdminOptions, bind
from ..admin.application import make_application
from ..admin.http_server import HttpServer
from ..admin.operations.oauth_operations import OPERATIONS, TOKEN_PATH

if TYPE_CHECKING:
    from ..admin.control import Control

HOST = "127.0.0.1"


class TokenEndpoint:
    """An HTTP server on the broker's event loop, which issues tokens to the users.

    url: where clients get a token. Calls wait in the backlog until the event loop runs.
    """

    def __init__(self, control: Control) -> None:
        """Listen, and start on the running event loop. Raises OSError."""
        address = bind(AdminOptions(host=HOST, port=0, is_port_asked=True))
        self.url = f"http://{address.address}{TOKEN_PATH}"
        self._server = HttpServer(
            make_application(control, OPERATIONS, token=None, stopping=asyncio.Event()), address.bound
        )
        self._starting = asyncio.get_running_loop().create_task(self._server.start())

    async def stop(self) -> None:
        """Stop the server."""
        await self._starting
        await self._server.stop()
