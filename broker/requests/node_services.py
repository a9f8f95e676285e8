"""What the handlers use of the node. They never see a socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...protocol.error_codes import ErrorCode
    from ..config.broker_config import BrokerConfig
    from ..config.dynamic_configs import NodeConfigs
    from ..coordinators.coordinators import Coordinators
    from ..metadata.controller import Controller
    from ..metadata.metadata_image import MetadataImage
    from ..replica.fetch_sessions import FetchSessions
    from ..replica.partition import Partition
    from ..replica.replica_manager import ReplicaManager
    from ..runtime.clock import AdjustableClock
    from ..runtime.long_work import LongWork
    from ..security.acl.standard_authorizer import StandardAuthorizer
    from .client_quotas import ClientQuotas
    from .connection_info import Listener
    from .produce_route import ProduceRoutes
    from .request_context import RequestContext


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
