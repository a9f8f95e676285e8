"""Operations that crash a node, as SIGKILL does, and restart it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...broker.config.config_types import ConfigError
from ...broker.lifecycle.crash_restart import SnapshotFault
from ...broker.lifecycle.data_directory import DataDirectoryError
from ...broker.runtime.clock import ADVANCE_MS_MAX
from ...storage.corrupt_file import CorruptFileError
from ..control import Control
from ..errors import CallError, conflict
from ..operation import Operation

TAG = "life"

SnapshotsOption = Literal["keep", "drop", "corrupt"]
NodeId = Annotated[int, Meta(ge=0, le=2**31 - 1)]
RestartAfter = Annotated[int, Meta(ge=0, le=ADVANCE_MS_MAX)]


class NodeCrash(Struct, kw_only=True, forbid_unknown_fields=True):
    """The node to crash.

    node: null for the only one. restart_after_ms: when it starts again, on the broker's clock; null for no restart.
    snapshots: keep, delete or corrupt the producer snapshots on its disk.
    """

    node: NodeId | None = None
    restart_after_ms: RestartAfter | None = None
    snapshots: SnapshotsOption = "keep"


class NodeRestart(Struct, kw_only=True, forbid_unknown_fields=True):
    """The node to restart. snapshots: keep, delete or corrupt its producer snapshots first."""

    node: NodeId | None = None
    snapshots: SnapshotsOption = "keep"


class NodeInfo(Struct, kw_only=True):
    """A node. running: whether clients can connect."""

    node: int
    running: bool


def crash_node(control: Control, body: NodeCrash) -> NodeInfo:
    """Crash a node, as SIGKILL does. The admin API stays available."""
    _check_node(control, body.node)
    if not control.is_running:
        raise conflict("the node is already down", field="node", value=control.cluster.node.node_id)
    control.server.crash(body.restart_after_ms, SnapshotFault(body.snapshots))
    return _node_info(control)


async def restart_node(control: Control, body: NodeRestart) -> NodeInfo:
    """Restart a crashed node on the same ports with its files; respond when clients can connect."""
    _check_node(control, body.node)
    if control.is_running:
        raise conflict("the node is running", field="node", value=control.cluster.node.node_id)
    await ensure_running(control, SnapshotFault(body.snapshots))
    return _node_info(control)


async def ensure_running(control: Control, snapshots: SnapshotFault = SnapshotFault.KEEP) -> None:
    """Restart a crashed node; no effect on a running one. Raises CallError 409 if it fails."""
    try:
        await control.server.restart(snapshots)
    except (OSError, CorruptFileError, ConfigError, DataDirectoryError) as error:
        raise conflict(f"the node cannot be started: {error}") from error


def _check_node(control: Control, node: int | None) -> None:
    if node not in (None, control.cluster.node.node_id):
        message = f"there is no node {node}"
        raise CallError(404, message, field="node", value=node, allowed=str(control.cluster.node.node_id))


def _node_info(control: Control) -> NodeInfo:
    return NodeInfo(node=control.cluster.node.node_id, running=control.is_running)


OPERATIONS = (
    Operation(method="POST", path="/v1/crash", perform=crash_node, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/restart", perform=restart_node, tag=TAG, errors=(404, 409)),
)
