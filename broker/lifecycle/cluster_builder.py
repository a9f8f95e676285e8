"""Builds a cluster from its description: the nodes, their listeners with security, their logs, and the users.

Rules:
- `fauxka serve` and fauxka.testing build their clusters here. Each of them only turns what it is given, options and
  files or arguments, into a ClusterDescription.
- What two values of a description must have in common is checked here, before a data folder is locked.
- Nothing is bound: a ClusterServer does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...security.security_protocol import SecurityProtocol
from ...storage.file_systems.file_system import FileSystem
from ...storage.producers.emulated_version import EmulatedVersion
from .. import lifecycle
from ..cluster import Cluster
from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError
from ..network.listeners import ListenerConfig
from ..replica.disk_fault_injector import MakeFileFaults
from ..runtime.clock import AdjustableClock
from .listener_checks import check_routable
from .listener_options import advertise
from .node_options import NodeOptions, check_ports, config_of_nodes, listeners_of_node
from .security_options import ListenerSecurities, keep_tokens, new_users
from .storage_options import StorageOptions

_ONE_NODE = NodeOptions()
_IN_MEMORY = StorageOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDescription:
    """What to build.

    config, listener_entries: Kafka's keys; those that begin with listener.name are in listener_entries.
    listeners: of the first node, without security; each further node has the same with a port that is higher by one.
    protocols: of each listener by its name.
    nodes: how many, with their racks.
    advertised: a value of advertised.listeners for each further node; none for ports that are higher by one.
    users: the passwords by name. token_lifetime_ms: of the tokens that are issued to them; None for the default.
    tls_dir: the folder of the throw-away certificates; None for a temporary one. needs_authority: whether it is created
    in any case.
    storage: the folders of the logs; the racks are those of nodes. file_system: the logs of the first node, if there is
    no folder; in memory by default.
    clock, emulated_version, file_faults: see Cluster.
    """

    config: BrokerConfig
    listeners: Sequence[ListenerConfig]
    protocols: Mapping[str, SecurityProtocol]
    listener_entries: Mapping[str, str]
    nodes: NodeOptions = _ONE_NODE
    advertised: Sequence[str] = ()
    users: Mapping[str, str]
    token_lifetime_ms: int | None = None
    tls_dir: str | None = None
    needs_authority: bool = False
    storage: StorageOptions = _IN_MEMORY
    file_system: FileSystem | None = None
    clock: AdjustableClock | None = None
    emulated_version: EmulatedVersion | None = None
    file_faults: MakeFileFaults | None


@dataclass(frozen=True, slots=True)
class BuiltCluster:
    """A cluster that listens nowhere yet.

    listeners: of each node. securities: the throw-away certificates; a temporary folder is deleted with this object.
    """

    cluster: Cluster
    listeners: list[list[ListenerConfig]]
    securities: ListenerSecurities


def build_cluster(description: ClusterDescription) -> BuiltCluster:
    """Return the cluster with its logs loaded.

    Raises ConfigError, and DataDirectoryError if a folder cannot be used; no folder stays locked then.
    """
    users, token_issuer = new_users(description.users, description.token_lifetime_ms)
    securities = ListenerSecurities(
        description.config, description.listener_entries, users, token_issuer, description.tls_dir
    )
    listeners = _listeners_of_nodes(description, securities)
    if description.needs_authority:
        securities.ensure_authority(listeners[0])
    config = config_of_nodes(description.nodes, description.config, import_logs=description.storage.import_logs)
    storage = replace(description.storage, racks=description.nodes.racks_of(config))
    cluster = _new_cluster(description, config, storage)
    cluster.image.configs.set_listener_entries(description.listener_entries)
    cluster.users, cluster.token_issuer = users, token_issuer
    try:
        keep_tokens(token_issuer, storage.metadata_dir)
    except ConfigError:
        cluster.close()
        raise
    return BuiltCluster(cluster, listeners, securities)


def _listeners_of_nodes(description: ClusterDescription, securities: ListenerSecurities) -> list[list[ListenerConfig]]:
    """Return the listeners of each node. Raises ConfigError."""
    node_count = description.nodes.node_count
    check_routable([each.advertised_host for each in description.listeners])
    first = securities.with_security(description.listeners, description.protocols)
    check_ports(first, node_count)
    others = [listeners_of_node(first, index) for index in range(1, node_count)]
    for index, line in enumerate(description.advertised):
        others[index] = advertise(others[index], line)
        check_routable([each.advertised_host for each in others[index]])
    return [first, *others]


def _new_cluster(description: ClusterDescription, config: BrokerConfig, storage: StorageOptions) -> Cluster:
    clock, version, file_faults = description.clock, description.emulated_version, description.file_faults
    if not storage.is_in_memory:
        return lifecycle.cluster_loader.load_cluster(
            config, storage, clock=clock, emulated_version=version, file_faults=file_faults
        )
    files = description.file_system
    cluster = Cluster(config, clock=clock, file_system=files, emulated_version=version, file_faults=file_faults)
    cluster.image.cluster_id = storage.cluster_id or cluster.image.cluster_id
    for rack in storage.racks[1:]:
        cluster.add_node(rack)
    return cluster


def parse_version(option: str, text: str | None) -> EmulatedVersion | None:
    """Return the producer rules of a Kafka version; None for the default.

    option: what the user calls it, for the message of the ConfigError.
    """
    try:
        return None if text is None else EmulatedVersion.parse(text)
    except ValueError as error:
        raise ConfigError(f"{option}: {error}") from error
