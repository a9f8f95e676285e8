"""The interface of the API handlers: the request context, the RequestHandler Protocol, and ApiHandler for messages.

A handler uses the node through NodeServices and never sees a socket.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from struct import Struct, pack_into
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FRAME_SIZE_BYTES, FrameError
from ...protocol.primitives import Reader, Writer
from ...protocol.shortened_text import shortened
from ..runtime.deferred import Buffers, Deferred
from ..runtime.long_work import LongWork, in_thread
from ..security.principal import ANONYMOUS, Principal

if TYPE_CHECKING:
    from ...storage.append_refused import AppendRefused
    from ...storage.append_result import AppendResult
    from ..config.broker_config import BrokerConfig
    from ..config.dynamic_configs import NodeConfigs
    from ..coordinators.coordinators import Coordinators
    from ..metadata.controller import Controller
    from ..metadata.metadata_image import MetadataImage
    from ..replica.fetch_sessions import FetchSessions
    from ..replica.partition import Partition
    from ..replica.replica_manager import ReplicaManager
    from ..runtime.clock import AdjustableClock
    from ..security.acl.standard_authorizer import StandardAuthorizer
    from ..security.sasl.sasl_session import SaslSession
    from .client_quotas import ClientQuotas
    from .produce_route import ProduceRoutes

logger = logging.getLogger(__name__)

# api key and version together; correlation id.
_HEADER_START_FORMAT = ">Ii"
_HEADER_START = Struct(_HEADER_START_FORMAT + "0s")
HEADER_START_BYTES = _HEADER_START.size
# Stands for a header that is shorter than the last one; it equals no header.
NO_HEADER = (-2, 0, b"")
# The body of a request that is decoded in a thread: it may have so many elements that others would wait for it.
LARGE_BODY_BYTES = 64 * 1024
# Topics and partitions of a Produce that is decoded at once, however large its records are.
PRODUCE_ELEMENTS_AT_ONCE = 200
# Client ids are short; one of 32 KB is not worth its memory for each connection.
_HEADER_BYTES_KEPT_MAX = 512

# The decision on a batch: its topic, its partition, and the result of the append or the reason of the refusal.
Decision = tuple[str, int, "AppendResult | AppendRefused"]


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


class NodeServices(Protocol):
    """The parts of the node that handlers use."""

    produce_routes: ProduceRoutes
    # Runs what takes longer than a slice of time.
    long_work: LongWork
    listeners: Sequence[Listener]
    # The quotas of clients; None until there is one.
    client_quotas: ClientQuotas | None
    # Raises ConfigError for dynamic configs that a listener with TLS cannot have; None without such listeners.
    check_listener_configs: Callable[[Mapping[str, str]], None] | None
    # What to call when the node reaches the controller again, by the request that waits for it.
    waiting_for_controller: dict[object, Callable[[], None]]

    @property
    def reaches_controller(self) -> bool:
        """Whether the node is not cut off from the controller."""
        ...

    @property
    def node_id(self) -> int:
        """The node id (node.id)."""
        ...

    @property
    def config(self) -> BrokerConfig:
        """The configs that are in force now."""
        ...

    @property
    def configs(self) -> NodeConfigs:
        """The static and dynamic configs of the node."""
        ...

    @property
    def clock(self) -> AdjustableClock:
        """The clock of every timeout."""
        ...

    @property
    def image(self) -> MetadataImage:
        """The metadata of the cluster."""
        ...

    @property
    def controller(self) -> Controller:
        """The writer of the metadata."""
        ...

    @property
    def replicas(self) -> ReplicaManager:
        """The partitions and logs of the node."""
        ...

    @property
    def coordinators(self) -> Coordinators:
        """The group coordinator and the transaction coordinator."""
        ...

    @property
    def authorizer(self) -> StandardAuthorizer | None:
        """The authorizer, which judges whether a client may do what it asks for; None if all are permitted."""
        ...

    @property
    def fetch_sessions(self) -> FetchSessions:
        """The incremental fetch sessions."""
        ...

    def find_peer(self, node_id: int) -> NodeServices | None:
        """Return the node of that id if this one can reach it now, or None. A node always reaches itself."""
        ...

    def report_applied_later(self, context: RequestContext, size: int) -> None:
        """Report the decisions on the batches of a long Produce to the journal. size: bytes of the frame."""
        ...

    def report_deleted(self, partition: Partition) -> None:
        """Report to the journal what was deleted from the partition's log since the last call."""
        ...

    def report_unsafe(self, request_id: int, partition: Partition, error_code: ErrorCode) -> None:
        """Report to the journal that a batch is in the log, although its request failed with error_code."""
        ...


