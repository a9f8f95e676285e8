"""Operations that crash a node, as SIGKILL does, and restart it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...broker.config.config_types import ConfigError
from ...broker.lifecycle.cluster_server import NodeChangeError
from ...broker.lifecycle.crash_restart import SnapshotFault
from ...broker.lifecycle.data_directory import DataDirectoryError
from ...broker.runtime.clock import ADVANCE_MS_MAX
from ...faults.rule_error import InvalidValueError
from ...storage.corrupt_file import CorruptFileError
from ...storage.producers.emulated_version import EmulatedVersion
from ..control import Control
from ..errors import CallError, conflict
from ..operation import Operation
from .node_changes import NodeId, changes_node, check_node

TAG = "life"

SnapshotsOption = Literal["keep", "drop", "corrupt"]
RestartAfter = Annotated[int, Meta(ge=0, le=ADVANCE_MS_MAX)]


class NodeCrash(Struct, kw_only=True, forbid_unknown_fields=True):
    """The node to crash.

    node: null for the only one. restart_after_ms: when it starts again, on the broker's clock; null for no restart.
    snapshots: keep, delete or corrupt the producer snapshots on its disk.
    noticed: whether the controller learns of it at once, and not when the session of the node has expired.
    """

    node: NodeId | None = None
    restart_after_ms: RestartAfter | None = None
    snapshots: SnapshotsOption = "keep"
    noticed: bool = False


class NodeRestart(Struct, kw_only=True, forbid_unknown_fields=True):
    """The node to restart, null for the only one.

    snapshots: keep, delete or corrupt its producer snapshots first.
    as_version: the release that it follows from then on; null for the one before.
    """

    node: NodeId | None = None
    snapshots: SnapshotsOption = "keep"
    as_version: str | None = None


class NodeInfo(Struct, kw_only=True):
    """A node. running: whether clients can connect."""

    node: int
    running: bool


def crash_node(control: Control, body: NodeCrash) -> NodeInfo:
    """Crash a node, as SIGKILL does. The admin API stays available."""
    node_id = _node_of(control, body.node)
    if control.server.state_of(node_id) != "running":
        raise conflict("the node is already down", field="node", value=node_id)
    with changes_node("node", node_id):
        control.server.crash(node_id, body.restart_after_ms, SnapshotFault(body.snapshots), noticed=body.noticed)
    return _node_info(control, node_id)


async def restart_node(control: Control, body: NodeRestart) -> NodeInfo:
    """Restart a crashed node on the same ports with its files; respond when clients can connect."""
    node_id = _node_of(control, body.node)
    if control.server.state_of(node_id) == "running":
        raise conflict("the node is running", field="node", value=node_id)
    await ensure_running(control, node_id, SnapshotFault(body.snapshots), as_version=body.as_version)
    return _node_info(control, node_id)


async def ensure_running(
    control: Control,
    node_id: int,
    snapshots: SnapshotFault = SnapshotFault.KEEP,
    *,
    as_version: str | None = None,
) -> None:
    """Start a node that is down; no effect on a running one.

    as_version: the release that it follows from then on; None for the one before.
    Raises InvalidValueError for another version than those of Kafka, and CallError 409 if it cannot be started.
    """
    version = None if as_version is None else _version_of(as_version)
    try:
        if version is not None:
            control.server.follow_release(node_id, version)
            control.marks.add("node", f"node {node_id} follows Kafka {version.name}")
        if control.server.state_of(node_id) == "stopped":
            await control.server.start_node(node_id)
        else:
            await control.server.restart(node_id, snapshots)
    except (OSError, CorruptFileError, ConfigError, DataDirectoryError, NodeChangeError) as error:
        raise conflict(f"the node cannot be started: {error}") from error


def _version_of(text: str) -> EmulatedVersion:
    try:
        return EmulatedVersion.parse(text)
    except ValueError as error:
        raise InvalidValueError("as_version", text, "0.11 to 4.5", str(error)) from error


async def ensure_all_running(control: Control) -> None:
    """Start all nodes that are down. Raises CallError 409 if one of them fails."""
    for node_id in control.server.node_ids:
        await ensure_running(control, node_id)


def _node_of(control: Control, node_id: int | None) -> int:
    """Return the id of a node that exists; None is the only one. Raises CallError."""
    if node_id is not None:
        return check_node(control, node_id)
    if len(control.server.servers) > 1:
        allowed = ", ".join(map(str, control.server.node_ids))
        raise CallError(400, "node is missing: there are several nodes", field="node", value=None, allowed=allowed)
    return control.server.node_ids[0]


def _node_info(control: Control, node_id: int) -> NodeInfo:
    return NodeInfo(node=node_id, running=control.server.state_of(node_id) == "running")


OPERATIONS = (
    Operation(method="POST", path="/v1/crash", perform=crash_node, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/restart", perform=restart_node, tag=TAG, errors=(404, 409)),
)
