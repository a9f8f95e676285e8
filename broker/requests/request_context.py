"""What a handler gets beside the request: its header, its connection and the node. A handler never sees a socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ...protocol.api_keys import APIS, ApiKey
from ...protocol.frames import FrameError
from ...protocol.shortened_text import shortened

if TYPE_CHECKING:
    from ...protocol.apis.api import Release
    from ...protocol.codec_messages import Response
    from ...protocol.error_codes import ErrorCode
    from ...protocol.release_rules import ReleaseRules
    from ...protocol.request_facts import Request
    from ...storage.append_refused import AppendRefused
    from ...storage.append_result import AppendResult
    from ...storage.producers.emulated_version import EmulatedVersion
    from ..config.broker_config import BrokerConfig
    from ..config.dynamic_configs import NodeConfigs
    from ..coordinators.coordinators import Coordinators
    from ..metadata.controller import Controller
    from ..metadata.metadata_image import MetadataImage
    from ..replica.fetch_sessions import FetchSessions
    from ..replica.partition import Partition
    from ..replica.replica_manager import ReplicaManager
    from ..runtime.buffers import Buffers
    from ..runtime.clock import AdjustableClock
    from ..runtime.deferred import Deferred
    from ..runtime.long_work import LongWork
    from ..security.acl.standard_authorizer import StandardAuthorizer
    from .client_quotas import ClientQuotas
    from .connection_info import ConnectionInfo, Listener
    from .consumption_observer import ConsumptionObserver
    from .produce_route import ProduceRoute
    from .produce_routes import ProduceRoutes

# api key and version together; correlation id.
_HEADER_START_FORMAT = ">Ii"
_HEADER_START = Struct(_HEADER_START_FORMAT + "0s")
HEADER_START_BYTES: Final[int] = _HEADER_START.size
# Stands for a header that is shorter than the last one; it equals no header.
NO_HEADER: Final = (-2, 0, b"")
# The body of a request that is decoded in a thread: it may have so many elements that others would wait for it.
LARGE_BODY_BYTES = 64 * 1024
# Client ids are short; one of 32 KB is not worth its memory for each connection.
_HEADER_BYTES_KEPT_MAX: Final = 512

# The decision on a batch: its topic, its partition, and the result of the append or the reason of the refusal.
Decision = tuple[str, int, "AppendResult | AppendRefused"]


# Handles a request from frame to frame: its context, the frame, position and end of the body. The frame is the
# connection's receive buffer. None: there is no response. Raises FrameError.
HandleFrame = Callable[["RequestContext", memoryview, int, int], "Buffers | Deferred[Buffers] | None"]


class ResponseObserver(Protocol):
    """Records the response to each request: the journal."""

    def keep_response(self, context: RequestContext, request: Request, response: Response, encoded: Buffers) -> object:
        """Return what to keep of a response, or a generator of steps that returns it. encoded: its frame.

        It becomes the kept_response of the context, or is reported to responded.
        """
        ...

    def responded(self, request_id: int, kept: object) -> None:
        """Record the response to a request that was reported before. kept: as of keep_response."""
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
    def consumption(self) -> ConsumptionObserver | None:
        """What records deliveries and commits; None without a journal."""
        ...

    @property
    def observer(self) -> ResponseObserver | None:
        """The journal; None without one."""
        ...

    @property
    def reaches_controller(self) -> bool:
        """Whether the node is not cut off from the controller."""
        ...

    @property
    def node_id(self) -> int:
        """The node id (node.id)."""
        ...

    @property
    def emulated_version(self) -> EmulatedVersion:
        """The release that the node follows."""
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


class Route:
    """The way of the requests of one API version.

    handle_routed: is tried before handle, which handles a request for which it returns None; None for most APIs.
    is_flexible: the request header has tagged fields. is_response_flexible: the response header has some; that of
    ApiVersions never has, because its client does not know yet which versions the broker supports (KIP-511).
    """

    __slots__ = (
        "api_key",
        "api_version",
        "handle",
        "handle_routed",
        "is_flexible",
        "is_response_flexible",
        "message_version",
    )

    def __init__(self, api_key: int, api_version: int, handle: HandleFrame, message_version: int | None = None) -> None:
        """api_key, api_version: as in the request header. The tagged fields of an unknown API are its body.

        message_version: see RequestContext; api_version by default.
        """
        api = APIS.get(api_key)
        self.api_key = api_key
        self.api_version = api_version
        self.message_version = api_version if message_version is None else message_version
        self.handle = handle
        self.handle_routed: HandleFrame | None = None
        self.is_flexible = api is not None and api_version >= api.versions.flexible_since
        self.is_response_flexible = self.is_flexible and api_key != ApiKey.API_VERSIONS


class ResponseHeader(NamedTuple):
    """What the response has of its request. is_flexible: the response header has tagged fields."""

    correlation_id: int
    message_version: int
    is_flexible: bool


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
        "appended",
        "appended_to",
        "arrived_ns",
        "batches",
        "client_id",
        "clock",
        "connection",
        "correlation_id",
        "error_code",
        "header_bytes",
        "header_rest",
        "is_flexible",
        "kept_body",
        "kept_client_id",
        "kept_response",
        "message_version",
        "mutations_throttled_until_ms",
        "node",
        "now_ms",
        "produce_route",
        "produce_routes",
        "request_id",
        "route",
        "size",
        "took_ns",
        "unpack_header",
    )

    def __init__(self, node: NodeServices, connection: ConnectionInfo) -> None:
        """Create the context of a connection without a request."""
        self.node = node
        # That of the node, which every request reads.
        self.clock = node.clock
        self.connection = connection
        self.client_id: str | None = ""
        # The same, shortened if it is long: for the journal.
        self.kept_client_id: str | None = ""
        # The last request's header, for the dispatcher: its route, API key and version as one number, the bytes after
        # the correlation id, what unpacks a header of this size, and the size.
        self.route: Route | None = None
        self.api_and_version = -1
        self.header_rest: bytes = b""
        self.unpack_header: Callable[[memoryview, int], tuple[int, int, bytes]] = _HEADER_START.unpack_from
        self.header_bytes = HEADER_START_BYTES
        self.api_key = -1
        self.api_version = -1
        # The version of the request's body and of the response: that of the header, except for an ApiVersions of a
        # version that the release does not have. Its body is not read, and its response is one of version 0.
        self.message_version = -1
        self.correlation_id = 0
        # Whether the response header has tagged fields.
        self.is_flexible = False
        # The cluster's time in ms when the request was dispatched.
        self.now_ms = 0
        # The id of the request in the journal; 0 without a journal.
        self.request_id = 0
        # The error code of the response as a whole, if it has one.
        self.error_code = 0
        # The decisions on the request's batches, in the order in which they were made.
        self.batches: list[Decision] | None = None
        # Instead of batches, until another decision is made: the partition of a routed Produce, and its appended batch.
        self.appended_to: Partition | None = None
        self.appended: AppendResult | None = None
        # The request body, for the journal; None for a Produce, whose decisions are recorded instead.
        self.kept_body: bytes | None = None
        # For the journal: what it keeps of the response, if that is not pending; when the request arrived, and how long
        # it took, by a monotonic clock.
        self.kept_response: object = None
        self.arrived_ns = 0
        self.took_ns = 0
        # Until when the client is throttled, because the request creates or deletes too many partitions; or 0.
        self.mutations_throttled_until_ms = 0
        # The size of its frame in bytes, without the size field.
        self.size = 0
        # The route of the connection's last Produce request that has one, see produce_route; and those of the node.
        self.produce_route: ProduceRoute | None = None
        self.produce_routes: ProduceRoutes = node.produce_routes

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

    @property
    def response_header(self) -> ResponseHeader:
        """What the response has of the request."""
        return ResponseHeader(self.correlation_id, self.message_version, self.is_flexible)

    @property
    def release(self) -> Release:
        """The release of Kafka that the node follows."""
        return self.node.emulated_version.release

    @property
    def rules(self) -> ReleaseRules:
        """What that release decides differently."""
        return self.node.emulated_version.rules

    @property
    def listener(self) -> Listener:
        """The listener of the connection."""
        return self.connection.listener

    @property
    def quota_client(self) -> tuple[str, str]:
        """The user and the client id by which quotas apply to a client; "" for none."""
        return self.connection.principal.name, self.client_id or ""

    def decide_appended(self) -> None:
        """Record the decision on the appended batch of a routed Produce in batches, if there is one."""
        partition, appended = self.appended_to, self.appended
        if partition is not None and appended is not None:
            self.appended_to = self.appended = None
            self.decide(partition.topic_name, partition.index, appended)

    def decide(self, topic_name: str, partition: int, decision: AppendResult | AppendRefused) -> None:
        """Record the decision on a batch."""
        if self.batches is None:
            self.batches = [(topic_name, partition, decision)]
        else:
            self.batches.append((topic_name, partition, decision))
