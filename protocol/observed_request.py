"""A connection and a request, as those see them who decide what becomes of them and those who keep a record.

Loaded by type checkers only: what a broker has is these by its shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .request_facts import RequestFacts


class AcceptedConnection(Protocol):
    """A connection that was accepted and may have sent nothing yet."""

    @property
    def node_id(self) -> int:
        """The node that accepted it."""
        ...

    @property
    def listener_name(self) -> str:
        """The listener that it came in by."""
        ...

    @property
    def connection_id(self) -> int:
        """Its number, counted from 1."""
        ...

    @property
    def client_host(self) -> str:
        """The address of the client."""
        ...


class MatchedRequest(Protocol):
    """A request as rules see it; facts, which are read from its body, are asked for only when all else holds."""

    @property
    def node_id(self) -> int:
        """The node that it came to."""
        ...

    @property
    def listener_name(self) -> str:
        """The listener that it came in by."""
        ...

    @property
    def connection_id(self) -> int:
        """The number of its connection, counted from 1."""
        ...

    @property
    def client_id(self) -> str | None:
        """What the client calls itself."""
        ...

    @property
    def api_name(self) -> str:
        """Kafka's name of the API."""
        ...

    @property
    def api_version(self) -> int:
        """The version of the API."""
        ...

    @property
    def facts(self) -> RequestFacts:
        """What the body names; raises FrameError where it does not decode."""
        ...


class ReceivedRequest(MatchedRequest, Protocol):
    """A request that came and was not handled."""

    @property
    def client_host(self) -> str:
        """The address of the client."""
        ...

    @property
    def client_software(self) -> str:
        """Name and version of the client, "" until it tells them."""
        ...

    @property
    def api_key(self) -> int:
        """Of its API."""
        ...

    @property
    def correlation_id(self) -> int:
        """As the client gave it."""
        ...

    @property
    def now_ms(self) -> int:
        """When it came, in ms of the broker's clock."""
        ...

    @property
    def kept_body(self) -> bytes | None:
        """What follows its header, where it is kept: not of a Produce, nor of a large request."""
        ...

    @property
    def size(self) -> int:
        """The bytes of its frame, without the size field."""
        ...
