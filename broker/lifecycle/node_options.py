"""The options of a cluster of several nodes: how many, their racks, and the listeners of each.

The nodes have consecutive ids from node.id on. Each listener of a node has the port of the node before, plus one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from ..config.broker_config import BrokerConfig
from ..config.config_types import ConfigError
from ..network.listeners import ListenerConfig
from .listener_options import PORT_MAX

# All nodes share one event loop. Tests of replication need 3 or 5.
NODES_MAX = 16
_NODE_ID_MAX = 2**31 - 1
_RACK = "broker.rack"


class NodeOptions(NamedTuple):
    """The nodes of a cluster. racks: one for each node in order; none for broker.rack in every node."""

    node_count: int = 1
    racks: tuple[str, ...] = ()

    def racks_of(self, config: BrokerConfig) -> list[str | None]:
        """Return the rack of each node."""
        return list(self.racks) or [config.broker_rack] * self.node_count


def check_nodes(count: object, racks: object) -> NodeOptions:
    """Return the options of a cluster. racks: a list of names, None if not given. Raises ConfigError."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= NODES_MAX:
        raise ConfigError(f"nodes: expected an integer from 1 to {NODES_MAX}, got {count!r}")
    if racks is None:
        return NodeOptions(count)
    given = cast("Sequence[object]", racks) if isinstance(racks, Sequence) and not isinstance(racks, str) else ()
    names = [rack for rack in given if isinstance(rack, str) and rack]
    if not names or len(names) != len(given):
        raise ConfigError(f"racks: expected a name for each node, got {racks!r}")
    if len(names) != count:
        raise ConfigError(f"racks: expected a rack for each of {count} nodes, got {len(names)}: {', '.join(names)}")
    return NodeOptions(count, tuple(names))


def parse_nodes(count: int, racks: str | None) -> NodeOptions:
    """Return the options of --nodes and --racks. racks: "a,b,c", or None. Raises ConfigError."""
    return check_nodes(count, None if racks is None else [rack.strip() for rack in racks.split(",")])


def config_of_nodes(nodes: NodeOptions, config: BrokerConfig, *, import_logs: Sequence[str]) -> BrokerConfig:
    """Return the config of the first node. import_logs: the folders of imported logs.

    Raises ConfigError for node ids that do not exist, and where each node would not have its imported folder.
    """
    if import_logs and len(import_logs) != nodes.node_count:
        raise ConfigError(f"--import-logs: {len(import_logs)} folders for {nodes.node_count} nodes; each needs its own")
    if config.node_id + nodes.node_count - 1 > _NODE_ID_MAX:
        raise ConfigError(f"node.id {config.node_id}: {nodes.node_count} nodes need ids up to {_NODE_ID_MAX} at most")
    return config.with_entries({_RACK: nodes.racks[0]}) if nodes.racks else config


def listeners_of_node(listeners: Sequence[ListenerConfig], index: int) -> list[ListenerConfig]:
    """Return the listeners of the node at index, counted from 0. listeners: those of the first node."""
    return [
        listener._replace(
            # Port 0, and no advertised port, stand for the port that each node gets from the system.
            port=listener.port and listener.port + index,
            advertised_port=listener.advertised_port and listener.advertised_port + index,
        )
        for listener in listeners
    ]


def check_ports(listeners: Sequence[ListenerConfig], count: int) -> None:
    """Raise ConfigError if a port of one of count nodes is too high or that of another listener.

    listeners: those of the first node, which are valid for one node.
    """
    bound: dict[tuple[str, int], str] = {}
    for index in range(count):
        for listener in listeners_of_node(listeners, index):
            place = f"{listener.name} of node {index + 1}"
            for port in (listener.port, listener.advertised_port or 0):
                if port > PORT_MAX:
                    raise ConfigError(f"{place} of {count} would have port {port}; the highest is {PORT_MAX}")
            if not listener.port:
                continue
            other = bound.setdefault((listener.host, listener.port), place)
            if other != place:
                raise ConfigError(
                    f"port {listener.port} would be that of {other} and of {place}: each of {count} nodes has the "
                    "port of the node before plus one"
                )
