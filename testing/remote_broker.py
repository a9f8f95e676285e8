"""A broker in another process or container, called through its admin API."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..admin.async_methods.broker import AsyncBrokerMethods
from ..admin.client.admin_client import AdminClient, BadCall, JsonObject, parse_address
from ..admin.client.http_broker import HttpBroker
from ..admin.errors import Unreachable
from ..admin.methods.base import AnyOperation
from ..admin.methods.remote import HttpSend, error_of
from ..faults import strict_json

if TYPE_CHECKING:
    from ..broker.lifecycle.cluster_server import NodeState

RUNNING: NodeState = "running"


class RemoteBroker(HttpBroker):
    """The methods of Broker, over HTTP. `call` sends any call of the admin API.

    Raises CallError for a call that the broker refuses, InvalidValueError for an invalid rule or argument, and
    Unreachable if nothing responds.
    """

    def __init__(self, admin: str, token: str | None = None, *, ca: str | os.PathLike[str] | None = None) -> None:
        """admin: "http://host:port", or "https://host:port". token: of --admin-token.

        ca: a file with the certificate of the authority of an API with HTTPS; None for the authorities of the system.
        Raises BadCall for a file that cannot be read.
        """
        super().__init__(client_of(admin, token, ca))

    @property
    def bootstrap_servers(self) -> str:
        """The addresses that the nodes advertise on their first listeners, "host:port", joined by commas."""
        return ",".join(node.bootstrap for node in self.nodes())

    @property
    def is_running(self) -> bool:
        """Whether clients can connect to a node; False if the admin API does not respond."""
        try:
            return any(node.state == RUNNING for node in self.nodes())
        except Unreachable:
            return False

    def call(
        self, method: str, path: str, body: Struct | Mapping[str, object] | None = None, **query: object
    ) -> JsonObject:
        """Send a call of the admin API and return the body of its response."""
        content = None if body is None else strict_json.encode(body)
        try:
            return self._client.call(method, path, content, **query)
        except BadCall as error:
            raise error_of(error) from None


class AsyncRemoteBroker(AsyncBrokerMethods):
    """The methods of AsyncBroker, over HTTP; each call waits in a thread. Raises as RemoteBroker."""

    def __init__(self, admin: str, token: str | None = None, *, ca: str | os.PathLike[str] | None = None) -> None:
        """admin, token, ca: as of RemoteBroker."""
        self._client = client_of(admin, token, ca)
        self._blocking = HttpSend(self._client)
        super().__init__(self._send_in_thread)

    @property
    def _address(self) -> str:
        return self._client.address.url

    @property
    async def bootstrap_servers(self) -> str:
        """The addresses of the nodes; as of RemoteBroker."""
        return ",".join(node.bootstrap for node in await self.nodes())

    @property
    async def is_running(self) -> bool:
        """Whether clients can connect to a node; as of RemoteBroker."""
        try:
            return any(node.state == RUNNING for node in await self.nodes())
        except Unreachable:
            return False

    async def _send_in_thread(self, operation: AnyOperation, arguments: Mapping[str, object]) -> Any:
        return await asyncio.to_thread(self._blocking, operation, arguments)


def client_of(admin: str, token: str | None, ca: str | os.PathLike[str] | None) -> AdminClient:
    """Return the client of an admin API. Raises BadCall."""
    return AdminClient(parse_address(admin), token, None if ca is None else os.fspath(ca))
