"""Operations on the nodes of a cluster: list, stop, start, isolate and rejoin them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.isolation import Surroundings
from ...broker.lifecycle.cluster_server import NodeState
from ...faults.rule_error import InvalidValueError
from ..control import Control
from ..errors import conflict
from ..operation import Operation
from .crash_operations import ensure_running
from .node_changes import NodeId, changes_node, check_node, check_running_node

TAG = "nodes"


class NodePath(Struct, kw_only=True, forbid_unknown_fields=True):
    """The id of a node."""

    id: NodeId


class NodeStatus(Struct, kw_only=True):
    """A node of the cluster.

    state: running, stopped, or crashed. as_version: the release that it follows. bootstrap: the address of its first
    listener. leads: the number of partitions that it leads. connections: of clients.
    """

    node: int
    state: NodeState
    as_version: str
    bootstrap: str
    rack: str | None
    is_controller: bool
    isolated_from: list[Surroundings]
    leads: int
    connections: int


class NodePage(Struct, kw_only=True):
    """Nodes in the order of their ids."""

    items: list[NodeStatus]
    next: str | None = None


class NodeStop(Struct, kw_only=True, forbid_unknown_fields=True):
    """How to stop a node.

    controlled: as by SIGTERM, so that its leaders move first; false: as by SIGKILL.
    noticed: whether the controller learns of a node that was killed at once, and not when its session has expired.
    """

    controlled: bool = True
    noticed: bool = False


class NodeStart(Struct, kw_only=True, forbid_unknown_fields=True):
    """How to start a node. as_version: the release that it follows from then on; null for the one before."""

    as_version: str | None = None


class Isolation(Struct, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """What a node is cut off from."""

    from_: Annotated[list[Surroundings], Meta(min_length=1, max_length=3)]


def list_nodes(control: Control) -> NodePage:
    """List all nodes with their state."""
    return NodePage(items=[node_status(control, node_id) for node_id in control.server.node_ids])


async def stop_node(control: Control, path: NodePath, body: NodeStop) -> NodeStatus:
    """Stop a running node, as SIGTERM or SIGKILL does. Its ports stay reserved, and its logs are kept."""
    node_id = check_running_node(control, path.id, "id")
    if body.noticed and body.controlled:
        message = "noticed: the controller always learns of a controlled stop; give it with controlled false"
        raise InvalidValueError("noticed", body.noticed, "false", message)
    try:
        with changes_node("id", node_id):
            await control.server.stop_node(node_id, controlled=body.controlled, noticed=body.noticed)
    except OSError as error:
        message = f"node {node_id} cannot close its logs and has crashed: {error}"
        raise conflict(message, field="id", value=node_id) from error
    return node_status(control, node_id)


async def start_node(control: Control, path: NodePath, body: NodeStart) -> NodeStatus:
    """Start a node that is down on the same ports with its logs; respond when clients can connect."""
    node_id = check_node(control, path.id, "id")
    if control.server.state_of(node_id) == "running":
        raise conflict(f"node {node_id} is running", field="id", value=node_id)
    await ensure_running(control, node_id, as_version=body.as_version)
    return node_status(control, node_id)


def isolate_node(control: Control, path: NodePath, body: Isolation) -> NodeStatus:
    """Cut a node off from the controller, the other nodes or its clients, as a broken network does.

    It adds to an isolation that exists. A leader without the controller continues to lead for its clients.
    """
    node_id = check_running_node(control, path.id, "id")
    with changes_node("id", node_id):
        control.server.isolate(node_id, frozenset(body.from_))
    control.marks.add("node", f"node {node_id} is isolated from {', '.join(control.server.isolated_from(node_id))}")
    return node_status(control, node_id)


def rejoin_node(control: Control, path: NodePath) -> NodeStatus:
    """End the isolation of a node; no effect on one that is not isolated."""
    node_id = check_node(control, path.id, "id")
    if control.server.isolated_from(node_id):
        control.marks.add("node", f"node {node_id} rejoins")
    with changes_node("id", node_id):
        control.server.rejoin(node_id)
    return node_status(control, node_id)


def node_status(control: Control, node_id: int) -> NodeStatus:
    """Return the model of a node."""
    server, image = control.server, control.cluster.image
    of_node = server.server_of(node_id)
    registration = image.find_broker(node_id)
    return NodeStatus(
        node=node_id,
        state=server.state_of(node_id),
        as_version=of_node.node.emulated_version.name,
        bootstrap=of_node.bootstrap_servers,
        rack=None if registration is None else registration.rack,
        is_controller=node_id == server.controller_id,
        isolated_from=list(server.isolated_from(node_id)),
        leads=sum(each.leader_id == node_id for topic in image.topics.values() for each in topic.partitions),
        connections=of_node.connection_count,
    )


ONE_NODE = "/v1/nodes/{id}"

OPERATIONS = (
    Operation(method="GET", path="/v1/nodes", perform=list_nodes, tag=TAG),
    Operation(method="POST", path=f"{ONE_NODE}/stop", perform=stop_node, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path=f"{ONE_NODE}/start", perform=start_node, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path=f"{ONE_NODE}/isolate", perform=isolate_node, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path=f"{ONE_NODE}/rejoin", perform=rejoin_node, tag=TAG, errors=(404, 409)),
)
