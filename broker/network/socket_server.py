"""The listeners of a node and the connections that they accept (Kafka: SocketServer)."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...security.java_text import host_address
from .. import network
from ..dispatch.dispatch import Dispatcher
from ..requests.connection_info import ConnectionInfo
from ..requests.request_context import NodeServices, RequestContext
from ..runtime.clock import AdjustableClock
from ..security import sasl
from .acceptor import Acceptor
from .bound_sockets import bind, bind_address, cannot_bind
from .busy_poll import BusyPoll, processor_count
from .connection import Connection
from .connection_protocol import ConnectionProtocol
from .connection_quotas import ConnectionQuotas, QuotaConnection
from .connection_turns import ConnectionTurns
from .internal_connection import connected_pair
from .listeners import Listener, ListenerConfig
from .receive_buffers import ReceiveBuffers
from .shared_parts import SharedParts

if TYPE_CHECKING:
    from ssl import SSLContext

    from ..runtime.clock import Timer
    from ..security.principal import Principal
    from ..security.sasl.mechanisms import Mechanisms
    from ..security.tls.dynamic_stores import DynamicStores
    from ..security.tls.listener_tls import PresentedCertificate
    from .sasl_credentials import SaslCredentials

logger = logging.getLogger(__name__)

# As long as a slow client may take; one that hangs until then costs a socket and its buffers.
TLS_HANDSHAKE_SECONDS_MAX = 10.0


@dataclass(slots=True)
class _Unattached:
    """An accepted connection, until its socket has a transport."""

    connection: Connection
    accepted: socket.socket
    is_attached: bool = False


class SocketServer:
    """Accepts connections on the listeners of one node. Others can be opened after it has stopped to listen."""

    def __init__(self, node: NodeServices, dispatcher: Dispatcher) -> None:
        """Listen nowhere yet. dispatcher: handles the requests of all connections."""
        self._node = node
        self._quotas = ConnectionQuotas(AdjustableClock(), lambda: node.config)
        turns = ConnectionTurns()
        self._shared = SharedParts(
            dispatcher,
            BusyPoll(node.config.busy_poll_us, processor_count(), turns.writes),
            ReceiveBuffers(),
            turns,
            self._closed,
        )
        # The nodes of a cluster number their connections together.
        self.connection_ids = itertools.count(1)
        self._acceptors: list[Acceptor] = []
        self._reserved_ports: list[socket.socket] = []
        # Accepted sockets that are closed after their throttle time, with its timer.
        self._throttled: dict[socket.socket, Timer] = {}
        # None until a client connects to a listener with SASL.
        self._credentials: SaslCredentials | None = None
        self._attaching: dict[asyncio.Task[None], _Unattached] = {}
        # Of the listeners with TLS, by name.
        self.stores: Mapping[str, DynamicStores] = {}
        # By the name of the listener, instead of its configured certificate. It stays over a restart of the node.
        self.presented: dict[str, PresentedCertificate] = {}

    async def listen(self, config: ListenerConfig) -> Listener:
        """Bind a listener, accept connections and return it. Raises OSError."""
        sockets = await bind(config.host, config.port)
        listener = config.bound_to(sockets[0].getsockname()[1])
        try:
            for bound in sockets:
                bound.setblocking(False)
                bound.listen(self._node.config.socket_listen_backlog_size)
        except OSError as error:
            for bound in sockets:
                bound.close()
            raise cannot_bind(config.host, config.port, error) from error
        acceptor = Acceptor(
            listener.name,
            sockets,
            lambda: self._quotas.has_slot(listener.name),
            lambda accepted, address: self._accepted(listener, accepted, address),
        )
        self._acceptors.append(acceptor)
        self._quotas.listen(listener.name)
        acceptor.resume()
        # The serve command prints the advertised address.
        is_advertised = (listener.host, listener.port) == (listener.advertised_host, listener.advertised_port)
        level = logging.DEBUG if is_advertised else logging.INFO
        logger.log(level, "%s listens on %s, port %d", listener.name, listener.host or "every address", listener.port)
        return listener

    def stop_listening(self) -> None:
        """Close the listening sockets. Connections stay open."""
        for acceptor in self._acceptors:
            acceptor.close()
        self._acceptors.clear()
        for task, unattached in self._attaching.items():
            # The dispatcher closes established connections. Their tasks end at once, and a cancelled one would have
            # uvloop close the transport without connection_lost.
            if not unattached.connection.is_established:
                unattached.connection.drop()
                task.cancel()
        self._drop_throttled()
        self._quotas.stop()

    def hand_over(self) -> list[socket.socket]:
        """Accept no more, and return the listening sockets, which the caller closes. Connections stay open."""
        sockets = [each for acceptor in self._acceptors for each in acceptor.hand_over()]
        self._acceptors.clear()
        return sockets

    def reserve_ports(self) -> None:
        """Stop to listen, and keep the ports for the next start, with sockets that do not listen.

        Connections are refused. Without these sockets the system may choose a port as the local port of a client that
        connects to it: the client would be connected to itself.
        """
        sockets = [each for acceptor in self._acceptors for each in acceptor.sockets]
        addresses = [(int(each.family), each.getsockname()) for each in sockets]
        self.stop_listening()
        for family, address in addresses:
            with suppress(OSError):
                self._reserved_ports.append(bind_address(family, address))

    def release_ports(self) -> None:
        """Close the sockets of reserve_ports."""
        for port in self._reserved_ports:
            port.close()
        self._reserved_ports.clear()

    async def wait_attached(self) -> None:
        """Wait until each accepted connection has a transport or is closed."""
        if self._attaching:
            await asyncio.wait(self._attaching)

    def drop_unattached(self) -> None:
        """Close the accepted connections that have no transport yet, and the connections in the backlogs."""
        for unattached in self._attaching.values():
            unattached.connection.drop()
        self._drop_throttled()
        for acceptor in self._acceptors:
            # The system keeps one more than the backlog.
            acceptor.drop_waiting(self._node.config.socket_listen_backlog_size + 1)

    def configs_changed(self) -> None:
        """Apply changed maximums of connections, and changed stores."""
        for stores in self.stores.values():
            stores.configs_changed()
        self._quotas.close_excess()
        self._resume()

    def _resume(self) -> None:
        for acceptor in self._acceptors:
            acceptor.resume()

    def _accepted(self, listener: Listener, accepted: socket.socket, address: str) -> None:
        client_quotas = self._node.client_quotas
        if client_quotas is not None and (throttle_ms := client_quotas.record_connection(address)):
            self._close_later(accepted, throttle_ms)
            return
        maximum = self._quotas.find_exceeded_maximum(address)
        if maximum is not None:
            # Kafka's message.
            logger.info(
                "Rejected connection from /%s, address already has the configured maximum of %d connections.",
                address,
                maximum,
            )
            accepted.close()
            return
        connection, context = self._new_connection(listener, address)
        security = listener.security
        if security is not None and security.mechanisms is not None:
            self._guard(connection, context, security.mechanisms)
        self._quotas.opened(connection, listener.name, address)
        tls = None
        if security is not None and security.tls is not None:
            tls = self.certificate_of(listener.name).context
            if security.mechanisms is None:
                connection.identify_by(security.tls.principal_of)
        self._begin_attaching(connection, accepted, tls)

    def open_internally(self, listener: Listener, principal: Principal) -> socket.socket:
        """Return the client's end of a connection for this process, without TLS and SASL. Raises OSError.

        listener: one of this node, whose addresses the client gets. principal: who the client is.
        """
        client, accepted = connected_pair()
        connection, context = self._new_connection(listener, str(client.getsockname()[0]))
        context.connection.take_certificate(principal)
        self._quotas.opened(connection, listener.name, context.connection.client_host)
        self._begin_attaching(connection, accepted, None)
        return client

    def _new_connection(self, listener: Listener, address: str) -> tuple[Connection, RequestContext]:
        info = ConnectionInfo(next(self.connection_ids), listener, host_address(address), node_id=self._node.node_id)
        context = RequestContext(self._node, info)
        return Connection(self._shared, context, frame_bytes_max=self._node.config.socket_request_max_bytes), context

    def _begin_attaching(self, connection: Connection, accepted: socket.socket, tls: SSLContext | None) -> None:
        unattached = _Unattached(connection, accepted)
        task = asyncio.get_running_loop().create_task(self._attach(unattached, tls))
        self._attaching[task] = unattached
        task.add_done_callback(self._attached)

    def certificate_of(self, name: str) -> PresentedCertificate:
        """Return the certificate that a listener with TLS presents in the next handshake."""
        return self.presented.get(name) or self.stores[name].current()

    def _close_later(self, accepted: socket.socket, throttle_ms: int) -> None:
        """Close a connection of an address that exceeds its quota, after the throttle time and without reading."""
        self._throttled[accepted] = self._node.clock.call_later(throttle_ms, lambda: self._close_throttled(accepted))

    def _drop_throttled(self) -> None:
        for accepted in list(self._throttled):
            self._close_throttled(accepted)

    def _close_throttled(self, accepted: socket.socket) -> None:
        self._throttled.pop(accepted).cancel()
        accepted.close()

    def _guard(self, connection: Connection, context: RequestContext, mechanisms: Mechanisms) -> None:
        """Have the connection authenticate before anything else."""
        config = self._node.config
        if self._credentials is None:
            self._credentials = network.sasl_credentials.SaslCredentials(self._node)
        info = context.connection
        info.on_session_ended, info.on_frames_allowed = connection.close_after_responses, connection.allow_frames
        session = sasl.sasl_session.SaslSession(mechanisms, self._credentials, self._node.clock, info.end_session)
        info.sasl = session
        limits = network.sasl_gate.FrameLimits(config.sasl_server_max_receive_size, config.socket_request_max_bytes)
        gate = network.sasl_gate.SaslGate(self._shared.dispatcher, session, limits, info.allow_frames)
        connection.guard(gate)

    async def _attach(self, unattached: _Unattached, tls: SSLContext | None) -> None:
        """Give a connection a transport on its accepted socket, after the handshake if it has TLS."""
        accepted = unattached.accepted
        try:
            accepted.setblocking(False)
            # As Kafka's Acceptor does, so that no response waits for the acknowledgement of the previous one.
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls is None:
                await asyncio.get_running_loop().connect_accepted_socket(
                    lambda: ConnectionProtocol(unattached.connection), accepted
                )
            else:
                connect = network.tls_handshake.connect_with_tls
                await connect(
                    lambda: ConnectionProtocol(unattached.connection), accepted, tls, TLS_HANDSHAKE_SECONDS_MAX
                )
            unattached.is_attached = True
            self._quotas.attached(unattached.connection)
        except OSError as error:
            # Failed TLS handshakes, too: their errors are of this class.
            logger.warning("%s closed: %s", unattached.connection.info, str(error) or type(error).__name__)

    def _attached(self, task: asyncio.Task[None]) -> None:
        """Close the connection if it got no transport.

        The task cannot do that: one that is cancelled before its first step runs nothing of its coroutine.
        """
        unattached = self._attaching.pop(task)
        if not unattached.is_attached:
            unattached.accepted.close()
            # Without a transport it gets no connection_lost, and would stay in memory until the garbage collector runs.
            unattached.connection.drop()
            self._closed(unattached.connection)

    def _closed(self, connection: QuotaConnection) -> None:
        self._quotas.closed(connection)
        self._resume()
