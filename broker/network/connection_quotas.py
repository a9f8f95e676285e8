"""The open connections of a node: their maximum numbers, and the end of idle ones.

- max.connections: a listener accepts no connection while this many are open. If there are several listeners, the one
  between brokers (inter.broker.listener.name) accepts, and the least recently used connection of the others is closed.
- max.connections.per.ip and its overrides: a further connection from the address is accepted and closed at once.
- connections.max.idle.ms: a connection without a read for this long is closed, the oldest first, even if a response is
  pending. One timer serves all connections. It runs when the oldest may be due. The time is real: an advance of the
  cluster's clock by days makes no client idle that was busy.

Source: SocketServer.ConnectionQuotas, Processor.closeExcessConnections and Selector.IdleExpiryManager, Kafka 4.3.0;
tests/golden/connection_limits-4.3.0.jsonl.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..config.connection_overrides import OVERRIDES, parse_overrides

if TYPE_CHECKING:
    from ..config.broker_config import BrokerConfig
    from ..runtime.clock import AdjustableClock, Timer

logger = logging.getLogger(__name__)

_NS_PER_MS = 1_000_000
# The protocol, and so the listener, of brokers if inter.broker.listener.name is not set.
_DEFAULT_INTER_BROKER_LISTENER = "PLAINTEXT"


class QuotaConnection(Protocol):
    """A connection, as its quotas use it."""

    @property
    def last_read_ns(self) -> int:
        """The time of the last read, or of the connection's creation, as the clock's elapsed_ns returns it."""
        ...

    def close(self) -> None:
        """Close the connection, without its pending responses."""
        ...


class _Origin(NamedTuple):
    """Where a connection comes from."""

    listener_name: str
    address: str


class ConnectionQuotas:
    """Counts the open connections of a node, and closes idle and excess ones."""

    def __init__(self, clock: AdjustableClock, config: Callable[[], BrokerConfig]) -> None:
        """clock: of real time. config: returns the configs that are in force now."""
        self._clock = clock
        self._config = config
        self._open: dict[QuotaConnection, _Origin] = {}
        # Connections with a transport that were not closed for being idle or in excess.
        self._live: set[QuotaConnection] = set()
        self._count_of_address: dict[str, int] = {}
        self._listener_names: set[str] = set()
        self._overrides_text = ""
        self._maximum_of_address: dict[str, int] = {}
        self._idle_timer: Timer | None = None

    def listen(self, listener_name: str) -> None:
        """Add a listener."""
        self._listener_names.add(listener_name)

    # -- maximum numbers

    def has_slot(self, listener_name: str) -> bool:
        """Return whether the listener may accept a connection."""
        return len(self._open) < self._config().max_connections or self._is_protected(listener_name)

    def _is_protected(self, listener_name: str) -> bool:
        if len(self._listener_names) < 2:
            return False
        return listener_name == (self._config().inter_broker_listener_name or _DEFAULT_INTER_BROKER_LISTENER)

    def find_exceeded_maximum(self, address: str) -> int | None:
        """Return the maximum for an IP address if that many connections are open from it, else None."""
        config = self._config()
        if config.max_connections_per_ip_overrides != self._overrides_text:
            self._overrides_text = config.max_connections_per_ip_overrides
            self._maximum_of_address = _resolve(parse_overrides(self._overrides_text))
        maximum = self._maximum_of_address.get(address, config.max_connections_per_ip)
        return maximum if self._count_of_address.get(address, 0) >= maximum else None

    def opened(self, connection: QuotaConnection, listener_name: str, address: str) -> None:
        """Count an accepted connection."""
        self._open[connection] = _Origin(listener_name, address)
        self._count_of_address[address] = self._count_of_address.get(address, 0) + 1

    def attached(self, connection: QuotaConnection) -> None:
        """Close the connection from now on when it is idle, because it has a transport. Closes excess connections.

        No effect on a connection that is closed, or after `stop`.
        """
        if connection not in self._open or not self._listener_names:
            return
        self._live.add(connection)
        self.close_excess()
        if self._idle_timer is None:
            self._check_idle_in(self._config().connections_max_idle_ms * _NS_PER_MS)

    def closed(self, connection: QuotaConnection) -> None:
        """Count a closed connection. Later calls have no effect."""
        origin = self._open.pop(connection, None)
        if origin is None:
            return
        self._live.discard(connection)
        left = self._count_of_address[origin.address] - 1
        if left:
            self._count_of_address[origin.address] = left
        else:
            del self._count_of_address[origin.address]

    def close_excess(self) -> None:
        """Close the least recently used connections beyond max.connections, but for those between brokers."""
        excess = len(self._live) - self._config().max_connections
        if excess <= 0:
            return
        candidates = [each for each in self._live if not self._is_protected(self._open[each].listener_name)]
        for connection in sorted(candidates, key=_last_read_ns)[:excess]:
            self._close(connection)

    def _close(self, connection: QuotaConnection) -> None:
        self._live.discard(connection)
        connection.close()

    # -- idle connections

    def _check_idle_in(self, delay_ns: int) -> None:
        """Check for idle connections in delay_ns; never if it is negative, as in Kafka."""
        if delay_ns >= 0:
            # Rounded up, so that the oldest connection is due by then.
            self._idle_timer = self._clock.call_later(-(-delay_ns // _NS_PER_MS), self._close_idle)

    def _close_idle(self) -> None:
        """Close the connections that are idle, and check again when the oldest of the others may be."""
        self._idle_timer = None
        idle_ns = self._config().connections_max_idle_ms * _NS_PER_MS
        now_ns = self._clock.elapsed_ns()
        for connection in sorted(self._live, key=_last_read_ns):
            due_ns = connection.last_read_ns + idle_ns
            if due_ns > now_ns:
                self._check_idle_in(due_ns - now_ns)
                return
            self._close(connection)

    def stop(self) -> None:
        """Remove the listeners, and check for idle connections no more, because the node stops or has crashed."""
        self._listener_names.clear()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None


def _last_read_ns(connection: QuotaConnection) -> int:
    return connection.last_read_ns


def _resolve(overrides: dict[str, int]) -> dict[str, int]:
    """Return the maximum by IP address. A host without an address is logged and left out."""
    resolved: dict[str, int] = {}
    for host, maximum in overrides.items():
        try:
            addresses = {str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        # UnicodeError: the name is none of DNS, such as "a..b".
        except (OSError, UnicodeError) as error:
            logger.warning("%s: no address of %s is known: %s", OVERRIDES, host, error)
        else:
            resolved.update(dict.fromkeys(addresses, maximum))
    return resolved