class ConnectionInfo:
    """The connection of a request.

    client_host: the IP address. client_software: name and version, "" until ApiVersions contains them.
    on_closed: called when the connection is closed. on_muted: mutes it for a number of ms.
    sasl: the authentication, on a listener with SASL. principal: who the client is.
    """

    __slots__ = (
        "_principal",
        "client_host",
        "client_software",
        "connection_id",
        "is_closed",
        "listener",
        "node_id",
        "on_closed",
        "on_muted",
        "sasl",
    )

    def __init__(self, connection_id: int, listener: Listener, client_host: str = "", *, node_id: int = 0) -> None:
        """connection_id: counts from 1. listener: the listener that accepted the connection."""
        self.connection_id = connection_id
        self.node_id = node_id
        self.listener = listener
        self.client_host = client_host
        self.client_software = ""
        self.is_closed = False
        self.on_closed: Callable[[], None] | None = None
        self.on_muted: Callable[[int], None] | None = None
        self.sasl: SaslSession | None = None
        self._principal = ANONYMOUS

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


class RequestHandler(Protocol):
    """Handles the requests of one API, from the bytes of the body to the bytes of the response."""

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Handle the request whose body is frame[position:end], and return the response; None if there is none.

        The frame is the connection's receive buffer. A handler must copy what it keeps after the return.
        Raises FrameError if the body does not decode.
        """
        ...


class Route:
    """The handler of one API version. is_flexible: the request header has tagged fields."""

    __slots__ = ("api_key", "api_version", "handler", "is_flexible")

    def __init__(self, api_key: int, api_version: int, handler: RequestHandler, *, is_flexible: bool) -> None:
        """api_key, api_version: as in the request header."""
        self.api_key = api_key
        self.api_version = api_version
        self.handler = handler
        self.is_flexible = is_flexible


class RequestContext:
    """The header of a request, its connection, and the decisions on its batches.

    A connection has one context, which is filled for each request. It is valid while the request is handled, because
    a connection handles one request at a time (Kafka mutes the channel meanwhile); not while the response to an
    applied request is pending (Deferred.is_applied). A request that passes the fault injector has a copy.
    """

    __slots__ = (
        "api_and_version",
        "api_key",
        "api_version",
        "batches",
        "client_id",
        "connection",
        "correlation_id",
        "error_code",
        "header_bytes",
        "header_rest",
        "is_flexible",
        "kept_body",
        "kept_client_id",
        "mutations_throttled_until_ms",
        "node",
        "now_ms",
        "produce_head_bytes",
        "request_id",
        "request_start",
        "route",
        "unpack_header",
        "unpack_produce_head",
    )

    def __init__(self, node: NodeServices, connection: ConnectionInfo) -> None:
        """Create the context of a connection without a request."""
        self.node = node
        self.connection = connection
        self.client_id: str | None = ""
        # The same, shortened if it is long: for the journal.
        self.kept_client_id: str | None = ""
        # The last request's header, for the dispatcher: its route, API key and version as one number, the bytes after
        # the correlation id, what unpacks a header of this size, and the size.
        self.route: Route | None = None
        self.api_and_version = -1
        self.header_rest: bytes = b""
        self.unpack_header = _HEADER_START.unpack_from
        self.header_bytes = HEADER_START_BYTES
        self.api_key = -1
        self.api_version = -1
        self.correlation_id = 0
        # Whether the response header has tagged fields. The handler of ApiVersions changes it.
        self.is_flexible = False
        # The cluster's time in ms when the request was dispatched.
        self.now_ms = 0
        # The id of the request in the journal; 0 without a journal.
        self.request_id = 0
        # The error code of the response as a whole, if it has one.
        self.error_code = 0
        # The decisions on the request's batches, in the order in which they were made.
        self.batches: list[Decision] | None = None
        # The request body, for the journal; None for a Produce, whose decisions are recorded instead.
        self.kept_body: bytes | None = None
        # Until when the client is throttled, because the request creates or deletes too many partitions; or 0.
        self.mutations_throttled_until_ms = 0
        # The position of the request in the receive buffer, after its size.
        self.request_start = 0
        # The length of the head of the connection's last Produce request that has a route, see produce_route; or 0.
        self.produce_head_bytes = 0
        # Unpacks the bytes of such a head from a frame.
        self.unpack_produce_head = _HEADER_START.unpack_from

    def set_client_id(self, client_id: bytes | None) -> None:
        """Set the client id of a request's header. Raises FrameError if it is not UTF-8."""
        try:
            text = None if client_id is None else client_id.decode()
        except UnicodeDecodeError as error:
            raise FrameError(f"client id {client_id!r} is not UTF-8") from error
        self.client_id = text
        self.kept_client_id = None if text is None else shortened(text)

    def keep_header(self, api_and_version: int, rest: bytes, route: Route) -> None:
        """Keep the header of a request, for the comparison with the next one.

        rest: the header after its correlation id: the client id and, in a flexible version, the tagged fields.
        """
        if len(rest) > _HEADER_BYTES_KEPT_MAX:
            self.route = None
            return
        self.route = route
        self.api_and_version = api_and_version
        if len(rest) != len(self.header_rest):
            self.unpack_header = Struct(f"{_HEADER_START_FORMAT}{len(rest)}s").unpack_from
            self.header_bytes = HEADER_START_BYTES + len(rest)
        self.header_rest = rest

    def keep_produce_head(self, head_bytes: int) -> None:
        """Keep the length of the head of a Produce request that has a route, see produce_route."""
        self.produce_head_bytes = head_bytes
        self.unpack_produce_head = Struct(f"{head_bytes}s").unpack_from

    @property
    def listener(self) -> Listener:
        """The listener of the connection."""
        return self.connection.listener

    @property
    def quota_client(self) -> tuple[str, str]:
        """The user and the client id by which quotas apply to a client; "" for none."""
        return self.connection.principal.name, self.client_id or ""

    def decide(self, topic_name: str, partition: int, decision: AppendResult | AppendRefused) -> None:
        """Record the decision on a batch."""
        if self.batches is None:
            self.batches = [(topic_name, partition, decision)]
        else:
            self.batches.append((topic_name, partition, decision))


