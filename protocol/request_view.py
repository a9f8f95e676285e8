"""A connection, a request and what is done to it, as those see them who decide about it and those who keep a record.

What a broker has is these by its shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .request_facts import RequestFacts


class CameIn(Protocol):
    """What came in by a connection, or the connection itself."""

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
        """The number of the connection, counted from 1."""
        ...


class AcceptedConnection(CameIn, Protocol):
    """A connection that was accepted and may have sent nothing yet."""

    @property
    def client_host(self) -> str:
        """The address of the client."""
        ...


class MatchedRequest(CameIn, Protocol):
    """A request as rules see it; facts, which are read from its body, are asked for only when all else holds."""

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


class ActingFault(Protocol):
    """What a rule does to a request."""

    @property
    def rule_id(self) -> int:
        """The id of the rule."""
        ...

    @property
    def kind(self) -> str:
        """What is done, by the name that rules have for it."""
        ...

    @property
    def error_code(self) -> int:
        """Of an error."""
        ...

    def chooses(self, topic: str, partition: int | None) -> bool:
        """Whether an error is for this partition of the request; None is an entry of the topic as a whole."""
        ...
