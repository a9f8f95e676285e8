"""One request from its frame to its answer (Kafka: SocketServer's request header checks and KafkaApis.handle).

The header is read here, the API's handler is found here, and what goes wrong in a handler is turned into an answer
here. Handlers are imported when the first request for them comes: a broker that starts does not pay for all of them.
"""

from __future__ import annotations

import asyncio
import logging
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, cast

from ..protocol.api_keys import APIS, ApiKey
from ..protocol.frames import FrameError
from ..protocol.primitives import Reader
from . import handlers
from .request_context import Buffers, Deferred, RequestContext, RequestHandler

if TYPE_CHECKING:
    from .connection import Connection

logger = logging.getLogger(__name__)

# api key, api version, correlation id, length of the client id (-1: null).
_HEADER = Struct(">hhih")


class Dispatcher:
    """Answers the requests of all connections of one node."""

    def __init__(self) -> None:
        """Start without connections, and without a handler loaded."""
        self._handlers: dict[int, RequestHandler] = {}
        self._connections: set[Connection] = set()
        self._all_closed: asyncio.Future[None] | None = None

    def connection_opened(self, connection: Connection) -> None:
        """Remember a connection until it is closed."""
        self._connections.add(connection)

    def connection_closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self._connections.discard(connection)
        if not self._connections and self._all_closed is not None and not self._all_closed.done():
            self._all_closed.set_result(None)

    def close_connections(self) -> None:
        """Close every connection; their waiting requests are abandoned."""
        for connection in list(self._connections):
            connection.close()

    def abort_connections(self) -> None:
        """Close every connection without a wait for what it still has to read."""
        for connection in list(self._connections):
            connection.abort()

    async def wait_closed(self) -> None:
        """Return when no connection is left."""
        if self._connections:
            self._all_closed = asyncio.get_running_loop().create_future()
            await self._all_closed

    def answer(
        self, context: RequestContext, frame: memoryview, start: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Answer the request in frame[start:end].

        Raises FrameError where it does not decode, or asks for an API or a version that is not served: the connection
        is closed then, as Kafka does it.
        """
        if end - start < _HEADER.size:
            raise FrameError(f"a request header of {end - start} bytes; {_HEADER.size} are the least")
        api_key, api_version, correlation_id, client_id_bytes = _HEADER.unpack_from(frame, start)
        api = APIS.get(api_key)
        if api is None or api_key not in handlers.HANDLERS:
            raise FrameError(f"api key {api_key} is not served")
        context.api_key = api_key
        context.correlation_id = correlation_id
        # The one handler that answers versions it does not know, so that a newer client can find out (KIP-511).
        if not api.first_version <= api_version <= api.last_version and api_key != ApiKey.API_VERSIONS:
            raise FrameError(
                f"{api.name} version {api_version} is not served; allowed: {api.first_version} to {api.last_version}"
            )
        context.api_version = api_version
        position = self._read_client_id(context, frame, start + _HEADER.size, client_id_bytes, end)
        context.is_flexible = api_version >= api.flexible_since
        if context.is_flexible:
            position = position + 1 if position < end and not frame[position] else _after_tags(frame, position, end)
        handler = self._handlers.get(api_key) or self._load_handler(api_key)
        return handler.answer(context, frame, position, end)

    @staticmethod
    def _read_client_id(context: RequestContext, frame: memoryview, start: int, size: int, end: int) -> int:
        """Set the context's client id from frame[start:start + size]; return the position behind it."""
        if size < -1 or start + size > end:
            raise FrameError(f"a client id of {size} bytes; {end - start} are left")
        if size == -1:
            context.set_client_id(None)
            return start
        context.set_client_id(bytes(frame[start : start + size]))
        return start + size

    def _load_handler(self, api_key: int) -> RequestHandler:
        module = import_module(f"{handlers.__name__}.{APIS[ApiKey(api_key)].module}")
        handler = self._handlers[api_key] = cast(RequestHandler, module.HANDLER)
        return handler


def _after_tags(frame: memoryview, position: int, end: int) -> int:
    """Return the position behind the header's tagged fields, none of which is known."""
    reader = Reader(frame, position, end)
    reader.skip_tagged_fields()
    return reader.position