class WritableMessage(Protocol):
    """A response message."""

    def write(self, writer: Writer, version: int, /) -> None:
        """Append the message in the given version."""
        ...


Q = TypeVar("Q")
R = TypeVar("R", bound=WritableMessage)


class ApiHandler(Generic[Q, R]):
    """A handler that maps a request message to a response message, for all APIs but Produce and Fetch.

    A FrameError of the handle function ends the connection without a response. A large request is decoded in a thread,
    and the response to a long one is encoded there.
    """

    __slots__ = ("_handle", "_read")

    def __init__(
        self, read: Callable[[Reader, int], Q], handle: Callable[[RequestContext, Q], R | Deferred[R]]
    ) -> None:
        """read: decodes a request of a version. handle: returns the response, which may be pending."""
        self._read = read
        self._handle = handle

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Decode the request, handle it and encode the response."""
        if end - position > LARGE_BODY_BYTES:
            steps = _handle_large(context, bytes(frame[position:end]), self._read, self._take_steps)
            return context.node.long_work.run(steps, context.connection)
        request = self._read(Reader.of_request(frame, position, end), context.api_version)
        try:
            response = self._handle(context, request)
        except FrameError:
            raise
        except Exception:
            return _fail(context, request)
        if isinstance(response, Deferred):
            return response.encoded_by(
                lambda later: encode_response(context, later), lambda: _encode_failure(context, type(request))
            )
        context.error_code = getattr(response, "error_code", 0)
        return encode_response(context, response)

    async def _take_steps(self, context: RequestContext, request: Q) -> R | Deferred[R]:
        return self._handle(context, request)


class SteppedApiHandler(Generic[Q, R]):
    """An ApiHandler for requests that may name very many elements: its handle function works in steps."""

    __slots__ = ("_read", "_take_steps")

    def __init__(
        self,
        read: Callable[[Reader, int], Q],
        take_steps: Callable[[RequestContext, Q], Awaitable[R | Deferred[R]]],
    ) -> None:
        """read: decodes a request of a version. take_steps: returns the response, which may be pending, in steps."""
        self._read = read
        self._take_steps = take_steps

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Decode the request, handle it and encode the response."""
        if end - position > LARGE_BODY_BYTES:
            steps = _handle_large(context, bytes(frame[position:end]), self._read, self._take_steps)
        else:
            request = self._read(Reader.of_request(frame, position, end), context.api_version)
            steps = _answer(context, request, self._take_steps(context, request))
        return context.node.long_work.run(steps, context.connection)


