"""The client connection of a request, and the listener that accepted it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ..security.principal import ANONYMOUS, Principal

if TYPE_CHECKING:
    from ..security.sasl.sasl_session import SaslSession


class Listener(Protocol):
    """A bound listener, and the address that its clients receive."""

    @property
    def name(self) -> str:
        """The listener name, for example PLAINTEXT."""
        ...

    @property
    def host(self) -> str:
        """The host that is bound; empty or a wildcard for every interface."""
        ...

    @property
    def port(self) -> int:
        """The port that is bound."""
        ...

    @property
    def advertised_host(self) -> str:
        """The host of the advertised address."""
        ...

    @property
    def advertised_port(self) -> int:
        """The port of the advertised address."""
        ...


class ConnectionInfo:
    """The connection of a request.

    client_host: the IP address. client_software: name and version, "" until ApiVersions contains them.
    is_closed_by_client: whether the client has closed or reset it.
    on_closed: called when the connection is closed. on_muted: mutes it for a number of ms. on_session_ended: closes it
    after the pending responses. on_frames_allowed: sets the size of its largest frame. They are None after its end.
    sasl: the authentication, on a listener with SASL. principal: who the client is.
    """

    __slots__ = (
        "_principal",
        "client_host",
        "client_software",
        "connection_id",
        "is_closed",
        "is_closed_by_client",
        "listener",
        "node_id",
        "on_closed",
        "on_frames_allowed",
        "on_muted",
        "on_session_ended",
        "sasl",
    )

    def __init__(self, connection_id: int, listener: Listener, client_host: str = "", *, node_id: int = 0) -> None:
        """connection_id: counts from 1. listener: the listener that accepted the connection."""
        self.connection_id = connection_id
        self.node_id = node_id
        self.listener = listener
        self.client_host = client_host
        self.client_software = ""
        self.is_closed = self.is_closed_by_client = False
        self.on_closed: Callable[[], None] | None = None
        self.on_muted: Callable[[int], None] | None = None
        self.on_session_ended: Callable[[], None] | None = None
        self.on_frames_allowed: Callable[[int], None] | None = None
        self.sasl: SaslSession | None = None
        self._principal = ANONYMOUS

    def end_session(self) -> None:
        """Close the connection after the pending responses, unless it is closed."""
        if self.on_session_ended is not None:
            self.on_session_ended()

    def allow_frames(self, frame_bytes_max: int) -> None:
        """Take frames of up to frame_bytes_max from now on."""
        if self.on_frames_allowed is not None:
            self.on_frames_allowed(frame_bytes_max)

    @property
    def principal(self) -> Principal:
        """Who the client is: the SASL user, or the subject of its certificate."""
        return self._principal if self.sasl is None else self.sasl.principal

    @property
    def mechanism(self) -> str | None:
        """The SASL mechanism that the client has chosen; None without SASL, and before."""
        return None if self.sasl is None else self.sasl.mechanism

    def mute(self, throttle_ms: int) -> None:
        """Handle no request of the connection for throttle_ms of the cluster's clock."""
        if self.on_muted is not None:
            self.on_muted(throttle_ms)

    def take_certificate(self, principal: Principal) -> None:
        """Take the principal of the client's certificate. SASL takes precedence over it."""
        self._principal = principal

    def __str__(self) -> str:
        """Return the name of the connection in the log."""
        return f"connection {self.connection_id} of {self.client_host}"

    @property
    def listener_name(self) -> str:
        """The name of the listener."""
        return self.listener.name
