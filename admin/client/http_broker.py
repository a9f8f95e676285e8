"""A broker whose admin API is called over HTTP."""

from __future__ import annotations

from ..methods.broker import BrokerMethods
from ..methods.remote import HttpSend
from .admin_client import AdminClient


class HttpBroker(BrokerMethods):
    """The methods of a broker, over HTTP."""

    def __init__(self, client: AdminClient) -> None:
        """client: of the broker's admin API."""
        super().__init__(HttpSend(client))
        self._client = client

    @property
    def _address(self) -> str:
        return self._client.address.url