async def _handle_large(
    context: RequestContext,
    body: bytes,
    read: Callable[[Reader, int], Q],
    take_steps: Callable[[RequestContext, Q], Awaitable[R | Deferred[R]]],
) -> Buffers:
    """Handle a request that is decoded in a thread. Raises FrameError."""
    request = await in_thread(lambda: read(Reader.of_request(body), context.api_version))
    return await _answer(context, request, take_steps(context, request), is_large=True)


async def _answer(
    context: RequestContext, request: object, steps: Awaitable[R | Deferred[R]], *, is_large: bool = False
) -> Buffers:
    """Return the encoded response of the steps. is_large: the request is, so the response may be. Raises FrameError."""
    try:
        response = await steps
        if isinstance(response, Deferred):
            response = await response
    except FrameError:
        raise
    except Exception:
        return _fail(context, request)
    context.error_code = getattr(response, "error_code", 0)
    if is_large or context.node.long_work.is_interrupted:
        return await in_thread(lambda: encode_response(context, response))
    return encode_response(context, response)


def _fail(context: RequestContext, request: object) -> Buffers:
    """Log the exception of a handler, and return the response UNKNOWN_SERVER_ERROR. Raises FrameError."""
    logger.exception("%s version %d failed", type(request).__name__, context.api_version)
    return _encode_failure(context, type(request))


def _encode_failure(context: RequestContext, request_type: type) -> Buffers:
    """Return the response UNKNOWN_SERVER_ERROR to a request whose handler has raised an exception.

    Raises FrameError if the response has no top-level error code, so that the connection is closed.
    """
    messages = import_module(request_type.__module__)
    response = getattr(messages, request_type.__name__.removesuffix("Request") + "Response")()
    if not hasattr(response, "error_code"):
        raise FrameError(f"{request_type.__name__} failed, and its response has no error code")
    response.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
    return encode_response(context, response)


def encode_response(context: RequestContext, response: WritableMessage) -> Buffers:
    """Encode the response with its size and response header."""
    writer = Writer()
    writer.int32(0)
    writer.int32(context.correlation_id)
    if context.is_flexible:
        writer.unsigned_varint(0)
    response.write(writer, context.api_version)
    buffer = writer.buffer
    pack_into(">i", buffer, 0, len(buffer) - FRAME_SIZE_BYTES)
    return [buffer]
