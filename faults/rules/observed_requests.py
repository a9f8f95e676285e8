"""Handled requests, as the broker has them; loaded by type checkers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...protocol.error_codes import KafkaError
    from ...storage.append_result import AppendResult


class HandledConnection(Protocol):
    """Which connection a request came over."""

    @property
    def connection_id(self) -> int:
        """Its number, counted from 1."""
        ...

    @property
    def listener_name(self) -> str:
        """The listener that it came in by."""
        ...

    @property
    def client_host(self) -> str:
        """The address of the client."""
        ...

    @property
    def client_software(self) -> str:
        """Name and version, "" until the client tells them."""
        ...


class HandledRequest(Protocol):
    """A request and what its handler decided, as the broker has it; only read while a method is called with it."""

    @property
    def connection(self) -> HandledConnection:
        """Where it came from."""
        ...

    @property
    def client_id(self) -> str | None:
        """What the client calls itself."""
        ...

    @property
    def api_key(self) -> int:
        """Of its API."""
        ...

    @property
    def api_version(self) -> int:
        """Of its API."""
        ...

    @property
    def correlation_id(self) -> int:
        """As the client gave it."""
        ...

    @property
    def now_ms(self) -> int:
        """When it was handed to its handler."""
        ...

    @property
    def error_code(self) -> int:
        """Of the answer as a whole."""
        ...

    @property
    def body(self) -> bytes | None:
        """What follows the header, where it is kept: not of a Produce, nor of a large request."""
        ...

    @property
    def batches(self) -> Sequence[tuple[str, int, AppendResult | KafkaError]] | None:
        """Topic, partition and what the log said, in the order of the decisions; never changed after."""
        ...
