"""The interface of a request and its connection that rules match on and the journal records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..protocol.error_codes import KafkaError
from ..protocol.request_facts import RequestFacts
from ..storage.append_result import AppendResult
from .record_damage import FetchedRecords


class ConnectionView(Protocol):
    """A client connection."""

    @property
    def node_id(self) -> int:
        """The node that accepted it."""
        ...

    @property
    def connection_id(self) -> int:
        """The number of the connection, counted from 1."""
        ...

    @property
    def listener_name(self) -> str:
        """The listener that accepted it."""
        ...

    @property
    def client_host(self) -> str:
        """The address of the client."""
        ...

    @property
    def client_software(self) -> str:
        """Name and version of the client software, "" until the client sends them."""
        ...

    @property
    def mechanism(self) -> str | None:
        """The SASL mechanism; None without SASL, and before the client has chosen one."""
        ...

    @property
    def principal(self) -> object:
        """Who the client is. Its text is as in ACLs, such as "User:alice"."""
        ...

    @property
    def is_closed_by_client(self) -> bool:
        """Whether the client has closed or reset the connection."""
        ...


class _RequestHeader(Protocol):
    """The fields that both matching and the journal read."""

    @property
    def connection(self) -> ConnectionView:
        """The connection that received it."""
        ...

    @property
    def client_id(self) -> str | None:
        """The client id of the request header."""
        ...

    @property
    def api_version(self) -> int:
        """The API version."""
        ...


class MatchedRequest(_RequestHeader, Protocol):
    """A request that rules match on. Rules read `facts`, which decodes the body, last."""

    @property
    def api_name(self) -> str:
        """Kafka's name of the API."""
        ...

    @property
    def mechanism(self) -> str | None:
        """The SASL mechanism of the connection, or the one that a SaslHandshake asks for."""
        ...

    @property
    def principal(self) -> str:
        """Who the client is, such as "User:alice"; of a SaslAuthenticate the user whom its token names."""
        ...

    @property
    def facts(self) -> RequestFacts:
        """The topics, groups and batches in the body. Raises FrameError if it does not decode."""
        ...


class EvaluatedRequest(MatchedRequest, Protocol):
    """A request that armed rules evaluate, at several points."""

    @property
    def is_long(self) -> bool:
        """Whether decoding the body may hold the event loop."""
        ...

    @property
    def fetched(self) -> Sequence[FetchedRecords]:
        """The partitions in the response to a Fetch, from applied on; empty for any other request."""
        ...

    @property
    def matched_ahead(self) -> dict[object, object]:
        """The outcomes of the matchers that have matched the request already, by matcher."""
        ...


class RequestView(_RequestHeader, Protocol):
    """A request. Its buffers are valid only during the call that passes it."""

    @property
    def kept_client_id(self) -> str | None:
        """The client id, shortened if it is long."""
        ...

    @property
    def api_key(self) -> int:
        """The API key."""
        ...

    @property
    def correlation_id(self) -> int:
        """The correlation id of the request header."""
        ...

    @property
    def now_ms(self) -> int:
        """The time when it was received or passed to its handler, in ms of the broker's clock."""
        ...

    @property
    def arrived_ns(self) -> int:
        """The time when it was received, of a monotonic clock."""
        ...

    @property
    def took_ns(self) -> int:
        """The time from its arrival to its response, after handling."""
        ...

    @property
    def kept_response(self) -> object:
        """What Journal.keep_response has returned, after handling; None if the response is pending."""
        ...

    @property
    def error_code(self) -> int:
        """The top-level error code of the response, after handling."""
        ...

    @property
    def kept_body(self) -> bytes | None:
        """The request body, if it is kept: not for a Produce or a large request."""
        ...

    @property
    def batches(self) -> Sequence[tuple[str, int, AppendResult | KafkaError]] | None:
        """Topic, partition and result of each batch, after handling; never changed later."""
        ...


class ReceivedRequest(RequestView, EvaluatedRequest, Protocol):
    """A request before it is handled."""

    @property
    def size(self) -> int:
        """The size of the frame in bytes, without its size field."""
        ...
